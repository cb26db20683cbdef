create or replace function memory.list_spaces(user_id text default null)
returns setof memory.space
language plpgsql stable parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_user_or_all(user_id);
  return query
  select memory._space_of(s.user_id), s.title, g.access,
    (select count(*) from memory.space_grants as m where m.user_id = s.user_id),
    (select coalesce(sum(c.memory_count), 0)::bigint from memory.memory_scopes as c where c.user_id = s.user_id),
    s.created_at, count(*) over (), s.metadata
  from (
    select g.user_id, g.access from memory.space_grants as g where g.member = list_spaces.user_id
    union all
    select a.user_id, null from memory.spaces as a where list_spaces.user_id is null
  ) as g
  join memory.spaces as s on s.user_id = g.user_id
  order by s.user_id;
end;
$$;
comment on function memory.list_spaces(text) is
'The spaces that are granted to a user, with the access (read or write); without a user all spaces, for sessions that '
'reach all users. member_count is how many users a space is granted to, memory_count how many memories it holds.';

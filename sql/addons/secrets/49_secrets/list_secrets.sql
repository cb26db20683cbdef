create or replace function memory.list_secrets(user_id text)
returns setof memory.secret
language plpgsql stable parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  return query
  select s.name, s.created_at, s.updated_at
  from memory.secrets as s where s.user_id = list_secrets.user_id order by s.name;
end;
$$;
comment on function memory.list_secrets(text) is
'The names of a user''s secrets, with the times at which each was stored and last replaced; never a value.';

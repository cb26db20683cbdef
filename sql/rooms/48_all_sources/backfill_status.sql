create or replace function memory.backfill_status()
returns setof memory.backfill
language plpgsql stable parallel safe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select m.name,
    count(*) filter (
      where exists (
        select from memory.embeddings as e
        where e.user_id = t.user_id and e.model = m.name and e.source = t.source and e.id = t.id)),
    count(t.id), m.is_active
  from memory.models as m
  left join (
    select u.user_id, e.source, e.id
    from memory._users_with_texts() as u (user_id)
    cross join lateral memory._embeddable(u.user_id, null) as e
  ) as t on true
  where m.kind = 'embedding'
  group by m.name, m.is_active
  order by m.name;
end;
$$;
comment on function memory.backfill_status() is
'How far each registered embedding model is: how many of the texts that can be searched (total) it has embedded '
'(done). Reads the texts of all users, so it is for administrators.';

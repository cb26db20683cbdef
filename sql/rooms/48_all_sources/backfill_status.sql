create or replace function memory.backfill_status()
returns setof memory.backfill
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
-- One hash of all embeddings: looking each of 200,000 texts up took 7.5 s instead of 1.7.
set enable_nestloop = off
set enable_mergejoin = off
set work_mem = '64MB'
set jit = off
as $$
begin
  return query
  select m.name, count(v.id), count(t.id), m.is_active
  from memory.models as m
  left join (
    select u.user_id, e.source, e.id
    from memory._users_with_texts() as u (user_id)
    cross join lateral memory._embeddable(u.user_id, null) as e
  ) as t on true
  left join memory.embeddings as v
    on v.user_id = t.user_id and v.model = m.name and v.source = t.source and v.id = t.id
  where m.kind = 'embedding'
  group by m.name, m.is_active
  order by m.name;
end;
$$;
comment on function memory.backfill_status() is
'How far each registered embedding model is: how many of the texts that can be searched (total) it has embedded '
'(done). Reads the texts of all users, so it is for administrators.';

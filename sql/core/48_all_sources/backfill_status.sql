create or replace function memory.backfill_status()
returns setof memory.backfill
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
-- One hash of all embeddings: looking each of 200,000 texts up took 7.5 s instead of 1.7.
set enable_nestloop = off
set enable_mergejoin = off
set work_mem = '64MB'
as $$
begin
  return query
  with users as materialized (
    select u.user_id,
      (memory._policy_section(u.user_id, null, 'search') ->> 'embed_messages')::boolean as embeds_messages
    from memory._users_with_texts() as u (user_id)
  ), embeddable as materialized (
    select t.user_id, t.source, t.id, t.model
    from memory.texts as t join users as u on u.user_id = t.user_id
    where t.hash is not null and t.valid_until > statement_timestamp() and (t.source <> 'message' or u.embeds_messages)
    union all
    select u.user_id, 'message', null, null
    from users as u cross join lateral memory._unread_messages(u.user_id, null, 2147483647) as m
    where u.embeds_messages and m.content <> ''
  )
  select m.name, count(t.user_id) filter (where t.model = m.name or e.id is not null), count(t.user_id), m.is_active
  from memory.models as m
  left join embeddable as t on true
  left join memory.embeddings as e
    on e.user_id = t.user_id and e.model = m.name and e.source = t.source and e.id = t.id
  where m.kind = 'embedding'
  group by m.name, m.is_active
  order by m.name;
end;
$$;
comment on function memory.backfill_status() is
'How far each registered embedding model is: how many of the texts that can be searched (total) it has embedded '
'(done). Reads the texts of all users, so it is for administrators.';

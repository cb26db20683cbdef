-- Counters and the limit, once per statement. The scope's row is locked since before the first memory was written and
-- until commit, so concurrent writers of one agent queue up and the limit is exact.
create or replace function memory._memories_after_insert()
returns trigger
language plpgsql volatile parallel unsafe security definer -- writers need no rights on counters, policies, embeddings
set search_path = pg_catalog, pg_temp
as $$
declare
  scope record;
begin
  for scope in
    select n.user_id, n.agent_id, count(*) as added from new_rows as n
    where n.superseded_at is null and n.deleted_at is null group by 1, 2 order by 1, 2
  loop
    perform memory._count_memories(scope.user_id, scope.agent_id, scope.added);
    perform memory._enqueue_embedding(scope.user_id);
  end loop;
  return null;
end;
$$;

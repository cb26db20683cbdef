create or replace function memory._memories_after_change()
returns trigger
language plpgsql volatile parallel unsafe security definer -- writers need no rights on counters, policies, embeddings
set search_path = pg_catalog, pg_temp
as $$
declare
  scope record;
  gone memory.memories;
begin
  if tg_op = 'DELETE' then
    -- Row by row: a join is planned badly while the table has no statistics, and a session keeps its first plan.
    perform memory._drop_embedding(o.user_id, 'memory', o.memory_id::text) from old_rows as o;
    for scope in
      select o.user_id, o.agent_id, count(*) as removed from old_rows as o
      where o.superseded_at is null and o.deleted_at is null group by 1, 2 order by 1, 2
    loop
      perform memory._count_memories(scope.user_id, scope.agent_id, -scope.removed);
    end loop;
    perform memory._release_hidden(o.user_id, o.memory_id, o.superseded_by)
    from (select r.* from old_rows as r where r.operation <> 'evict' order by r.superseded_at nulls last,
      r.memory_id desc) as o;
  else
    for scope in
      select c.user_id, c.agent_id, sum(c.change) as added
      from (select o.user_id, o.agent_id, -1 as change from old_rows as o where o.superseded_at is null and o.deleted_at is null
            union all
            select n.user_id, n.agent_id, 1 from new_rows as n where n.superseded_at is null and n.deleted_at is null) as c
      group by 1, 2 having sum(c.change) <> 0 order by 1, 2
    loop
      perform memory._count_memories(scope.user_id, scope.agent_id, scope.added);
      if scope.added > 0 then -- restored, perhaps from before it was embedded
        perform memory._enqueue_embedding(scope.user_id);
      end if;
    end loop;
    for gone in
      select r.* from new_rows as r where r.deleted_at is not null order by r.superseded_at nulls last, r.memory_id desc
    loop
      if gone.operation = 'evict' then
        perform memory._evict_hidden(gone);
      else
        perform memory._release_hidden(gone.user_id, gone.memory_id, gone.superseded_by);
      end if;
    end loop;
  end if;
  return null;
end;
$$;

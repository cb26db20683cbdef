-- Adds new memories to the memory counts, ends the memories that new values replace, and keeps the limits, once per
-- statement. The session locked the counter's row before it wrote the first memory and holds the lock until commit, so
-- writers of one agent wait for each other and the limit is exact.
create or replace function memory._memories_after_insert()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  scope record;
begin
  if {{are copied}} then
    return null;
  end if;
  insert into memory.new_changes (user_id, source, id, operation)
  select n.user_id, 'memory', n.memory_id, case when memory._is_current(n) then 'added' else 'hidden' end
  from new_rows as n;
  for scope in
    select n.user_id, n.agent_id, count(*) as added,
      array_agg(n.memory_id order by n.memory_id) filter (where n.attribute is not null) as facts
    from new_rows as n
    where memory._is_current(n)
    group by n.user_id, n.agent_id
    order by n.user_id, n.agent_id
  loop
    perform memory._count_memories(scope.user_id, scope.agent_id, scope.added);
    if scope.facts is not null then
      -- A new fact may end others and so make room, therefore facts settle before the limit is kept.
      perform memory._settle(m) from memory._memories_by_ids(scope.user_id, scope.facts) as m;
    end if;
    perform memory._keep_limit(scope.user_id, scope.agent_id);
  end loop;
  return null;
end;
$$;

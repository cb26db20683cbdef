-- After a statement that updated or deleted memories, this trigger corrects the memory counts, and releases or evicts
-- the memories that the deleted memories hid.
create or replace function memory._memories_after_change()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  scope record;
  gone memory.memories;
begin
  if tg_op = 'DELETE' then
    insert into memory.new_changes (user_id, source, id, operation)
    select o.user_id, 'memory', o.memory_id, memory._gone() from old_rows as o
    where memory._is_undeleted(o) or memory._gone() = 'forgotten'; -- other deletions were noted at the time
    delete from memory.memory_uses as u where u.ctid = any (array( -- locks in the order of memory.record_use()
      select f.place
      from (select o.user_id, o.memory_id from old_rows as o order by 1, 2) as o
      cross join lateral (
        select d.ctid as place from memory.memory_uses as d
        where d.user_id = o.user_id and d.memory_id = o.memory_id for update) as f));
    for scope in
      select o.user_id, o.agent_id, count(*) as removed
      from old_rows as o
      where memory._is_current(o)
      group by o.user_id, o.agent_id
      order by o.user_id, o.agent_id
    loop
      perform memory._count_memories(scope.user_id, scope.agent_id, -scope.removed);
    end loop;
    -- Evicted memories are left out: the memories that they hid are already released or evicted.
    for gone in
      select o.* from old_rows as o where o.operation <> 'evict' order by o.superseded_at nulls last, o.memory_id desc
    loop
      perform memory._release_hidden(gone.user_id, gone.memory_id, gone.superseded_by,
        memory._is_unexpired(gone.expires_at));
    end loop;
    return null;
  end if;

  -- The statement groups the rows for the reason given in memory._messages_after_change(). A memory that was only said
  -- again has the same version, so nothing is noted.
  insert into memory.new_changes (user_id, source, id, operation)
  select c.user_id, 'memory', c.memory_id, c.operation
  from (
    select r.user_id, r.memory_id, case
        when min(r.version) = max(r.version) then null
        when not bool_or(r.is_there) filter (where r.is_new) then
          case when bool_or(r.is_there) filter (where not r.is_new) then 'deleted' end
        when not bool_or(r.is_current) filter (where r.is_new) then
          case when bool_or(r.is_current) filter (where not r.is_new) then 'hidden' end
        when bool_or(r.is_current) filter (where not r.is_new) then 'changed'
        else 'added' end as operation
    from (
      select o.user_id, o.memory_id, o.version, false as is_new, memory._is_undeleted(o) as is_there,
        memory._is_current(o) as is_current from old_rows as o
      union all
      select n.user_id, n.memory_id, n.version, true, memory._is_undeleted(n), memory._is_current(n)
      from new_rows as n) as r
    group by 1, 2) as c
  where c.operation is not null;
  for scope in
    select c.user_id, c.agent_id, sum(c.change) as added
    from (select o.user_id, o.agent_id, -1 as change from old_rows as o where memory._is_current(o)
          union all
          select n.user_id, n.agent_id, 1 from new_rows as n where memory._is_current(n)) as c
    group by c.user_id, c.agent_id
    having sum(c.change) <> 0
    order by c.user_id, c.agent_id
  loop
    perform memory._count_memories(scope.user_id, scope.agent_id, scope.added);
    if scope.added > 0 then
      perform memory._keep_limit(scope.user_id, scope.agent_id);
    end if;
  end loop;
  for gone in
    select n.* from new_rows as n where n.deleted_at is not null order by n.superseded_at nulls last, n.memory_id desc
  loop
    if not exists (
      select from memory.memories as m
      where m.user_id = gone.user_id and m.superseded_by = gone.memory_id and m.deleted_at is null) then
      continue;
    elsif gone.operation = 'evict' then -- evicts hidden memories that matter no more
      update memory.memories as m
      set deleted_at = statement_timestamp(), operation = 'evict'
      where m.user_id = gone.user_id and m.superseded_by = gone.memory_id and m.deleted_at is null
        and m.agent_id = gone.agent_id and (m.is_stated, m.importance) <= (gone.is_stated, gone.importance);
    end if;
    perform memory._release_hidden(gone.user_id, gone.memory_id, gone.superseded_by,
      gone.operation <> 'evict' and memory._is_unexpired(gone.expires_at));
  end loop;
  return null;
end;
$$;

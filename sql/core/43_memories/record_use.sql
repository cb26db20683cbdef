create or replace function memory.record_use(
  user_id text, memory_ids uuid[], outcome text default 'used', thread_id text default null
)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  agents text[];
begin
  perform memory._check_id('user_id', user_id), memory._check_id('thread_id', coalesce(thread_id, 'none'));
  if memory_ids is null then
    perform memory._refuse('memory_ids', 'must not be null', 'Pass the ids of the memories that were used.');
  elsif exists (select from unnest(memory_ids) as i (id) where i.id is null) then
    perform memory._refuse('memory_ids', 'must be an array without nulls', 'Take the nulls out.');
  elsif (outcome in ('used', 'helpful', 'wrong')) is not true then
    perform memory._refuse('outcome', coalesce('unknown outcome "' || left(outcome, 50) || '"', 'must not be null'),
      'Use used, helpful or wrong.');
  end if;
  -- These locks keep others from deleting, forgetting or merging the memories until the end of the transaction; writers
  -- of memories do not wait for them. A session that deletes memories holds the counters, and may delete in any order.
  -- So this function waits for nobody while it holds memories: if somebody is deleting one of them, it gives its locks
  -- back and waits for the counters.
  agents := array(
    select distinct m.agent_id from memory._memories_by_ids(record_use.user_id, memory_ids) as m
    where memory._is_there(m));
  begin
    perform from memory.memory_scopes as s
    where s.user_id = record_use.user_id and s.agent_id = any (agents) order by s.agent_id for key share;
    perform from memory.memories as m
    where m.user_id = record_use.user_id and m.memory_id = any (memory_ids) for key share nowait;
  exception when lock_not_available then
    perform from memory.memory_scopes as s
    where s.user_id = record_use.user_id and s.agent_id = any (agents) order by s.agent_id for share;
    perform from memory.memories as m
    where m.user_id = record_use.user_id and m.memory_id = any (memory_ids) for key share;
  end;
  -- This statement sees what others have committed while the function waited.
  insert into memory.memory_uses as u (user_id, memory_id, used, helpful, wrong, outcome, thread_id, updated_at)
  select record_use.user_id, m.memory_id, (record_use.outcome = 'used')::int, (record_use.outcome = 'helpful')::int,
    (record_use.outcome = 'wrong')::int, record_use.outcome, record_use.thread_id, statement_timestamp()
  from memory._memories_by_ids(record_use.user_id, memory_ids) as m
  where memory._is_there(m)
  order by m.memory_id -- so that two sessions do not wait for each other
  on conflict on constraint memory_uses_pkey do update
  set used = u.used + excluded.used, helpful = u.helpful + excluded.helpful, wrong = u.wrong + excluded.wrong,
      outcome = excluded.outcome, thread_id = excluded.thread_id, updated_at = excluded.updated_at
  where (u.thread_id = excluded.thread_id and u.outcome = excluded.outcome) is not true;
end;
$$;
comment on function memory.record_use(text, uuid[], text, text) is
'Counts that these memories were used, helpful or wrong. An id counts once, and one that the user has no memory of '
'counts nothing. thread_id is the conversation: a call that repeats the last outcome of a memory in the same thread '
'counts nothing, so a retry should name its thread. None of this ranks, unless policy search.use_weight lets memories '
'fall that were wrong.';

-- Deletes memories that have expired or were soft-deleted. Returns how many.
create or replace function memory._sweep_memories(p_batch_size int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  swept_memories bigint;
begin
  with due as (
    (select m.user_id, m.agent_id, m.memory_id, m.xmin as row_version
     from memory.memories as m
     where m.expires_at <= statement_timestamp()
     order by m.expires_at
     limit p_batch_size)
    union
    -- An evicted memory can be restored for a week, because nobody asked for its deletion.
    (select m.user_id, m.agent_id, m.memory_id, m.xmin
     from memory.memories as m
     where m.deleted_at < 'infinity' -- infinity marks memories in quarantine
       and (m.operation <> 'evict' or m.deleted_at < statement_timestamp() - interval '7 days')
     order by m.deleted_at
     limit p_batch_size)
  ), free as materialized (
    select s.user_id, s.agent_id
    from memory.memory_scopes as s
    where (s.user_id, s.agent_id) in (select d.user_id, d.agent_id from due as d)
    for no key update skip locked
  ), swept as (
    delete from memory.memories as m
    using (select d.* from due as d join free as f using (user_id, agent_id) limit p_batch_size) as d
    where m.user_id = d.user_id and m.memory_id = d.memory_id
      and m.xmin = d.row_version -- a memory that somebody has restored since then is not due any more
    returning 1
  )
  select count(*) into swept_memories from swept;
  return swept_memories;
end;
$$;

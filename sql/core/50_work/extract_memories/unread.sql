-- The messages that extraction has not read yet. memory.sweep() and memory.status() use them.

-- The threads and agents with unread messages of people and assistants that expire soon, or that have expired and wait
-- for extraction; and the time at which the first of them expires. Each message is judged by its own lifetime: a
-- message that lives a day may come after one that lives a week. The cost depends on the number of expiring messages,
-- not on the number of threads.
create or replace function memory._unread_threads_expiring()
returns table (user_id text, thread_id text, agent_id text, expires_at timestamptz)
language plpgsql stable parallel safe
as $$
begin
  return query
  select s.user_id, s.thread_id, s.agent_id, s.expires_at
  from (
    select m.user_id, m.thread_id, m.agent_id, max(m.seq) as last_seq, min(m.expires_at) as expires_at
    from memory.messages as m
    -- The index is read for the longest time that memory._awaits_extraction() and memory._expires_soon() allow.
    where m.expires_at > statement_timestamp() - interval '30 days'
      and m.expires_at <= statement_timestamp() + interval '1 day' and m.expires_at < 'infinity'
      and memory._expires_soon(m.created_at, m.expires_at) and memory._awaits_extraction(m)
    group by m.user_id, m.thread_id, m.agent_id offset 0) as s
  -- This is a subquery, because a join would read the watermarks of all threads.
  where s.last_seq > coalesce((
    select k.position from memory.marks as k
    where k.user_id = s.user_id and k.scope = s.thread_id and k.kind = 'extract_memories'), -1);
end;
$$;

-- The threads with unread messages whose extractions died, the time of the last death, and whether sweeps give up.
-- Sweeps queue one extraction a day, and give up when seven extractions of the same messages have died within the 30
-- days for which dead jobs are kept. So an outage of the model for some days loses nothing, and a thread that no model
-- can read does not cost calls for ever.
create or replace function memory._dead_extractions()
returns table (user_id text, thread_id text, is_given_up boolean, died_at timestamptz)
language sql stable parallel safe
begin atomic
  select j.user_id, j.scope, count(*) >= 7, max(j.finished_at)
  from memory.jobs as j
  left join memory.marks as k on k.user_id = j.user_id and k.scope = j.scope and k.kind = 'extract_memories'
  where j.status = 'dead' and j.kind = 'extract_memories'
    and coalesce((j.input ->> 'from_seq')::bigint > k.position, true)
  group by j.user_id, j.scope;
end;

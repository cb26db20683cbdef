-- Threads with messages that no extraction has read, because they are fewer than the cadence or their job died: threads
-- that have been quiet for an hour, and those whose first unread message expires soon. Users take turns, so that one
-- with 10,000 short threads leaves room for the others; of one user what expires first comes first.
create or replace function memory._extract_memories_overdue(p_row_limit int)
returns table (user_id text, scope text)
language plpgsql stable parallel safe
set enable_nestloop = off -- as in memory._ranked()
set enable_mergejoin = off
set jit = off
as $$
declare
  -- Agents of a thread differ in what the policy wants only where a policy names an agent. There the agents of the
  -- first unread messages are judged, of as many as one extraction reads; otherwise the first message tells.
  judged constant int := case when exists (select from memory.policies as p where p.agent_id <> '') then 200 else 1 end;
begin
  return query
  with unread as materialized (
    select t.user_id, t.thread_id, t.last_at, coalesce(k.position, -1) as position
    from memory.threads as t
    left join memory.marks as k on k.user_id = t.user_id and k.scope = t.thread_id and k.kind = 'extract_memories'
    where t.message_count > 0 and greatest(t.next_seq, 0) - 1 > coalesce(k.position, -1) -- no overflow by a bad row
  ), due as materialized (
    select u.user_id, u.thread_id, m.agent_id, m.expires_at
    from unread as u
    left join memory._dead_extractions() as d on d.user_id = u.user_id and d.thread_id = u.thread_id
    cross join lateral (
      select distinct on (w.agent_id) w.agent_id, w.created_at, w.expires_at
      from (
        select m.seq, m.agent_id, m.created_at, m.expires_at
        from memory.messages as m
        where m.user_id = u.user_id and m.thread_id = u.thread_id and m.seq > u.position
          and memory._is_kept_message(m.is_active, m.summary_id)
          and memory._waits_for_extraction(m.created_at, m.expires_at)
        order by m.seq limit judged) as w
      order by w.agent_id, w.seq
    ) as m
    where (u.last_at <= statement_timestamp() - interval '1 hour' or memory._expires_soon(m.created_at, m.expires_at))
      and (d.deaths is null
           or d.deaths < memory._max_dead_extractions() and d.died_at < statement_timestamp() - interval '20 hours')
      and not exists (
        select from memory.jobs as j
        where j.user_id = u.user_id and j.kind = 'extract_memories' and j.scope = u.thread_id
          and j.status in ('pending', 'running'))
  ), wanted as materialized (
    -- The policy is read once per agent, because that costs more than all other conditions together.
    select a.user_id, a.agent_id
    from (select distinct u.user_id, u.agent_id from due as u offset 0) as a
    where memory._extracts(a.user_id, a.agent_id)
  ), threads as (
    select u.user_id, u.thread_id, min(u.expires_at) as expires_at
    from due as u join wanted as w on w.user_id = u.user_id and w.agent_id = u.agent_id
    group by u.user_id, u.thread_id
  )
  select u.user_id, u.thread_id
  from threads as u
  order by row_number() over (partition by u.user_id order by u.expires_at, u.thread_id), u.expires_at
  limit p_row_limit;
end;
$$;

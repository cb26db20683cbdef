-- Threads with messages that no extraction has read, because they are fewer than the cadence or their job died: threads
-- in which such a message expires soon, and threads that have been quiet for an hour. Users take turns, so that a user
-- with 10,000 short threads leaves room for the others. Of one user the messages that expire first come first.
--
-- Messages of roles that extraction does not read, such as tool, make a thread overdue as well: its job passes over
-- them without asking a model, and the thread is not drawn again.
--
-- Each sweep reads the messages of twice as many quiet threads as it may queue. It draws these threads by lot, so that
-- threads from which the policy wants nothing extracted do not always take the places of the others.
create or replace function memory._extract_memories_overdue(p_row_limit int)
returns table (user_id text, scope text)
language plpgsql stable parallel safe
set enable_nestloop = off -- for the reason given in memory._ranked()
set enable_mergejoin = off
as $$
declare
  -- How many unread messages of a thread are judged. The policy can differ between the agents of a thread only if a
  -- policy names an agent. Then the agents of as many messages are judged as one extraction reads; otherwise the first
  -- message decides.
  judged constant int := case when exists (select from memory.policies as p where p.agent_id <> '') then 200 else 1 end;
  seed constant bigint := extract(epoch from statement_timestamp()) * 1000000;
begin
  return query
  with held_up as materialized (
    select j.user_id, j.scope as thread_id
    from memory.jobs as j
    where j.kind = 'extract_memories' and j.status in ('pending', 'running')
    union all
    select d.user_id, d.thread_id
    from memory._dead_extractions() as d
    where d.is_given_up or d.died_at >= statement_timestamp() - interval '20 hours'
  ), quiet as (
    select t.user_id, t.thread_id, coalesce(k.position, -1) as position,
      hashtextextended(t.user_id, hashtextextended(t.thread_id, seed)) as lot
    from memory.threads as t
    left join memory.marks as k on k.user_id = t.user_id and k.scope = t.thread_id and k.kind = 'extract_memories'
    where t.message_count > 0 and greatest(t.next_seq, 0) - 1 > coalesce(k.position, -1) -- a bad row causes no overflow
      and t.last_at <= statement_timestamp() - interval '1 hour'
      and not exists (select from held_up as h where h.user_id = t.user_id and h.thread_id = t.thread_id)
  ), drawn as materialized (
    select q.user_id, q.thread_id, q.position
    from quiet as q
    -- The hash stands for the user, because sorting the user_ids would take longer than everything else.
    order by row_number() over (partition by hashtextextended(q.user_id, 0) order by q.lot), q.lot
    limit 2::bigint * p_row_limit
  ), due as materialized (
    select u.user_id, u.thread_id, m.agent_id, m.expires_at
    from drawn as u
    cross join lateral (
      select distinct on (w.agent_id) w.agent_id, w.expires_at
      from (
        select m.seq, m.agent_id, m.expires_at
        from memory.messages as m
        where m.user_id = u.user_id and m.thread_id = u.thread_id and m.seq > u.position
          and (memory._is_readable_message(m.is_active, m.summary_id, m.expires_at) or memory._awaits_extraction(m))
        order by m.seq limit judged) as w
      order by w.agent_id, w.seq
    ) as m
    union all
    select e.user_id, e.thread_id, e.agent_id, e.expires_at
    from memory._unread_threads_expiring() as e
    where not exists (select from held_up as h where h.user_id = e.user_id and h.thread_id = e.thread_id)
  ), levels as materialized (
    -- The policy is read once per agent, and once for all users without a policy of their own, because reading it costs
    -- more than all other conditions together.
    select d.user_id, d.thread_id, d.agent_id, d.expires_at, coalesce(p.user_id, '') as level
    from due as d
    left join (select distinct o.user_id from memory.policies as o) as p on p.user_id = d.user_id
  ), wanted as materialized (
    select a.level, a.agent_id
    from (select distinct l.level, l.agent_id from levels as l offset 0) as a
    where memory._extracts(memory._policy(a.level, a.agent_id))
  ), threads as (
    select l.user_id, l.thread_id, min(l.expires_at) as expires_at
    from levels as l join wanted as w on w.level = l.level and w.agent_id = l.agent_id
    group by l.user_id, l.thread_id
  )
  select u.user_id, u.thread_id
  from threads as u
  order by row_number() over (partition by u.user_id order by u.expires_at, u.thread_id), u.expires_at
  limit p_row_limit;
end;
$$;

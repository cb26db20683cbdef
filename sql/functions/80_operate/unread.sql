-- How many messages expire soon (memory._expires_soon()), within a day, and extraction has not read them (unread), and
-- from how many of these the policy wants memories extracted (wanted). Of all that expire within a day the first 20,000
-- are looked at, which takes 60 ms; is_estimate says that there are more.
create or replace function memory._expiring_unread(out unread bigint, out wanted bigint, out is_estimate boolean)
language plpgsql stable parallel safe
set enable_seqscan = off -- By messages_expires_at_idx, also in a plan that was made for an empty table.
set enable_bitmapscan = off
set jit = off
as $$
begin
  with soon as materialized (
    select m.user_id, m.thread_id, m.seq, m.agent_id,
      m.role in ('user', 'assistant') and memory._is_kept_message(m.is_active, m.summary_id)
        and memory._expires_soon(m.created_at, m.expires_at) as counts
    from memory.messages as m
    where m.expires_at > statement_timestamp() and m.expires_at <= statement_timestamp() + interval '1 day'
      and m.expires_at < 'infinity' -- for the index
    order by m.expires_at limit 20000
  ), missed as materialized (
    select s.user_id, s.agent_id, count(*) as messages
    from soon as s
    left join memory.marks as k on k.user_id = s.user_id and k.scope = s.thread_id and k.kind = 'extract_memories'
    where s.counts and s.seq > coalesce(k.position, -1)
    group by s.user_id, s.agent_id
  )
  select coalesce(sum(m.messages), 0),
    coalesce(sum(m.messages) filter (where memory._extracts(m.user_id, m.agent_id)), 0),
    (select count(*) = 20000 from soon)
  into unread, wanted, is_estimate
  from missed as m;
end;
$$;

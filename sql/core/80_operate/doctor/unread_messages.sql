-- The doctor's check of messages that expire before extraction has read them.
create or replace function memory._check_unread(out ok boolean, out detail text)
language plpgsql stable parallel unsafe
as $$
declare
  expiring constant record := memory._expiring_unread();
  number constant text := case when expiring.is_estimate then 'at least ' else '' end;
begin
  ok := expiring.wanted = 0;
  detail := case
    when not ok then format('%s%s messages expire within a day and extraction has not read them: ', number,
        expiring.wanted)
      || case
        when not exists (select from memory.models as m where m.kind = 'chat' and m.is_active)
          then 'run "select memory.activate_model(''local'')", or activate another chat model'
        when exists (select from memory.jobs as j where j.status = 'pending' and j.kind = 'extract_memories')
          then 'run "agent-memory worker"'
        else 'run "select memory.sweep()" every night, and more often where messages live less than two days; that '
          'queues the jobs that read them' end
    when expiring.unread > 0 then format('%s%s messages expire within a day, which the policy has nothing extracted '
      'from', number, expiring.unread)
    else 'none expires within a day' end;
end;
$$;

-- unread: how many messages expire within a day, are near their end (memory._expires_soon()), and have not been read by
-- extraction. wanted: from how many of these the policy wants memories extracted. The function reads the first 20,000
-- messages that expire within a day, which took 165 to 280 ms beside 2 million others; is_estimate says that there are
-- more.
create or replace function memory._expiring_unread(out unread bigint, out wanted bigint, out is_estimate boolean)
language plpgsql stable parallel safe
set enable_seqscan = off -- so that a plan made for an empty table also uses messages_expires_at_idx
set enable_bitmapscan = off
as $$
begin
  with soon as materialized (
    select m.user_id, m.thread_id, m.seq, m.agent_id,
      memory._expires_soon(m.created_at, m.expires_at) and memory._awaits_extraction(m) as counts
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
    coalesce(sum(m.messages) filter (where memory._extracts(memory._policy(m.user_id, m.agent_id))), 0),
    (select count(*) = 20000 from soon)
  into unread, wanted, is_estimate
  from missed as m;
end;
$$;

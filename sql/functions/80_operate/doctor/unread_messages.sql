-- What memory.doctor() says of messages that expire before extraction has read them.
create or replace function memory._check_unread(out ok boolean, out detail text)
language plpgsql stable parallel safe
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

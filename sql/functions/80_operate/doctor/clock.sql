-- What memory.doctor() says of the server's clock. Expiry, leases and the turn of jobs follow this clock. The newest
-- time of each table is found by an index.
create or replace function memory._check_clock(out ok boolean, out detail text)
language plpgsql stable parallel safe
as $$
declare
  moment constant timestamptz := clock_timestamp();
  newest constant timestamptz := greatest(
    (select max(j.finished_at) from memory.jobs as j where j.status in ('completed', 'dead')),
    (select max(c.called_at) from memory.model_calls as c),
    (select max(q.created_at) from memory.query_embeddings as q),
    (select max(r.read_at) from memory.secret_reads as r), (select max(a.at) from memory.audit as a));
  far_ahead bigint;
begin
  -- No job is put off for more than a day, nor waits for a budget of longer.
  select count(*) into far_ahead
  from memory.jobs as j where j.status = 'pending' and j.run_after > moment + interval '2 days';
  detail := concat_ws('; ',
    case when newest > moment + interval '5 seconds'
      then format('the clock is %s behind the newest rows, so it was set back: run "timedatectl set-ntp true" on the '
        'server', date_trunc('second', newest - moment)) end,
    case when far_ahead > 0
      then format('%s jobs wait for more than two days, as after a clock that ran ahead: run "update memory.jobs set '
        'run_after = now() where status = ''pending'' and run_after > now() + interval ''2 days''"', far_ahead) end);
  ok := detail = '';
  detail := coalesce(nullif(detail, ''), 'no row is from the future');
end;
$$;

-- The doctor's check of the server's clock. Expiry, leases and the turn of jobs follow this clock. An index gives the
-- newest time of each table.
create or replace function memory._check_clock(out ok boolean, out detail text)
language plpgsql stable parallel safe
as $$
declare
  moment constant timestamptz := clock_timestamp();
  newest timestamptz;
  far_ahead bigint;
  endless text; -- columns with the time infinity
begin
  -- No job is put off for more than a day, and no job waits longer than a day for a budget.
  select count(*) into far_ahead
  from memory.jobs as j where j.status = 'pending' and j.run_after > moment + interval '2 days';
  select max(d.newest), string_agg(d.name, ', ') filter (where d.is_endless) into newest, endless
  from (
    values
      ('jobs.finished_at', (
        select max(j.finished_at) from memory.jobs as j
        where j.status in ('completed', 'dead') and j.finished_at < 'infinity'
      ), exists (select from memory.jobs as j where j.status in ('completed', 'dead') and j.finished_at = 'infinity')),
      ('model_calls.called_at',
        (select max(c.called_at) from memory.model_calls as c where c.called_at < 'infinity'),
        exists (select from memory.model_calls as c where c.called_at = 'infinity')),
      ('query_embeddings.created_at',
        (select max(q.created_at) from memory.query_embeddings as q where q.created_at < 'infinity'),
        exists (select from memory.query_embeddings as q where q.created_at = 'infinity')),
      ('audit.at', (select max(a.at) from memory.audit as a where a.at < 'infinity'),
        exists (select from memory.audit as a where a.at = 'infinity'))
    {{each addon with newest: union all select n.name, n.newest, n.is_endless from memory._<addon>_newest() as n}}
  ) as d (name, newest, is_endless);
  detail := concat_ws('; ',
    case when endless is not null
      then format('rows have infinity in memory.%s, which no call stores: give them a time by plain SQL', endless) end,
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

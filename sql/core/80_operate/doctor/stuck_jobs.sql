-- The doctor's check of jobs that nobody does: jobs of dead workers, and jobs of kinds that the workers do not know. A
-- worker that looks for jobs takes such a job over within seconds after its lease has run out.
create or replace function memory._check_stuck_jobs(out ok boolean, out detail text)
language plpgsql stable parallel safe
as $$
declare
  moment constant timestamptz := statement_timestamp();
  lost bigint;
  unknown record;
begin
  select count(*) into lost
  from memory.jobs as j where j.status = 'running' and j.lease_expires_at < moment - interval '1 minute';
  select count(*) as jobs, string_agg(distinct j.kind, ', ') as kinds, max(j.worker) as worker into unknown
  from memory.jobs as j where j.status = 'pending' and j.error like 'unknown kind of job%';
  detail := concat_ws('; ',
    case when lost > 0
      then format('%s jobs run past their lease, and no worker takes them over: run "agent-memory worker"; '
        'memory.stuck_jobs lists them', lost) end,
    case when unknown.jobs > 0
      then format('worker "%s" does not know %s jobs of kind %s: run "pip install --upgrade pg-agent-memory" where it '
        'runs, and restart it', unknown.worker, unknown.jobs, unknown.kinds) end);
  ok := detail = '';
  detail := coalesce(nullif(detail, ''), 'none');
end;
$$;

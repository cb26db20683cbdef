create or replace function memory._refuse_lease(job_id bigint)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._refuse('lease_token', format('job %s is not yours (any more)', coalesce(job_id::text, 'null')),
    'Its lease ran out or it was finished; drop the result and claim again.', 'AM001');
end;
$$;

create or replace function memory._leased_job(user_id text, job_id bigint, lease_token uuid)
returns memory.jobs
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  job memory.jobs;
begin
  perform memory._check_id('user_id', user_id);
  select j.* into job from memory.jobs as j
  where j.user_id = _leased_job.user_id and j.job_id = _leased_job.job_id and j.lease_token = _leased_job.lease_token and j.status = 'running';
  if not found then
    perform memory._refuse_lease(job_id);
  end if;
  return job;
end;
$$;

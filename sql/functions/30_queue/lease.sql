create or replace function memory._refuse_lease(p_job_id bigint)
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._refuse('lease_token', format('job %s is not yours (any more)', coalesce(p_job_id::text, 'null')),
    'Its lease ran out or it was finished; drop the result and claim again.', 'AM001');
end;
$$;

create or replace function memory._leased_job(p_user_id text, p_job_id bigint, p_lease_token uuid)
returns memory.jobs
language plpgsql stable parallel safe
as $$
declare
  job memory.jobs;
begin
  perform memory._check_id('user_id', p_user_id);
  select j.* into job from memory.jobs as j
  where j.user_id = p_user_id and j.job_id = p_job_id and j.lease_token = p_lease_token and j.status = 'running';
  if not found then
    perform memory._refuse_lease(p_job_id);
  end if;
  return job;
end;
$$;

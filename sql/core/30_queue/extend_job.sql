create or replace function memory.extend_job(user_id text, job_id bigint, lease_token uuid, lease interval)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_user_of_job(user_id);
  perform memory._check_lease(lease);
  update memory.jobs as j set lease_expires_at = clock_timestamp() + lease
  where j.user_id = extend_job.user_id and j.job_id = extend_job.job_id
    and j.lease_token = extend_job.lease_token and j.status = 'running';
  if not found then
    perform memory._refuse_lease(job_id);
  end if;
end;
$$;
comment on function memory.extend_job(text, bigint, uuid, interval) is
'Prolongs a lease: the job stays yours for this long from now. Error AM001 when it is not yours any more.';

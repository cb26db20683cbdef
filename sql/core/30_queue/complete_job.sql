create or replace function memory.complete_job(
  user_id text, job_id bigint, lease_token uuid, result jsonb, calls jsonb default null
)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  numbers constant text[] := array['embeddings', 'vectors'];
  job memory.jobs;
  outcome jsonb;
begin
  -- The job's row is locked last, so that no append waits for it while the result is stored. If a lease is completed
  -- twice, memory._end_lease() refuses the second completion, whose rows then roll back.
  job := memory._leased_job(user_id, job_id, lease_token);
  if jsonb_typeof(result) is distinct from 'object' then
    perform memory._refuse('result', 'must be a JSON object', 'See docs/jobs.md for the result of each kind.');
  end if;
  -- The limit is 64 MiB. The largest result of a job, 256 embeddings of 4,000 dimensions, has 13 MiB.
  perform memory._check_json_size('result', result, 67108864, 'See docs/jobs.md for the result of each kind.');
  -- Embeddings are not masked: they are numbers only, and a search through them takes long.
  result := memory._json_masked(result - numbers, '{credential}' || memory._masks_of(job.user_id, job.agent_id))
    || case when result ?| numbers then (
         select jsonb_object_agg(r.key, r.value) from jsonb_each(result) as r where r.key = any (numbers))
       else '{}' end;
  outcome := memory._apply_result(job, result);
  job := memory._end_lease(job, 'completed', job.attempts, null,
    jsonb_strip_nulls(outcome || jsonb_build_object('token_counter', complete_job.result -> 'token_counter')),
    p_calls => coalesce(calls, jsonb_build_array(jsonb_build_object('duration_ms',
      case when jsonb_path_exists(result, '$.generation_time_ms ? (@ >= 0 && @ <= 2147483647)')
        then result -> 'generation_time_ms' end))));
  perform memory._enqueue_next(job);
  if job.input ? 'read_through' then
    perform memory._finish_messages_of_job(job, complete_job.result);
  end if;
end;
$$;
comment on function memory.complete_job(text, bigint, uuid, jsonb, jsonb) is
'Stores the result of a job in this transaction, once; calls are its model calls, for the ledger. Error AM001 means '
'that the lease is lost (then call record_calls), 22023 that the result is not valid (then call fail_job).';

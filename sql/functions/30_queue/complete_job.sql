create or replace function memory.complete_job(user_id text, job_id bigint, lease_token uuid, result jsonb, calls jsonb default null)
returns void
language plpgsql volatile parallel unsafe security definer -- workers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  job memory.jobs;
  outcome jsonb;
begin
  -- Not locked yet: the job's row comes last, so that a job holds no lock that an append waits for while it applies its
  -- result. Two completions of one lease are told apart by the update at the end, which undoes the loser.
  job := memory._leased_job(user_id, job_id, lease_token);
  if jsonb_typeof(result) is distinct from 'object' then
    perform memory._refuse('result', 'must be a JSON object', 'See docs/jobs.md for the result of each kind.');
  end if;
  -- The largest that is asked for, 256 embeddings of 4,000 dimensions, has 13.
  perform memory._check_json_size('result', result, 67108864, 'See docs/jobs.md for the result of each kind.');
  case job.kind
    when 'extract_memories' then outcome := memory._apply_extraction(job, result);
    when 'summarize_thread' then outcome := memory._apply_summary(job, result);
    when 'compress_thread' then outcome := memory._apply_compression(job, result);
    when 'summarize_user' then outcome := memory._apply_user_summary(job, result);
    when 'reconcile_memories' then outcome := memory._apply_reconciliation(job, result);
    when 'consolidate' then outcome := memory._apply_consolidation(job, result);
    when 'chunk_documents' then outcome := memory._apply_chunks(job, result);
    when 'embed', 'backfill' then outcome := memory._apply_embeddings(job, result);
  end case;
  perform memory._enter_calls(job, coalesce(calls, jsonb_build_array(jsonb_build_object('duration_ms',
    case when jsonb_path_exists(result, '$.generation_time_ms ? (@ >= 0 && @ <= 2147483647)') then result -> 'generation_time_ms' end))));
  update memory.jobs as j
  set status = 'completed', result = jsonb_strip_nulls(outcome || jsonb_build_object('token_counter', complete_job.result -> 'token_counter')),
      error = null, tokens_reserved = 0, finished_at = clock_timestamp(), lease_token = null, lease_expires_at = null
  where j.user_id = complete_job.user_id and j.job_id = complete_job.job_id and j.lease_token = complete_job.lease_token and j.status = 'running'
  returning j.* into job;
  if not found then
    perform memory._refuse_lease(job_id);
  end if;
  perform memory._enqueue_next(job);
  perform memory._finish_read_messages(job, complete_job.result);
end;
$$;
comment on function memory.complete_job(text, bigint, uuid, jsonb, jsonb) is
'Stores the result of a job: validated whole, applied in this transaction, once. calls are the model calls it took, for the ledger. Error AM001 when the lease was lost to another worker (then call record_calls), 22023 when the result is not what the job''s kind asks for (then call fail_job).';

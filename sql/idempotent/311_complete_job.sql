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

-- What should follow a finished job: the run that was asked for meanwhile, and the part that it left over. A compression
-- goes on to its end, unless it found the thread too small.
create or replace function memory._enqueue_next(job memory.jobs)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  request jsonb := job.next_request;
begin
  if job.kind = 'compress_thread' then
    if job.status = 'completed' and (job.input ->> 'is_partial')::boolean and not job.result ? 'skipped' then
      request := '{"is_forced": true}';
    end if;
  elsif job.status = 'completed' and ((job.input ->> 'is_partial')::boolean or memory._is_due_again(job)) then
    request := memory._wider_request(coalesce(request, '{}'), '{}'); -- without recent_k: what is left over is read whole
  end if;
  if request is not null then
    perform memory._enqueue(job.user_id, job.kind, job.scope, request);
  end if;
end;
$$;

-- Whether there is enough left for another run: appends do not queue one while it is open.
create or replace function memory._is_due_again(job memory.jobs)
returns boolean
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  every_n int;
begin
  if job.kind in ('embed', 'backfill') then
    return (memory._model_to_fill(job)).name is not null and memory._has_unembedded(job.user_id, memory._embedding_scope(job), (memory._model_to_fill(job)).name);
  elsif job.kind = 'chunk_documents' then
    return exists (select from memory.document_chunks as c where c.user_id = job.user_id and c.token_count is null);
  elsif job.kind <> 'extract_memories' then
    return false;
  end if;
  select (memory._policy(m.user_id, m.agent_id) #>> '{cadence,fact_extraction_every_n}')::int into every_n
  from memory.messages as m where m.user_id = job.user_id and m.thread_id = job.scope order by m.seq desc limit 1;
  return coalesce(every_n > 0 and t.next_seq - 1 - (job.input ->> 'through_seq')::bigint >= every_n, false)
  from memory.threads as t where t.user_id = job.user_id and t.thread_id = job.scope;
end;
$$;

-- A part of a model's reply that is not what was asked for: the whole reply is refused.
create or replace function memory._refuse_result(path text, problem text)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._refuse('result', format('%s %s', path, problem), 'Nothing of it was stored; call memory.fail_job() so that the job is tried again.');
end;
$$;

-- A text of a model's reply that is going to be stored.
create or replace function memory._check_result_text(path text, value jsonb, max_bytes int default 262144)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if (jsonb_typeof(value) = 'string' and value #>> '{}' ~ e'\\S') is not true then
    perform memory._refuse_result(path, 'must be a text that is not empty');
  elsif octet_length(value #>> '{}') > max_bytes then
    perform memory._refuse_result(path, format('has %s bytes, at most %s are allowed', octet_length(value #>> '{}'), max_bytes));
  end if;
end;
$$;

-- The numbers by which a model names rows of the list it was given, 1 to the length of the list.
create or replace function memory._check_result_numbers(path text, value jsonb, highest int)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if (jsonb_typeof(value) = 'array' and jsonb_array_length(value) between 2 and highest
      and not jsonb_path_exists(value, 'strict $[*] ? (@.type() != "number" || @ < 1 || @ > $highest || @.floor() != @)', jsonb_build_object('highest', highest))) is not true
    or (select count(distinct n) < count(*) from jsonb_array_elements(value) as n) then
    perform memory._refuse_result(path, format('must name at least two of the numbers 1 to %s, each once', highest));
  end if;
end;
$$;

-- What a job has read is finished: exact token counts, where it has counted, take the place of the estimates, and words are
-- kept in the same version of the row. A job that writes no messages otherwise (embed) leaves words to the others. Comes
-- last, and does not wait for a thread that someone is writing to: a later job counts as well, memory.sweep() keeps the
-- words, and no append waits for anything but these updates.
create or replace function memory._finish_read_messages(job memory.jobs, result jsonb)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  if result ? 'token_counts' and (jsonb_typeof(result -> 'token_counts') = 'object' and jsonb_typeof(result -> 'token_counter') = 'string'
         and not exists (select from jsonb_each(result -> 'token_counts') as c
                         where c.key !~ '^[0-9]{1,18}$' or jsonb_typeof(c.value) <> 'number' or c.value::numeric not between 0 and 10485760
                           or c.value::numeric <> floor(c.value::numeric))) is not true then
    perform memory._refuse_result('token_counts', 'must be an object of seq and number of tokens, with token_counter naming the encoding');
  end if;
  if not job.input ? 'read_through' then
    return;
  end if;
  perform from memory.threads as t where t.user_id = job.user_id and t.thread_id = job.scope for no key update skip locked;
  if found then
    perform memory._finish_messages(job.user_id, job.scope, (job.input ->> 'from_seq')::bigint, (job.input ->> 'read_through')::bigint,
                                    -- half a second, for which appends wait
                                    coalesce(result -> 'token_counts', '{}'), 1000000);
  end if;
end;
$$;

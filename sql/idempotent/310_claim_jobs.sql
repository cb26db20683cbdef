create or replace function memory.claim_jobs(
  worker text, kinds text[] default null, max_jobs int default 1, lease interval default '5 minutes'
)
returns setof memory.claimed_job
language plpgsql volatile parallel unsafe security definer -- workers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  known constant text[] := array['extract_memories', 'summarize_thread', 'compress_thread', 'summarize_user', 'reconcile_memories', 'consolidate', 'embed',
    'backfill', 'chunk_documents'];
  -- Not the statement's time: a runner that claims again and again within one CALL would never see what became due since.
  moment constant timestamptz := clock_timestamp();
  claimed memory.jobs;
  payload jsonb;
  taken int;
  handed_out int := 0;
  last_run_after timestamptz := timestamptz '-infinity';
  last_job_id bigint := 0;
begin
  perform memory._check_id('worker', worker);
  if (kinds <@ known) is false then
    perform memory._refuse('kinds', format('%s is not a choice of kinds', kinds), 'Known kinds: ' || array_to_string(known, ', ') || '; leave it out for all.');
  end if;
  perform memory._check_list('kinds', kinds);
  if (max_jobs between 1 and 1000) is not true then
    perform memory._refuse('max_jobs', format('%s is not between 1 and 1000', coalesce(max_jobs::text, 'null')), 'Claim what you can work on at once.');
  end if;
  if (lease > '0') is not true then
    perform memory._refuse('lease', 'must be a positive interval', 'It should outlast one model call; memory.extend_job() prolongs it.');
  end if;

  -- Workers that died: their jobs go back to the queue, or to the dead ones when this was the last attempt. What they
  -- called may have been paid for, so the ledger shows it.
  for claimed in
    update memory.jobs as j
    set status = case when j.attempts < j.max_attempts then 'pending' else 'dead' end,
        finished_at = case when j.attempts < j.max_attempts then null else moment end,
        error = format('the lease of worker "%s" ran out in attempt %s', j.worker, j.attempts),
        tokens_reserved = 0, lease_token = null, lease_expires_at = null
    from (select e.user_id, e.job_id from memory.jobs as e
          where e.status = 'running' and e.lease_expires_at <= moment
          order by e.lease_expires_at limit 100 for update skip locked) as expired
    where j.user_id = expired.user_id and j.job_id = expired.job_id
    returning j.*
  loop
    perform memory._enter_calls(claimed, jsonb_build_array(jsonb_build_object('error', claimed.error)));
    perform memory._after_failure(claimed);
  end loop;

  -- Until there are enough or none is left: a worker may take an empty answer for an empty queue, so jobs that turn out
  -- to have nothing to do do not count.
  loop
    taken := 0;
    for claimed in
      with next as materialized (
        select p.user_id, p.job_id from memory.jobs as p
        where p.status = 'pending' and p.run_after <= moment and (kinds is null or p.kind = any (kinds))
          and (p.run_after, p.job_id) > (last_run_after, last_job_id) -- not over the dead entries of those already taken
        order by p.run_after, p.job_id limit max_jobs - handed_out for update skip locked
      )
      update memory.jobs as j
      set status = 'running', attempts = j.attempts + 1, worker = claim_jobs.worker,
          -- The input is read anew, so what was asked during an earlier attempt is part of this one.
          request = case when j.next_request is null then j.request else memory._wider_request(j.request, j.next_request) end,
          next_request = null,
          lease_token = gen_random_uuid(), lease_expires_at = moment + lease
      from next where j.user_id = next.user_id and j.job_id = next.job_id
      returning j.*
    loop
      taken := taken + 1;
      if (claimed.run_after, claimed.job_id) > (last_run_after, last_job_id) then
        last_run_after := claimed.run_after;
        last_job_id := claimed.job_id;
      end if;
      payload := memory._hand_out(claimed);
      if payload is not null then
        handed_out := handed_out + 1;
        return next row(claimed.job_id, claimed.kind, claimed.user_id, claimed.lease_token, claimed.attempts, payload)::memory.claimed_job;
      end if;
    end loop;
    -- Thousands of jobs with nothing to do, as after a long outage, are worked off by several claims.
    exit when taken = 0 or handed_out = max_jobs or clock_timestamp() > moment + interval '2 seconds';
  end loop;
end;
$$;
comment on function memory.claim_jobs(text, text[], int, interval) is
'Hands up to max_jobs due jobs to a worker, with all the input a model needs. Commit before calling the model; then complete_job, fail_job or release_job with the lease_token. A job whose lease runs out is handed out again; one whose budget is spent waits for the next day. See docs/jobs.md for payloads and results.';

-- The payload of a job just claimed, read with a snapshot younger than the claim. Null when it is not handed out: there
-- is nothing to do, the budget is spent, its thread is being summarised by another job, or its input cannot be read.
create or replace function memory._hand_out(job memory.jobs)
returns jsonb
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  handed record;
  wait_until timestamptz;
  reason text;
  trace text;
begin
  begin
    -- Whoever is clearing or deleting the thread right now goes first; an append is not in the way, nor kept waiting.
    if job.scope <> '' then
      perform from memory.threads as t where t.user_id = job.user_id and t.thread_id = job.scope for key share nowait;
    end if;
    select * into handed from memory._job_input(job);
    if handed.payload is not null then
      perform memory._check_budget(job.user_id, handed.agent_id, handed.payload -> 'model', handed.tokens);
      update memory.jobs as j
      set input = handed.input || jsonb_build_object('model', handed.payload #> '{model,name}'), agent_id = handed.agent_id,
          tokens_reserved = case handed.payload #>> '{model,provider}' when 'local' then 0 else handed.tokens end,
          error = case when j.error not like 'AM002%' then j.error end
      where j.user_id = job.user_id and j.job_id = job.job_id;
      if handed.input ->> 'summary_id' is distinct from job.input ->> 'summary_id' then -- of another kind than in the attempt before
        perform memory._drop_unfinished_summary(job);
      end if;
      return handed.payload;
    end if;
  exception
    when sqlstate 'AM002' then
      wait_until := date_trunc('day', clock_timestamp(), 'UTC') + interval '1 day';
      reason := 'AM002: ' || sqlerrm;
    when lock_not_available or deadlock_detected or serialization_failure or unique_violation
      or foreign_key_violation then -- that one: what it goes on from was just cleared
      wait_until := clock_timestamp() + interval '5 seconds';
      reason := sqlerrm;
    when others then -- one bad job must not hold up all others
      get stacked diagnostics trace = pg_exception_context;
      perform memory.fail_job(job.user_id, job.job_id, job.lease_token, memory._place_of_error(sqlstate, trace), null, '[]');
      return null;
  end;

  if wait_until is null or reason like 'AM002%' then -- the row of an earlier attempt
    perform memory._drop_unfinished_summary(job);
  end if;
  if wait_until is null then -- nothing to work on: done without a model
    update memory.jobs as j
    set status = 'completed', result = '{"skipped": "nothing new"}', error = null, finished_at = clock_timestamp(), lease_token = null, lease_expires_at = null
    where j.user_id = job.user_id and j.job_id = job.job_id;
  else
    update memory.jobs as j
    set status = 'pending', attempts = j.attempts - 1, run_after = wait_until, error = reason, lease_token = null, lease_expires_at = null
    where j.user_id = job.user_id and j.job_id = job.job_id;
  end if;
  return null;
end;
$$;

-- What may be kept of an error of PostgreSQL, whose message can show what a user said: its code and where it was raised.
create or replace function memory._place_of_error(code text, trace text)
returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return format('it cannot be handed out: SQLSTATE %s', code) || coalesce(' in ' || substring(trace from '(memory[.][a-z_]+)[(]'), '')
    || coalesce(' line ' || substring(trace from ' line ([0-9]+) at '), '');
end;
$$;

-- The row of a summary that an earlier attempt began, unless another job has taken it over.
create or replace function memory._drop_unfinished_summary(job memory.jobs)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from memory.summaries as s
  where s.user_id = job.user_id and s.summary_id = (job.input ->> 'summary_id')::uuid and s.status = 'processing'
    and not exists (select from memory.jobs as j
                    where j.user_id = job.user_id and j.scope = job.scope and j.status = 'running' and j.job_id <> job.job_id
                      and j.input ->> 'summary_id' = job.input ->> 'summary_id');
end;
$$;

-- payload: for the worker. input: what completing the job needs. tokens: what a call needs at least.
create or replace function memory._job_input(job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
set lock_timeout = '10ms' -- what is locked is handed out later; a claim holds up neither its worker nor anyone else
as $$
begin
  case job.kind
    when 'extract_memories' then select * into payload, input, agent_id, tokens from memory._extraction_input(job);
    when 'summarize_thread' then select * into payload, input, agent_id, tokens from memory._summary_input(job);
    when 'compress_thread' then select * into payload, input, agent_id, tokens from memory._compression_input(job);
    when 'summarize_user' then select * into payload, input, agent_id, tokens from memory._user_summary_input(job);
    when 'reconcile_memories' then select * into payload, input, agent_id, tokens from memory._reconciliation_input(job);
    when 'consolidate' then select * into payload, input, agent_id, tokens from memory._consolidation_input(job);
    when 'embed', 'backfill' then select * into payload, input, agent_id, tokens from memory._embedding_input(job);
    when 'chunk_documents' then select * into payload, input, agent_id, tokens from memory._chunking_input(job);
  end case;
  tokens := coalesce(tokens, 0);
end;
$$;

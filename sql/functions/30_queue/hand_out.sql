-- The payload of a job just claimed, read with a snapshot younger than the claim. Null when it is not handed out:
-- there is nothing to do, the budget is spent, its thread is being summarised by another job, or its input cannot be
-- read; or it goes on, because all that was read so far has nothing in it for a model.
create or replace function memory._hand_out(p_job memory.jobs, out payload jsonb, out goes_on boolean)
language plpgsql volatile parallel unsafe
as $$
declare
  started constant timestamptz := clock_timestamp();
  patience constant interval := current_setting('statement_timeout')::interval;
  handed record;
  wait_until timestamptz;
  reason text;
  trace text;
  is_checking_budget boolean := false;
begin
  goes_on := false;
  begin
    -- Whoever is clearing or deleting the thread right now goes first; an append is not in the way, nor kept waiting.
    if p_job.scope <> '' then
      perform from memory.threads as t where t.user_id = p_job.user_id and t.thread_id = p_job.scope for key share nowait;
    end if;
    select * into handed from memory._job_input(p_job);
    if handed.payload is not null then
      is_checking_budget := true;
      perform memory._check_budget(p_job.user_id, handed.agent_id, handed.payload -> 'model', handed.tokens);
      is_checking_budget := false;
      update memory.jobs as j
      set input = handed.input || jsonb_build_object('model', handed.payload #> '{model,name}'), agent_id = handed.agent_id,
          tokens_reserved = case handed.payload #>> '{model,provider}' when 'local' then 0 else handed.tokens end,
          tokens_allowed = memory._allowed_tokens(p_job, handed.payload),
          error = case when j.error not like 'AM002%' then j.error end
      where j.user_id = p_job.user_id and j.job_id = p_job.job_id;
      if handed.input ->> 'summary_id' is distinct from p_job.input ->> 'summary_id' then -- of another kind than in the attempt before
        perform memory._drop_unfinished_summary(p_job);
      end if;
      payload := handed.payload;
      return;
    end if;
    goes_on := coalesce((handed.input ->> 'is_partial')::boolean, false);
  exception
    when sqlstate 'AM002' then
      wait_until := date_trunc('day', clock_timestamp(), 'UTC') + interval '1 day';
      reason := 'AM002: ' || sqlerrm;
    when lock_not_available or deadlock_detected or serialization_failure or unique_violation
      or foreign_key_violation then -- the last: the summary that the job continues was just cleared
      -- Another claim holds the row of an agent's budget until it commits, which is soon.
      wait_until := clock_timestamp() + case when is_checking_budget then interval '100 milliseconds'
        else interval '5 seconds' end;
      reason := sqlerrm;
    when query_canceled then
      -- Someone who cancels the claim ends it, and nothing is claimed. So does statement_timeout, unless this job took
      -- the time: then the job has failed, or it would take the time of every claim. The claim's deadline leaves each
      -- job half of statement_timeout, so a job that took a third is blamed; a tenth allows for clocks that differ.
      -- statement_timeout strikes once in a statement, so the failure can be stored; the claim hands out nothing more.
      if clock_timestamp() - statement_timestamp() >= nullif(patience, '0') * 0.9
        and clock_timestamp() - started >= patience / 3 then
        perform memory.fail_job(p_job.user_id, p_job.job_id, p_job.lease_token,
          format('it cannot be handed out: preparing it took longer than statement_timeout (%s)',
                 current_setting('statement_timeout')), null, '[]');
        return;
      end if;
      raise;
    when others then -- one bad job must not hold up all others
      get stacked diagnostics trace = pg_exception_context;
      perform memory.fail_job(p_job.user_id, p_job.job_id, p_job.lease_token, memory._place_of_error(sqlstate, trace), null,
        '[]');
      return;
  end;

  if wait_until is null and not goes_on or reason like 'AM002%' then -- the row of an earlier attempt
    perform memory._drop_unfinished_summary(p_job);
  end if;
  if wait_until is null and not goes_on then -- nothing to work on: done without a model
    update memory.jobs as j
    set status = 'completed', result = '{"skipped": "nothing new"}', error = null, finished_at = clock_timestamp(), lease_token = null, lease_expires_at = null
    where j.user_id = p_job.user_id and j.job_id = p_job.job_id;
  else
    update memory.jobs as j
    set status = 'pending', attempts = j.attempts - 1, run_after = coalesce(wait_until, j.run_after),
        is_delayed = not goes_on, error = coalesce(reason, j.error), lease_token = null, lease_expires_at = null
    where j.user_id = p_job.user_id and j.job_id = p_job.job_id;
  end if;
end;
$$;

-- What may be kept of an error of PostgreSQL, whose message can show what a user said: its code and where it was
-- raised.
create or replace function memory._place_of_error(p_code text, p_trace text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return format('it cannot be handed out: SQLSTATE %s', p_code) || coalesce(' in '
    || substring(p_trace from '(memory[.][a-z_]+)[(]'), '')
    || coalesce(' line ' || substring(p_trace from ' line ([0-9]+) at '), '');
end;
$$;

-- The row of a summary that an earlier attempt began, unless another job has taken it over.
create or replace function memory._drop_unfinished_summary(p_job memory.jobs)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  delete from memory.summaries as s
  where s.user_id = p_job.user_id and s.summary_id = (p_job.input ->> 'summary_id')::uuid and s.status = 'processing'
    and not exists (select from memory.jobs as j
                    where j.user_id = p_job.user_id and j.scope = p_job.scope and j.status = 'running' and j.job_id <> p_job.job_id
                      and j.input ->> 'summary_id' = p_job.input ->> 'summary_id');
end;
$$;

-- payload: for the worker. input: what completing the job needs; is_partial without a payload: what was read is done
-- with, and there is more to read. tokens: what a call needs at least.
create or replace function memory._job_input(p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int)
language plpgsql volatile parallel unsafe
set lock_timeout = '10ms' -- what is locked is handed out later; a claim holds up neither its worker nor anyone else
as $$
begin
  case p_job.kind
    when 'extract_memories' then select * into payload, input, agent_id, tokens from memory._extraction_input(p_job);
    when 'summarize_thread' then select * into payload, input, agent_id, tokens from memory._summary_input(p_job);
    when 'compress_thread' then select * into payload, input, agent_id, tokens from memory._compression_input(p_job);
    when 'summarize_user' then select * into payload, input, agent_id, tokens from memory._user_summary_input(p_job);
    when 'reconcile_memories' then select * into payload, input, agent_id, tokens from memory._reconciliation_input(p_job);
    when 'consolidate' then select * into payload, input, agent_id, tokens from memory._consolidation_input(p_job);
    when 'embed', 'backfill' then select * into payload, input, agent_id, tokens from memory._embedding_input(p_job);
    when 'chunk_documents' then select * into payload, input, agent_id, tokens from memory._chunking_input(p_job);
  end case;
  tokens := coalesce(tokens, 0);
end;
$$;

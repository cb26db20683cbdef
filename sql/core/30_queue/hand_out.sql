-- The payload of a job that was just claimed, read with a snapshot younger than the claim. The payload is null when the
-- job is not handed out: there is nothing to do, the budget is spent, another job is summarising its thread, or its
-- input cannot be read. goes_on is true when a model needs none of the messages read so far, and the thread has more.
create or replace function memory._hand_out(p_job memory.jobs, out payload jsonb, out goes_on boolean)
language plpgsql volatile parallel unsafe
as $$
declare
  started constant timestamptz := clock_timestamp();
  patience constant interval := current_setting('statement_timeout')::interval;
  handed record;
  most_tokens bigint;
  wait_until timestamptz;
  reason text;
  trace text;
  is_checking_budget boolean := false;
begin
  goes_on := false;
  begin
    -- If somebody is clearing or deleting the thread, the job is put off. An append neither waits for this lock nor
    -- makes the claim wait.
    if p_job.scope <> '' then
      perform memory._hold_thread(p_job.user_id, p_job.scope);
    end if;
    select * into handed from memory._job_input(p_job);
    if handed.payload is not null then
      is_checking_budget := true;
      perform memory._check_budget(p_job.user_id, handed.agent_id, handed.payload -> 'model', handed.tokens);
      is_checking_budget := false;
      -- The number of tokens that the ledger takes for an attempt. A token is at least one byte of the payload. A
      -- runner sends the payload at most three times (when a server rejects one way of asking for JSON after another),
      -- partly escaped, so the limit is four tokens per byte. 200,000 tokens are for the form of the reply and for the
      -- reasoning of the model. A job whose attempts are given back without being counted never takes more than
      -- max_attempts times this number.
      most_tokens := 4 * pg_column_size(handed.payload)::bigint + 200000;
      update memory.jobs as j
      set input = handed.input || jsonb_build_object('model', handed.payload #> '{model,name}',
            'registration', memory._registration(handed.payload -> 'model')),
          agent_id = handed.agent_id,
          tokens_reserved = case handed.payload #>> '{model,provider}' when 'local' then 0 else handed.tokens end,
          tokens_allowed = greatest(
            j.tokens_allowed, least(j.tokens_allowed + most_tokens, j.max_attempts * most_tokens)),
          error = case when not memory._waits_for_budget(j.error) then j.error end
      where j.user_id = p_job.user_id and j.job_id = p_job.job_id;
      -- Documents stay without masks: this job only cuts them into pieces by places in their texts, and no model reads
      -- them. The jobs that embed the pieces mask them. Models, prompts, instructions and memory_types stay without
      -- masks, because administrators write them.
      payload := handed.payload || memory._json_masked(
        handed.payload - '{model,prompt,instructions,documents,memory_types}'::text[], '{credential}')
        || case when p_job.request ? 'traceparent'
             then jsonb_build_object('traceparent', p_job.request -> 'traceparent') else '{}' end;
      return;
    end if;
    goes_on := coalesce((handed.input ->> 'is_partial')::boolean, false);
  exception
    when sqlstate 'AM002' then
      wait_until := memory._beginning_of(memory._day_of(clock_timestamp()) + 1);
      reason := 'AM002: ' || sqlerrm;
    when lock_not_available or deadlock_detected or serialization_failure or unique_violation
      or foreign_key_violation then -- the last one: somebody has just cleared the summary that the job continues
      -- If the budget was being checked, another claim holds the agent's budget until it commits, which is soon.
      wait_until := clock_timestamp()
        + case when is_checking_budget then interval '100 milliseconds' else interval '5 seconds' end;
      reason := sqlerrm;
    when query_canceled then
      -- A cancel ends the claim, and nothing is claimed. statement_timeout ends the claim too, unless this job took
      -- much of the time: such a job fails, because otherwise it would use up the time of every claim. The claim's
      -- deadline leaves each job half of statement_timeout, so a job that took a third of statement_timeout is blamed.
      -- 0.9 allows for clocks that differ. statement_timeout ends a statement only once, so the failure can be stored;
      -- the claim hands out no further job.
      if clock_timestamp() - statement_timestamp() >= nullif(patience, '0') * 0.9
        and clock_timestamp() - started >= patience / 3 then
        perform memory.fail_job(p_job.user_id, p_job.job_id, p_job.lease_token,
          format('it cannot be handed out: preparing it took longer than statement_timeout (%s)',
                 current_setting('statement_timeout')),
          null, '[]');
        return;
      end if;
      raise;
    when others then -- a job that cannot be read must not hold up all others
      get stacked diagnostics trace = pg_exception_context;
      -- The reason has the code of the error and the place where it was raised, and not its message, which can show
      -- what a user said.
      perform memory.fail_job(p_job.user_id, p_job.job_id, p_job.lease_token,
        format('it cannot be handed out: SQLSTATE %s', sqlstate)
          || coalesce(' in ' || substring(trace from '(memory[.][a-z_]+)[(]'), '')
          || coalesce(' line ' || substring(trace from ' line ([0-9]+) at '), ''), null, '[]');
      return;
  end;

  if wait_until is null and not goes_on then -- nothing to work on: done without a model
    perform memory._end_unfinished(p_job);
    perform memory._end_lease(p_job, 'completed', p_job.attempts, null, '{"skipped": "nothing new"}');
  else
    if memory._waits_for_budget(reason) then
      perform memory._end_unfinished(p_job);
    end if;
    perform memory._give_back(p_job, wait_until, not goes_on, reason);
  end if;
end;
$$;

-- Keeps a thread from being cleared or deleted until the transaction ends. The function does not wait for a session
-- that is clearing or deleting the thread, because the claim already holds the job, for which that session would wait.
-- A lock with nowait still follows the newer versions of a row and waits for the transaction that deleted the newest
-- one: lock_timeout ends that wait.
create or replace function memory._hold_thread(p_user_id text, p_thread_id text)
returns void
language plpgsql volatile parallel unsafe
set lock_timeout = '10ms'
as $$
begin
  perform from memory.threads as t where t.user_id = p_user_id and t.thread_id = p_thread_id for key share nowait;
end;
$$;

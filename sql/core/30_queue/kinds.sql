-- The queue calls the kinds of jobs by these functions. A kind is a folder of 50_work. The build repeats each line in
-- double braces for every kind, or for the kinds that have the file that the line names. No other file here calls a
-- kind.

-- Calls a kind's input function. payload goes to the worker, and is null when no model is needed. input is kept until
-- the job is completed; if there is no payload, is_partial in input says whether there is more to read. agent_id is the
-- agent whose budget pays. tokens is the least number of tokens that the call takes.
create or replace function memory._job_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql volatile parallel unsafe
set lock_timeout = '10ms' -- a job whose rows are locked is handed out later, so that no claim waits
as $$
begin
  case p_job.kind
    {{each kind: when '<kind>' then select * into payload, input, agent_id, tokens from memory._<kind>_input(p_job);}}
  end case;
  tokens := coalesce(tokens, 0);
end;
$$;

-- Stores a result, and returns the object that memory.get_job() shows. A dry run stores the result like any other job,
-- notes the changes that this made, and undoes them by an error of its own.
create or replace function memory._apply_result(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  outcome jsonb;
begin
  if p_job.variant = 'dry_run' then
    begin
      p_job.variant := '';
      outcome := memory._apply_result(p_job, p_result);
      outcome := outcome || jsonb_build_object('proposal', memory._proposal(p_job));
      raise sqlstate 'AMDRY';
    exception when sqlstate 'AMDRY' then
      return outcome;
    end;
  end if;
  case p_job.kind
    {{each kind: when '<kind>' then outcome := memory._<kind>_apply(p_job, p_result);}}
  end case;
  return outcome;
end;
$$;

-- The last step of completing a job that has read messages of a thread. It replaces their estimated tokens by the exact
-- ones in the job's result, stores their words in the same new version of each row, and counts the tokens since a
-- summary. Jobs of kind embed do not call this function, because they write to no messages. The step comes last because
-- it locks the thread, and appends wait for this lock. It skips a thread that another transaction has locked: a later
-- job then brings the counts, memory.sweep() stores the words, and the next summary is due too early.
create or replace function memory._finish_messages_of_job(p_job memory.jobs, p_result jsonb)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  -- Checks that token_counts has a whole number for each seq.
  if p_result ? 'token_counts' and (
    jsonb_typeof(p_result -> 'token_counts') = 'object' and jsonb_typeof(p_result -> 'token_counter') = 'string'
    and not exists (select from jsonb_each(p_result -> 'token_counts') as c
                    where c.key !~ '^[0-9]{1,18}$' or jsonb_typeof(c.value) <> 'number'
                      or c.value::numeric not between 0 and memory._max_message_bytes()
                      or c.value::numeric <> floor(c.value::numeric))) is not true then
    perform memory._refuse_result('token_counts',
      'must be an object of seq and number of tokens, with token_counter naming the encoding');
  end if;
  perform from memory.threads as t
  where t.user_id = p_job.user_id and t.thread_id = p_job.scope for no key update skip locked;
  if found then
    perform memory._finish_messages(p_job.user_id, p_job.scope, (p_job.input ->> 'from_seq')::bigint,
      (p_job.input ->> 'read_through')::bigint, coalesce(p_result -> 'token_counts', '{}'),
      1000000); -- the bytes to parse; appends to the thread wait 0.5 to 1.5 s meanwhile
    if p_job.input ? 'summary_id' then
      update memory.threads as t set tokens_since_summary = memory._tokens_since_summary(t.user_id, t.thread_id)
      where t.user_id = p_job.user_id and t.thread_id = p_job.scope;
    end if;
  end if;
end;
$$;

-- Ends the work that attempts of a job began, such as a summary. If no attempt will finish this work now, because the
-- job is dead, waits for a budget or has nothing to do, the kind removes it. If another attempt follows (p_goes_on),
-- the kind keeps the work and marks it as failed.
create or replace function memory._end_unfinished(p_job memory.jobs, p_goes_on boolean default false)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  if p_job.input ? 'summary_id' then
    perform memory._end_unfinished_summary(p_job, p_goes_on);
  end if;
  {{each kind with unfinished:
  if p_job.kind = '<kind>' then
    perform memory._<kind>_unfinished(p_job, p_goes_on);
  end if;}}
end;
$$;

-- Queues the job that must follow a finished one: for requests that came meanwhile, and for work that a completed job
-- left over. A kind with a file follow_up.sql decides whether work is left over; for others is_partial of the input
-- says so.
create or replace function memory._enqueue_next(p_job memory.jobs)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  request jsonb := p_job.next_request;
  follow_up jsonb;
begin
  if p_job.status = 'completed' then
    follow_up := case p_job.kind
      {{each kind with follow_up: when '<kind>' then memory._<kind>_follow_up(p_job)}}
      else case when (p_job.input ->> 'is_partial')::boolean then '{}'::jsonb end
    end;
    if follow_up is not null then
      -- The two are merged even if no request came: merging drops a recent_k, because the next job must read everything
      -- that is left over.
      request := memory._wider_request(coalesce(request, '{}'), follow_up);
    end if;
  end if;
  if request is not null then
    perform memory._enqueue(p_job.user_id, p_job.kind, p_job.scope, request, p_job.variant);
  end if;
end;
$$;

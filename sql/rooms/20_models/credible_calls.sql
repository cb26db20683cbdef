-- Enters the calls that a worker reports for its job, as far as the job can have made them.
create or replace function memory._enter_calls(p_job memory.jobs, p_calls jsonb)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  latest memory.jobs;
  entered record;
begin
  perform memory._check_calls(p_calls);
  -- Calls may have been entered since the caller read the job.
  select j.* into latest from memory.jobs as j
  where j.user_id = p_job.user_id and j.job_id = p_job.job_id for no key update;
  if found then
    p_job := latest;
  end if;
  entered := memory._enter_credible_calls(p_job.user_id, p_job.job_id, p_job.kind, p_job.agent_id,
    p_job.input ->> 'model', p_calls, memory._allowed_calls(p_job) - p_job.calls_entered,
    p_job.tokens_allowed - p_job.tokens_entered);
  update memory.jobs as j
  set calls_entered = j.calls_entered + entered.number, tokens_entered = j.tokens_entered + entered.tokens
  where j.user_id = p_job.user_id and j.job_id = p_job.job_id and entered.number > 0;
end;
$$;

-- Enters the first p_calls_left of reported calls that _check_calls() has accepted, with p_tokens_left tokens in all,
-- and returns how many calls and tokens it entered. Otherwise a worker could spend everyone's budget by reporting any
-- number. A report that exceeds these limits is cut with a warning, not refused: an error would lose the job's result.
create or replace function memory._enter_credible_calls(
  p_user_id text, p_job_id bigint, p_kind text, p_agent_id text, p_model text, p_calls jsonb, p_calls_left int,
  p_tokens_left bigint, out number int, out tokens bigint
)
language plpgsql volatile parallel unsafe
as $$
declare
  credible jsonb;
  reported bigint;
begin
  with said as (
    select c.position, c.value, (c.value ->> 'tokens_in')::numeric::bigint as tokens_in,
      (c.value ->> 'tokens_out')::numeric::bigint as tokens_out
    from jsonb_array_elements(p_calls) with ordinality as c (value, position)
  ), counted as (
    select s.*, sum(coalesce(s.tokens_in, 0) + coalesce(s.tokens_out, 0)) over (order by s.position) as so_far
    from said as s
  ), cut as (
    select c.*,
      case when c.tokens_in is not null
        then greatest(least(c.tokens_in, p_tokens_left - c.so_far + c.tokens_in + coalesce(c.tokens_out, 0)), 0)
      end as cut_in,
      case when c.tokens_out is not null
        then greatest(least(c.tokens_out, p_tokens_left - c.so_far + c.tokens_out), 0)
      end as cut_out
    from counted as c
  )
  select
    coalesce(jsonb_agg(c.value || jsonb_build_object('tokens_in', c.cut_in, 'tokens_out', c.cut_out)
                       order by c.position)
             filter (where c.position <= p_calls_left), '[]'),
    count(*) filter (where c.position <= p_calls_left),
    coalesce(sum(coalesce(c.cut_in, 0) + coalesce(c.cut_out, 0)) filter (where c.position <= p_calls_left), 0),
    coalesce(max(c.so_far), 0)
  into credible, number, tokens, reported
  from cut as c;
  if reported > tokens or jsonb_array_length(p_calls) > number then
    raise warning
      'job %: the worker reported % calls with % tokens, more than the job can have made; '
      '% calls with % tokens are entered',
      p_job_id, jsonb_array_length(p_calls), reported, number, tokens;
  end if;
  perform memory._enter_calls(p_user_id, p_job_id, p_kind, p_agent_id, p_model, credible);
end;
$$;

-- How many calls the ledger takes for a job in all its attempts: 300 for each. An embedding job has at most 256 texts,
-- and a worker that sends each text by itself may have to send some of them twice.
create or replace function memory._allowed_calls(p_job memory.jobs)
returns int
language plpgsql immutable parallel safe
as $$
begin
  return least(greatest(p_job.max_attempts, 0), 1000000) * 300; -- plain SQL may have stored any number
end;
$$;

-- How many tokens the ledger takes for a job once it is handed out again with p_payload. A token is at least one byte
-- of the payload. A runner sends the payload at most three times (when a server rejects one way of asking for JSON
-- after another), partly escaped: four tokens per byte. 200,000 tokens are for the form of the reply and for the
-- reasoning of the model. A job that is given back uncounted again and again does not exceed max_attempts of this.
create or replace function memory._allowed_tokens(p_job memory.jobs, p_payload jsonb)
returns bigint
language plpgsql immutable parallel safe
as $$
declare
  per_attempt constant bigint := 4 * pg_column_size(p_payload)::bigint + 200000;
begin
  return greatest(p_job.tokens_allowed, least(p_job.tokens_allowed + per_attempt, p_job.max_attempts * per_attempt));
end;
$$;

-- The ledger of model calls, and the budgets it is checked against.

create or replace function memory._check_calls(p_calls jsonb)
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._check_json_size('calls', p_calls, 16777216, 'A job makes a few calls, and each is a few numbers.');
  if jsonb_typeof(p_calls) is distinct from 'array' or jsonb_array_length(p_calls) > 10000 or jsonb_path_exists(p_calls, 'strict $[*] ? (@.type() != "object")')
    or exists (select from jsonb_array_elements(p_calls) as c
               cross join lateral (values (c -> 'tokens_in'), (c -> 'tokens_out'), (c -> 'duration_ms'), (c -> 'prompt_version')) as v (value)
               where jsonb_typeof(v.value) not in ('null', 'number') or jsonb_typeof(v.value) = 'number' and v.value::numeric not between 0 and 2147483647) then
    perform memory._refuse('calls', 'must be an array of objects with tokens_in, tokens_out, duration_ms and error',
      'See docs/jobs.md; leave it out when nothing is known.');
  end if;
end;
$$;

-- One row per call, as they are reported. What a call cost is computed from the prices of its model, now.
create or replace function memory._enter_calls(p_user_id text, p_job_id bigint, p_kind text, p_agent_id text, p_model text,
  p_calls jsonb)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._check_calls(p_calls);
  insert into memory.model_calls (user_id, call_id, job_id, kind, agent_id, model, prompt_version, tokens_in, tokens_out, duration_ms, price, error, called_at)
  select p_user_id, memory._uuid_v7(), p_job_id, left(coalesce(p_kind, c ->> 'kind', 'unknown'), 255), p_agent_id, n.model,
    (c ->> 'prompt_version')::numeric::int, (c ->> 'tokens_in')::numeric::bigint, (c ->> 'tokens_out')::numeric::bigint, (c ->> 'duration_ms')::numeric::bigint,
    case when m.settings ?| '{price_per_million_input,price_per_million_output}' and coalesce(c ->> 'tokens_in', c ->> 'tokens_out') is not null
         then (coalesce((c ->> 'tokens_in')::numeric, 0) * coalesce((m.settings ->> 'price_per_million_input')::numeric, 0)
               + coalesce((c ->> 'tokens_out')::numeric, 0) * coalesce((m.settings ->> 'price_per_million_output')::numeric, 0)) / 1000000 end,
    left(c ->> 'error', 500), clock_timestamp()
  from jsonb_array_elements(p_calls) as c
  cross join lateral (select left(coalesce(p_model, c ->> 'model', 'unknown'), 255) as model) as n
  left join memory.models as m on m.name = n.model;
end;
$$;

-- The calls of a job, as its workers report them.
create or replace function memory._enter_calls(p_job memory.jobs, p_calls jsonb)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  latest memory.jobs;
  entered record;
begin
  -- Calls may have been entered since the job was read.
  select j.* into latest from memory.jobs as j
  where j.user_id = p_job.user_id and j.job_id = p_job.job_id for no key update;
  if found then
    p_job := latest;
  end if;
  entered := memory._enter_credible_calls(p_job.user_id, p_job.job_id, p_job.kind, p_job.agent_id, p_job.input ->> 'model', p_calls,
                                          memory._allowed_calls(p_job) - p_job.calls_entered,
                                          p_job.tokens_allowed - p_job.tokens_entered);
  update memory.jobs as j
  set calls_entered = j.calls_entered + entered.number, tokens_entered = j.tokens_entered + entered.tokens
  where j.user_id = p_job.user_id and j.job_id = p_job.job_id and entered.number > 0;
end;
$$;

-- A worker that reported any number it likes could spend everyone's budget. So only so many of these calls are
-- entered, in their order, and so many of their tokens. Nothing is refused: that would lose the result which the
-- calls brought.
create or replace function memory._enter_credible_calls(
  p_user_id text, p_job_id bigint, p_kind text, p_agent_id text, p_model text, p_calls jsonb, p_calls_left int, p_tokens_left bigint,
  out number int, out tokens bigint
)
language plpgsql volatile parallel unsafe
as $$
declare
  credible jsonb;
  reported bigint;
begin
  perform memory._check_calls(p_calls);
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
        then greatest(least(c.tokens_out, p_tokens_left - c.so_far + c.tokens_out), 0) end as cut_out
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
    raise warning 'job %: % calls with % tokens are entered of the % with % that were reported, which it cannot have taken',
      p_job_id, number, tokens, jsonb_array_length(p_calls), reported;
  end if;
  perform memory._enter_calls(p_user_id, p_job_id, p_kind, p_agent_id, p_model, credible);
end;
$$;

-- In all attempts: an embedding job has 256 texts at most, and whoever sends each by itself may have to send some
-- again.
create or replace function memory._allowed_calls(p_job memory.jobs)
returns int
language plpgsql immutable parallel safe
as $$
begin
  return p_job.max_attempts * 300;
end;
$$;

-- What a job can have used after another attempt, however often it was given back uncounted. A token is at least a
-- byte of what was handed out. A runner sends that three times at most, when a server knows no other way of asking
-- for JSON, and some of it escaped. 200,000 tokens are for what comes on top: the shape of the reply, and the reply
-- of a model that thinks.
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

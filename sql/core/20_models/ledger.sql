-- Decides which calls of models are entered in the ledger.

-- Refuses calls unless they are an array of at most 10,000 objects whose numbers are null or from 0 to 2147483647.
create or replace function memory._check_calls(p_calls jsonb)
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._check_json_size('calls', p_calls, 16777216, 'A job makes a few calls, and each is a few numbers.');
  if jsonb_typeof(p_calls) is distinct from 'array'
    or jsonb_array_length(p_calls) > 10000
    or jsonb_path_exists(p_calls, 'strict $[*] ? (@.type() != "object")')
    or jsonb_path_exists(p_calls, 'strict $[*].keyvalue() ? (
      (@.key == "tokens_in" || @.key == "tokens_out" || @.key == "context_tokens"
       || @.key == "duration_ms" || @.key == "prompt_version")
      && @.value != null && (@.value.type() != "number" || @.value < 0 || @.value > 2147483647))') then
    perform memory._refuse('calls', 'must be an array of objects with tokens_in, tokens_out, duration_ms and error',
      'See docs/jobs.md; leave it out when nothing is known.');
  end if;
end;
$$;

-- Enters calls of a model in the ledger, one row per call, and returns how many calls and tokens it entered. Prices are
-- computed now, from the settings of each call's model. The row of the last call gets p_refusals, which says how much
-- of the reply was refused, by reason. If p_calls_left and p_tokens_left are given, at most so many calls with so many
-- tokens in all are entered: otherwise a worker could spend everyone's budget by reporting any number. The function
-- cuts a longer report with a warning and raises no error, because an error would lose the job's result.
create or replace function memory._enter_calls(
  p_user_id text, p_job_id bigint, p_kind text, p_agent_id text, p_model text, p_calls jsonb,
  p_calls_left int default null, p_tokens_left bigint default null, p_refusals jsonb default null,
  out number int, out tokens bigint
)
language plpgsql volatile parallel unsafe
as $$
declare
  call jsonb;
  place bigint;
  used_in bigint;
  used_out bigint;
  reported bigint := 0;
begin
  p_tokens_left := case when p_tokens_left < 0 then 0 else p_tokens_left end;
  number := 0;
  tokens := 0;
  if p_calls = '[]' then
    return;
  end if;
  perform memory._check_calls(p_calls);
  for call, place in select c.value, c.ordinality from jsonb_array_elements(p_calls) with ordinality as c loop
    used_in := (call ->> 'tokens_in')::numeric::bigint;
    used_out := (call ->> 'tokens_out')::numeric::bigint;
    reported := reported + coalesce(used_in, 0) + coalesce(used_out, 0);
    continue when number >= p_calls_left;
    if p_tokens_left is not null then
      used_in := used_in - greatest(tokens + used_in - p_tokens_left, 0);
      used_out := used_out - greatest(tokens + coalesce(used_in, 0) + used_out - p_tokens_left, 0);
    end if;
    insert into memory.model_calls (user_id, call_id, job_id, kind, agent_id, model, prompt_version, tokens_in,
      tokens_out, duration_ms, price, error, called_at, reply_model, refusals)
    select p_user_id, memory._uuid_v7(), p_job_id, left(coalesce(p_kind, call ->> 'kind', 'unknown'), 255), p_agent_id,
      n.model, (call ->> 'prompt_version')::numeric::int, used_in, used_out,
      (call ->> 'duration_ms')::numeric::bigint,
      case
        when m.settings ?| '{price_per_million_input,price_per_million_output}'
          and num_nonnulls(used_in, used_out) > 0
        then (coalesce(used_in, 0) * coalesce((m.settings ->> 'price_per_million_input')::numeric, 0)
              + coalesce(used_out, 0) * coalesce((m.settings ->> 'price_per_million_output')::numeric, 0))
             / 1000000
      end,
      -- The rows of a forgotten user lose the text of errors, which may quote the user.
      case when p_user_id <> '' then left(memory._masked_note(p_user_id, p_agent_id, call ->> 'error'), 500)
        when call ->> 'error' <> '' then 'forgotten' end,
      clock_timestamp(),
      -- Takes a name and nothing else, because a server may send anything.
      substring(call ->> 'reply_model' from '^[[:alnum:]_./:@+-]{1,255}$'),
      case when place = least(jsonb_array_length(p_calls), p_calls_left) then p_refusals end
    from (select left(coalesce(p_model, call ->> 'model', 'unknown'), 255) as model) as n
    left join memory.models as m on m.name = n.model;
    number := number + 1;
    tokens := tokens + coalesce(used_in, 0) + coalesce(used_out, 0);
  end loop;
  if reported > tokens or jsonb_array_length(p_calls) > number then
    raise warning
      'job %: the worker reported % calls with % tokens, more than the job can have made; '
      '% calls with % tokens are entered',
      p_job_id, jsonb_array_length(p_calls), reported, number, tokens;
  end if;
end;
$$;

-- Enters the calls that a worker reports for its job, at most as many as the job can have made: 300 calls in each of
-- its attempts. An embedding job has at most 256 texts, and a worker that sends each text by itself may have to send
-- some of them twice. The caller adds these numbers to the counters of the job's row, which stays locked.
create or replace function memory._enter_job_calls(
  p_job memory.jobs, p_calls jsonb, p_refusals jsonb default null, out number int, out tokens bigint
)
language plpgsql volatile parallel unsafe
as $$
declare
  latest memory.jobs := p_job;
  entered record;
begin
  number := 0;
  tokens := 0;
  if p_calls = '[]' then
    return;
  end if;
  -- Another session may have entered calls since the caller read the job.
  select j.* into latest from memory.jobs as j
  where j.user_id = p_job.user_id and j.job_id = p_job.job_id for no key update;
  if not found then
    latest := p_job;
  end if;
  entered := memory._enter_calls(
    p_job.user_id, p_job.job_id, p_job.kind, latest.agent_id, latest.input ->> 'model', p_calls,
    memory._allowed_calls(latest) - latest.calls_entered, latest.tokens_allowed - latest.tokens_entered,
    p_refusals);
  number := entered.number;
  tokens := entered.tokens;
  perform memory._keep_window(latest.input, p_calls);
end;
$$;

-- Keeps the size of a chat model's window from the last call that reports one, because the next jobs are sized by it.
-- If another transaction holds the row of the model, nothing is kept, and a later call brings the size. If the model
-- was registered anew since the job was handed out (p_input), the size belongs to the former model and is dropped.
create or replace function memory._keep_window(p_input jsonb, p_calls jsonb)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  said constant bigint := (
    select (c.value ->> 'context_tokens')::numeric::bigint
    from jsonb_array_elements(p_calls) with ordinality as c (value, place)
    where (c.value ->> 'context_tokens')::numeric between 256 and 100000000
    order by c.place desc limit 1);
begin
  if said is not null then
    update memory.models as m set context_tokens = said
    where m.ctid = any (array(
      select d.ctid from memory.models as d
      where d.name = p_input ->> 'model' and d.kind = 'chat' and d.context_tokens is distinct from said
        and memory._registration(memory._model_json(d)) = p_input ->> 'registration'
      for no key update skip locked));
  end if;
end;
$$;

-- How many calls the ledger takes for a job in all its attempts.
create or replace function memory._allowed_calls(p_job memory.jobs)
returns int
language sql immutable parallel safe
begin atomic
  select least(greatest((p_job).max_attempts, 0), 1000000) * 300; -- plain SQL may have stored any number
end;

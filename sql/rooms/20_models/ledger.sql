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
    or exists (
      select from jsonb_array_elements(p_calls) as c
      cross join lateral (values (c -> 'tokens_in'), (c -> 'tokens_out'), (c -> 'duration_ms'),
                                 (c -> 'prompt_version')) as v (value)
      where jsonb_typeof(v.value) not in ('null', 'number')
        or jsonb_typeof(v.value) = 'number' and v.value::numeric not between 0 and 2147483647) then
    perform memory._refuse('calls', 'must be an array of objects with tokens_in, tokens_out, duration_ms and error',
      'See docs/jobs.md; leave it out when nothing is known.');
  end if;
end;
$$;

-- Enters calls that _check_calls() has accepted in the ledger, one row per call. Prices are computed now, from the
-- settings of each call's model.
create or replace function memory._enter_calls(
  p_user_id text, p_job_id bigint, p_kind text, p_agent_id text, p_model text, p_calls jsonb
)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  insert into memory.model_calls (user_id, call_id, job_id, kind, agent_id, model, prompt_version, tokens_in,
    tokens_out, duration_ms, price, error, called_at)
  select p_user_id, memory._uuid_v7(), p_job_id, left(coalesce(p_kind, c ->> 'kind', 'unknown'), 255), p_agent_id,
    n.model, (c ->> 'prompt_version')::numeric::int, n.tokens_in, n.tokens_out,
    (c ->> 'duration_ms')::numeric::bigint,
    case
      when m.settings ?| '{price_per_million_input,price_per_million_output}'
        and num_nonnulls(n.tokens_in, n.tokens_out) > 0
      then (coalesce(n.tokens_in, 0) * coalesce((m.settings ->> 'price_per_million_input')::numeric, 0)
            + coalesce(n.tokens_out, 0) * coalesce((m.settings ->> 'price_per_million_output')::numeric, 0)) / 1000000
    end,
    -- The calls of a forgotten user stay without what an error may quote.
    case when p_user_id <> '' then left(c ->> 'error', 500) when c ->> 'error' <> '' then 'forgotten' end,
    clock_timestamp()
  from jsonb_array_elements(p_calls) as c
  cross join lateral (
    select left(coalesce(p_model, c ->> 'model', 'unknown'), 255) as model,
      (c ->> 'tokens_in')::numeric::bigint as tokens_in, (c ->> 'tokens_out')::numeric::bigint as tokens_out) as n
  left join memory.models as m on m.name = n.model;
end;
$$;

-- The ledger of model calls, and the budgets it is checked against.

-- One row per call, as the worker reports them. What a call cost is computed from the prices of its model, now.
create or replace function memory._enter_calls(user_id text, job_id bigint, kind text, agent_id text, model text, calls jsonb)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_json_size('calls', calls, 16777216, 'A job makes a few calls, and each is a few numbers.');
  if jsonb_typeof(calls) is distinct from 'array' or jsonb_array_length(calls) > 10000 or jsonb_path_exists(calls, 'strict $[*] ? (@.type() != "object")')
    or exists (select from jsonb_array_elements(calls) as c
               cross join lateral (values (c -> 'tokens_in'), (c -> 'tokens_out'), (c -> 'duration_ms'), (c -> 'prompt_version')) as v (value)
               where jsonb_typeof(v.value) not in ('null', 'number') or jsonb_typeof(v.value) = 'number' and v.value::numeric not between 0 and 2147483647) then
    perform memory._refuse('calls', 'must be an array of objects with tokens_in, tokens_out, duration_ms and error',
      'See docs/jobs.md; leave it out when nothing is known.');
  end if;
  insert into memory.model_calls (user_id, call_id, job_id, kind, agent_id, model, prompt_version, tokens_in, tokens_out, duration_ms, price, error, called_at)
  select _enter_calls.user_id, memory._uuid_v7(), _enter_calls.job_id, left(coalesce(_enter_calls.kind, c ->> 'kind', 'unknown'), 255), _enter_calls.agent_id, n.model,
    (c ->> 'prompt_version')::numeric::int, (c ->> 'tokens_in')::numeric::bigint, (c ->> 'tokens_out')::numeric::bigint, (c ->> 'duration_ms')::numeric::bigint,
    case when m.settings ?| '{price_per_million_input,price_per_million_output}' and coalesce(c ->> 'tokens_in', c ->> 'tokens_out') is not null
         then (coalesce((c ->> 'tokens_in')::numeric, 0) * coalesce((m.settings ->> 'price_per_million_input')::numeric, 0)
               + coalesce((c ->> 'tokens_out')::numeric, 0) * coalesce((m.settings ->> 'price_per_million_output')::numeric, 0)) / 1000000 end,
    left(c ->> 'error', 500), clock_timestamp()
  from jsonb_array_elements(calls) as c
  cross join lateral (select left(coalesce(_enter_calls.model, c ->> 'model', 'unknown'), 255) as model) as n
  left join memory.models as m on m.name = n.model;
end;
$$;

create or replace function memory._enter_calls(job memory.jobs, calls jsonb)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._enter_calls(job.user_id, job.job_id, job.kind, job.agent_id, job.input ->> 'model', calls);
end;
$$;

-- Tokens of the UTC day that count against a budget: those in the ledger, and those that running jobs will use at least.
-- A job that is about to be claimed asks for more; one at a time per budget, so that two workers cannot both take the last.
-- The small calls of a search reserve nothing: a lock would stay until the end of the caller's transaction.
create or replace function memory._check_budget(user_id text, agent_id text, model jsonb, tokens int, reserves boolean default true)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  budgets jsonb := memory._policy(user_id, agent_id) -> 'budget';
  today timestamptz := date_trunc('day', clock_timestamp(), 'UTC');
  budget bigint;
  used bigint;
begin
  if model ->> 'provider' = 'local' then
    return;
  end if;
  budget := (budgets ->> 'tokens_per_user_per_day')::bigint;
  if budget is not null then
    perform memory._lock_budget('user ' || user_id) where reserves;
    select coalesce(sum(coalesce(c.tokens_in, 0) + coalesce(c.tokens_out, 0)), 0)
      + (select coalesce(sum(j.tokens_reserved), 0) from memory.jobs as j where j.user_id = _check_budget.user_id and j.status = 'running')
    into used
    from memory.model_calls as c where c.user_id = _check_budget.user_id and c.called_at >= today;
    if used + tokens > budget then
      perform memory._refuse_budget('tokens_per_user_per_day', used, tokens, budget);
    end if;
  end if;
  budget := (budgets ->> 'tokens_per_agent_per_day')::bigint;
  if budget is not null and agent_id is not null then
    perform memory._lock_budget('agent ' || agent_id) where reserves;
    select coalesce(sum(coalesce(c.tokens_in, 0) + coalesce(c.tokens_out, 0)), 0)
      + (select coalesce(sum(j.tokens_reserved), 0) from memory.jobs as j where j.agent_id = _check_budget.agent_id and j.status = 'running')
    into used
    from memory.model_calls as c where c.agent_id = _check_budget.agent_id and c.called_at >= today;
    if used + tokens > budget then
      perform memory._refuse_budget('tokens_per_agent_per_day', used, tokens, budget);
    end if;
  end if;
end;
$$;

create or replace function memory._lock_budget(name text)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Not waited for: two workers that claim many jobs each could wait for each other.
  if not pg_try_advisory_xact_lock(hashtextextended('agent_memory budget ' || name, 0)) then
    raise lock_not_available using message = 'another worker is claiming from the same budget';
  end if;
end;
$$;

create or replace function memory._refuse_budget(name text, used bigint, tokens int, budget bigint)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._refuse('budget.' || name, format('%s of %s tokens are used, this call needs at least %s', used, budget, tokens),
    'The job waits for the next day (UTC); memory.set_policy() changes the budget and memory.retry_job() ends the wait.', 'AM002');
end;
$$;

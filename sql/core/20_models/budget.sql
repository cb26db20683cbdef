-- Refuses a call (AM002) whose p_tokens would exceed the daily budget of its user or agent. The built-in model has no
-- budget. With p_reserves the check holds a lock per agent until the end of the transaction, so that two claims cannot
-- both take the last tokens; the claims of one user exclude each other already. Calls within a search do not reserve:
-- the lock would last as long as the transaction of the application.
create or replace function memory._check_budget(
  p_user_id text, p_agent_id text, p_model jsonb, p_tokens int, p_reserves boolean default true
)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  budgets jsonb;
  user_budget bigint;
  agent_budget bigint;
  today constant timestamptz := memory._beginning_of(memory._day_of(clock_timestamp()));
  used bigint;
  problem constant text := '%s of %s tokens are used, this call needs at least %s';
begin
  if p_model ->> 'provider' = 'local' then
    return;
  end if;
  budgets := memory._policy_section(p_user_id, p_agent_id, 'budget');
  user_budget := (budgets ->> 'tokens_per_user_per_day')::bigint;
  agent_budget := (budgets ->> 'tokens_per_agent_per_day')::bigint;
  if user_budget is not null then
    select coalesce(sum(t.tokens), 0) into used from memory._used_tokens('user', p_user_id, today) as t;
    if used + p_tokens > user_budget then
      perform memory._refuse_until_tomorrow(
        'budget.tokens_per_user_per_day', format(problem, used, user_budget, p_tokens));
    end if;
  end if;
  if agent_budget is not null and p_agent_id is not null then
    perform memory._lock_agent_budget(p_agent_id) where p_reserves;
    select coalesce(sum(t.tokens), 0) into used from memory._used_tokens('agent', p_agent_id, today) as t;
    if used + p_tokens > agent_budget then
      perform memory._refuse_until_tomorrow(
        'budget.tokens_per_agent_per_day', format(problem, used, agent_budget, p_tokens));
    end if;
  end if;
end;
$$;

-- The tokens that count against a budget: the tokens of each call in the ledger since p_since, and the reserved tokens
-- of each running job. p_of is 'user' or 'agent', p_id the id of that user or agent. The planner inlines this function
-- and evaluates each CASE, so that an index of the ledger is read without the table.
create or replace function memory._used_tokens(p_of text, p_id text, p_since timestamptz)
returns table (tokens bigint)
language sql stable parallel safe
begin atomic
  select coalesce(c.tokens_in, 0) + coalesce(c.tokens_out, 0)
  from memory.model_calls as c
  where case p_of when 'user' then c.user_id else c.agent_id end = p_id and c.called_at >= p_since
  union all
  select j.tokens_reserved
  from memory.jobs as j
  where case p_of when 'user' then j.user_id else j.agent_id end = p_id and j.status = 'running';
end;

-- Locks the agent's budget until the end of the transaction. The lock is a row that only this function touches. It is
-- written, not only locked, so that a claim under REPEATABLE READ fails if another claim came first. The wait ends
-- after 10 ms, because two workers that each claim many jobs could wait for each other.
create or replace function memory._lock_agent_budget(p_agent_id text)
returns void
language plpgsql volatile parallel unsafe
set lock_timeout = '10ms'
as $$
begin
  insert into memory.agent_budgets as b (agent_id) values (p_agent_id)
  on conflict on constraint agent_budgets_pkey do update set checks = b.checks + 1;
exception
  when lock_not_available then
    raise lock_not_available using message = 'another worker is claiming from the same budget';
end;
$$;

-- Refuses a call that a daily limit no longer allows. A job that is refused waits (30_queue/waits_for_budget.sql).
create or replace function memory._refuse_until_tomorrow(p_setting text, p_problem text)
returns void
language plpgsql stable parallel unsafe
as $$
begin
  perform memory._refuse(p_setting, p_problem,
    'The job waits for the next day (UTC); memory.set_policy() changes the budget and '
    'memory.retry_job() ends the wait.',
    'AM002');
end;
$$;

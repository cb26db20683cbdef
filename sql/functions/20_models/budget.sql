-- Tokens of the UTC day that count against a budget: those in the ledger, and those that running jobs will use at
-- least. A job that is about to be claimed asks for more; one at a time per budget, so that two workers cannot both
-- take the last: claims of one user exclude each other anyway (memory._room()). The small calls of a search reserve
-- nothing: a lock would stay until the end of the caller's transaction.
create or replace function memory._check_budget(p_user_id text, p_agent_id text, p_model jsonb, p_tokens int, p_reserves boolean default true)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  budgets jsonb := memory._policy(p_user_id, p_agent_id) -> 'budget';
  today timestamptz := date_trunc('day', clock_timestamp(), 'UTC');
  budget bigint;
  used bigint;
begin
  if p_model ->> 'provider' = 'local' then
    return;
  end if;
  budget := (budgets ->> 'tokens_per_user_per_day')::bigint;
  if budget is not null then
    select coalesce(sum(coalesce(c.tokens_in, 0) + coalesce(c.tokens_out, 0)), 0)
      + (select coalesce(sum(j.tokens_reserved), 0) from memory.jobs as j where j.user_id = p_user_id and j.status = 'running')
    into used
    from memory.model_calls as c where c.user_id = p_user_id and c.called_at >= today;
    if used + p_tokens > budget then
      perform memory._refuse_budget('tokens_per_user_per_day', used, p_tokens, budget);
    end if;
  end if;
  budget := (budgets ->> 'tokens_per_agent_per_day')::bigint;
  if budget is not null and p_agent_id is not null then
    perform memory._lock_agent_budget(p_agent_id) where p_reserves;
    select coalesce(sum(coalesce(c.tokens_in, 0) + coalesce(c.tokens_out, 0)), 0)
      + (select coalesce(sum(j.tokens_reserved), 0) from memory.jobs as j where j.agent_id = p_agent_id and j.status = 'running')
    into used
    from memory.model_calls as c where c.agent_id = p_agent_id and c.called_at >= today;
    if used + p_tokens > budget then
      perform memory._refuse_budget('tokens_per_agent_per_day', used, p_tokens, budget);
    end if;
  end if;
end;
$$;

-- A row that nobody else can hold, written so that a claim under repeatable read sees that it missed something. Hardly
-- waited for: two workers that claim many jobs each could wait for each other.
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

create or replace function memory._refuse_budget(p_name text, p_used bigint, p_tokens int, p_budget bigint)
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._refuse('budget.' || p_name, format('%s of %s tokens are used, this call needs at least %s', p_used, p_budget, p_tokens),
    'The job waits for the next day (UTC); memory.set_policy() changes the budget and memory.retry_job() ends the wait.', 'AM002');
end;
$$;

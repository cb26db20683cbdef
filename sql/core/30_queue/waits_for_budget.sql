-- Whether a pending job with this error waits for a budget (20_models/budget.sql) or an allowance of its kind.
-- memory._hand_out() gives such a job back until the next day begins, and counts no attempt: the job has not failed.
create or replace function memory._waits_for_budget(p_error text)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_error like 'AM002%';
end;

-- The view repeats the expression of memory._real_or_null(), because a reader of the view may call no private function.
create or replace view memory.model_usage as
select date_trunc('day', case
    when c.called_at between timestamptz '0001-01-02 00:00+00' and timestamptz '9999-12-30 00:00+00' then c.called_at
    end, 'UTC')::date as day, c.model,
  c.user_id, c.agent_id, c.kind, count(*) as calls,
  count(c.error) as failed_calls,
  sum(c.tokens_in) filter (where c.tokens_in between 0 and 2147483647)::bigint as tokens_in,
  sum(c.tokens_out) filter (where c.tokens_out between 0 and 2147483647)::bigint as tokens_out,
  sum(c.price) as price, round(avg(c.duration_ms))::bigint as avg_ms, max(c.duration_ms) as max_ms,
  (select sum(r.value::bigint)
   from unnest(array_agg(c.refusals) filter (where jsonb_typeof(c.refusals) = 'object')) as a (refusals)
   cross join jsonb_each_text(a.refusals) as r)::bigint as refused,
  (select jsonb_object_agg(s.reason, s.number)
   from (select r.key as reason, sum(r.value::bigint) as number
         from unnest(array_agg(c.refusals) filter (where jsonb_typeof(c.refusals) = 'object')) as a (refusals)
         cross join jsonb_each_text(a.refusals) as r group by r.key) as s) as refusals
from memory.model_calls as c
group by 1, 2, 3, 4, 5;
comment on view memory.model_usage is
'The ledger of model calls by UTC day, model, user, agent and kind of job: how many calls, how many of them failed, '
'tokens read and written, price, the average and longest milliseconds of a call, and how much of the replies was not '
'stored, in all (refused) and by reason (refusals). Sum over the columns that you do not need.';

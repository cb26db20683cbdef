create or replace view memory.retry_storms as
select c.user_id, c.job_id, c.kind, c.model, count(*) as failed_calls,
  least(sum(c.tokens_in::numeric + coalesce(c.tokens_out, 0)), 1000000000000000)::bigint as tokens_wasted,
  max(c.called_at) as last_at,
  (array_agg(c.error order by c.called_at desc))[1] as last_error
from memory.model_calls as c
where c.error is not null and c.called_at > statement_timestamp() - interval '1 day'
group by c.user_id, c.job_id, c.kind, c.model
having count(*) >= 3
order by count(*) desc;
comment on view memory.retry_storms is
'Jobs with three or more failed calls within a day, the tokens that these calls used, and the last error.';

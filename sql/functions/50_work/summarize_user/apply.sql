create or replace function memory._apply_user_summary(job memory.jobs, result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  stored memory.summaries;
  thread record;
begin
  perform memory._check_summary(result);
  for thread in select t.key as thread_id, t.value::bigint as seq from jsonb_each_text(job.input -> 'through') as t order by t.key loop
    perform memory._set_mark(job.user_id, thread.thread_id, 'summarize_user', thread.seq);
  end loop;
  stored := memory._store_summary(job, result);
  return jsonb_build_object('summary_id', stored.summary_id, 'messages', stored.end_seq + 1);
end;
$$;

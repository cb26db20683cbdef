-- Stores the profile, and marks how far it has read each thread.
create or replace function memory._summarize_user_apply(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  stored memory.summaries;
  thread record;
begin
  perform memory._check_summary(p_job, p_result);
  p_result := memory._evident_summary(p_job, p_result);
  for thread in
    select t.key as thread_id, t.value::bigint as seq from jsonb_each_text(p_job.input -> 'through') as t order by t.key
  loop
    perform memory._set_mark(p_job.user_id, thread.thread_id, 'summarize_user', thread.seq);
  end loop;
  stored := memory._store_summary(p_job, p_result);
  return jsonb_build_object('summary_id', stored.summary_id, 'messages', stored.end_seq + 1,
                            'refusals', p_result -> 'refusals');
end;
$$;

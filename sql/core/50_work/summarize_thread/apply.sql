-- Stores the summary, and the memory made of it if the policy says so.
create or replace function memory._summarize_thread_apply(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  stored memory.summaries;
begin
  perform memory._check_summary(p_job, p_result);
  p_result := memory._evident_summary(p_job, p_result);
  perform memory._remember_conversation(p_job, p_result);
  stored := memory._store_summary(p_job, p_result);
  return jsonb_build_object('summary_id', stored.summary_id, 'start_seq', stored.start_seq, 'end_seq', stored.end_seq,
                            'refusals', p_result -> 'refusals');
end;
$$;

-- Stores token counts and words of the messages that the job has read, and counts the tokens since the summary. Comes
-- last, because it locks the thread: so appends wait for these updates, and for nothing else that the job does.
create or replace function memory._summarize_thread_finish(p_job memory.jobs, p_result jsonb)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._finish_read_messages(p_job, p_result);
  perform memory._count_tokens_since_summary(p_job.user_id, p_job.scope);
end;
$$;

-- Stores token counts and words of the messages that the job has read. Comes last, because it locks the thread: an
-- append waits for these updates only.
create or replace function memory._extract_memories_finish(p_job memory.jobs, p_result jsonb)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._finish_read_messages(p_job, p_result);
end;
$$;

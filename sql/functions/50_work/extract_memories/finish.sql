-- Last, because it locks the thread: appends wait for nothing but these updates.
create or replace function memory._extract_memories_finish(p_job memory.jobs, p_result jsonb)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._finish_read_messages(p_job, p_result);
end;
$$;

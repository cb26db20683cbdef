-- Ends the summary that an attempt began, or shows that the attempt failed.
create or replace function memory._compress_thread_unfinished(p_job memory.jobs, p_goes_on boolean)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._end_unfinished_summary(p_job, p_goes_on);
end;
$$;

-- Removes the row of the summary that an attempt began.
create or replace function memory._summarize_user_unfinished(p_job memory.jobs)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._end_unfinished_summary(p_job);
end;
$$;

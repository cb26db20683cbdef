-- Shows that the summary of this attempt failed.
create or replace function memory._summarize_user_failed(p_job memory.jobs)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._fail_summary(p_job);
end;
$$;

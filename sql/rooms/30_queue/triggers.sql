create trigger job_100_before_write
before insert or update of status, finished_at, lease_token, lease_expires_at on memory.jobs
for each row
execute function memory._job_before_write();

create trigger jobs_200_after_delete
after delete on memory.jobs
referencing old table as old_rows for each statement
execute function memory._jobs_after_delete();

create trigger jobs_200_after_delete
after delete on memory.jobs
referencing old table as old_rows for each statement
execute function memory._jobs_after_delete();

create trigger thread_100_after_delete
after delete on memory.threads
for each row
execute function memory._thread_after_delete();

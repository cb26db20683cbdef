create trigger thread_100_after_insert
after insert on memory.threads
for each row
execute function memory._thread_after_change();

create trigger thread_100_after_update
after update of title, metadata on memory.threads
for each row
execute function memory._thread_after_change();

create trigger thread_100_after_delete
after delete on memory.threads
for each row
when ({{not copied}})
execute function memory._thread_after_delete();

-- This trigger removes the note that the triggers above leave. If each of them left and removed a note of its own, it
-- would look through the dead notes of the earlier ones.
create trigger threads_200_after_delete
after delete on memory.threads
for each statement
when ({{not copied}})
execute function memory._threads_after_delete();

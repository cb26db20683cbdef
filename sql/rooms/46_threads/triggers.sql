-- Not for a thread that never had a message: memory._unbook() deletes it, and artifacts may name it already.
create trigger thread_100_after_delete
after delete on memory.threads
for each row
when (old.next_seq > 0 and ({{not copied}}))
execute function memory._thread_after_delete();

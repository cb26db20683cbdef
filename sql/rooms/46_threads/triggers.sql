-- The trigger does not fire for a thread that never had a message nor was set: memory._after_booking() deletes it, and
-- artifacts may name it already.
create trigger thread_100_after_delete
after delete on memory.threads
for each row
when ((old.next_seq > 0 or old.metadata is not null) and ({{not copied}}))
execute function memory._thread_after_delete();

create trigger memory_100_before_write
before insert or update on memory.memories
for each row
when ({{not copied}})
execute function memory._memory_before_write();

create trigger memories_200_after_insert
after insert on memory.memories
referencing new table as new_rows for each statement
when ({{not copied}})
execute function memory._memories_after_insert();

create trigger memories_200_after_update
after update on memory.memories
referencing old table as old_rows new table as new_rows for each statement
execute function memory._memories_after_change();

create trigger memories_200_after_delete
after delete on memory.memories
referencing old table as old_rows for each statement
when ({{not copied}})
execute function memory._memories_after_change();

create trigger embedding_100_before_insert
before insert on memory.embeddings
for each row
when (new.source = 'memory' and ({{not copied}}))
execute function memory._embedding_before_insert();

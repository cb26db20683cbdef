-- The trigger functions of an insert or update find out by themselves whether the rows are copied, because PostgreSQL
-- reads and plans the condition of a trigger anew in each statement.
create trigger memory_100_before_insert
before insert on memory.memories
for each row
execute function memory._memory_before_insert();

create trigger memory_100_before_update
before update on memory.memories
for each row
execute function memory._memory_before_update();

create trigger memories_200_after_insert
after insert on memory.memories
referencing new table as new_rows for each statement
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

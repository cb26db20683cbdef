-- The trigger ignores rows with a number and a token_count: memory._write_messages() has checked and booked them, or
-- they are copied from elsewhere.
create trigger message_100_before_insert
before insert on memory.messages
for each row
when (new.seq is null or new.token_count is null)
execute function memory._message_before_insert();

create trigger message_100_before_update
before update on memory.messages
for each row
execute function memory._message_before_update();

create trigger messages_200_after_update
after update on memory.messages
referencing old table as old_rows new table as new_rows for each statement
execute function memory._messages_after_change();

create trigger messages_200_after_delete
after delete on memory.messages
referencing old table as old_rows for each statement
when ({{not copied}})
execute function memory._messages_after_change();

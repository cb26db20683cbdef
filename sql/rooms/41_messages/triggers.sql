-- Rows with numbers pass by if the setting says so: memory.add_message() and memory.add_messages() have checked and
-- booked them, or they are copied from another database. PostgreSQL reads the text of the condition in each statement,
-- which takes 340 instructions for each byte of a constant, so this asks for no more: with the condition of the other
-- tables as well it took a sixth of the instructions of add_message.
create trigger message_100_before_insert
before insert on memory.messages
for each row
when (new.seq is null or current_setting('memory.seqs_reserved', true) is distinct from 'yes')
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

create trigger memories_300_text_after_insert
after insert on memory.memories
referencing new table as changed_rows for each statement
execute function memory._memory_texts_after_change();

create trigger memories_300_text_after_update
after update on memory.memories
referencing new table as changed_rows for each statement
execute function memory._memory_texts_after_change();

create trigger memories_300_text_after_delete
after delete on memory.memories
referencing old table as changed_rows for each statement
execute function memory._memory_texts_after_change();

create trigger message_300_text_after_update
after update on memory.messages
for each row
when (new.content is distinct from old.content
  or new.metadata is distinct from old.metadata
  or new.agent_id is distinct from old.agent_id
  or new.created_at is distinct from old.created_at
  or new.expires_at is distinct from old.expires_at)
execute function memory._message_text_after_update();

create trigger messages_300_text_after_update
after update on memory.messages
referencing new table as changed_rows for each statement
execute function memory._message_texts_after_change();

create trigger messages_300_text_after_delete
after delete on memory.messages
referencing old table as changed_rows for each statement
when ({{not copied}})
execute function memory._message_texts_after_change();

create trigger chunks_300_text_after_insert
after insert on memory.document_chunks
referencing new table as changed_rows for each statement
execute function memory._document_texts_after_change();

create trigger chunks_300_text_after_delete
after delete on memory.document_chunks
referencing old table as changed_rows for each statement
execute function memory._document_texts_after_change();

create trigger document_300_text_after_update
after update on memory.documents
for each row
when (new.title is distinct from old.title
  or new.agent_ids is distinct from old.agent_ids
  or new.thread_id is distinct from old.thread_id
  or new.created_at is distinct from old.created_at
  or new.quarantined_at is distinct from old.quarantined_at)
execute function memory._document_texts_after_update();

create trigger summaries_300_text_after_insert
after insert on memory.summaries
referencing new table as changed_rows for each statement
when ({{not copied}})
execute function memory._summary_texts_after_change();

create trigger summaries_300_text_after_update
after update on memory.summaries
referencing new table as changed_rows for each statement
execute function memory._summary_texts_after_change();

create trigger summaries_300_text_after_delete
after delete on memory.summaries
referencing old table as changed_rows for each statement
when ({{not copied}})
execute function memory._summary_texts_after_change();

-- All triggers, in the order in which they fire. Creating one locks its table against writers, so that is done only when it
-- is missing or its definition is another one than its comment says: installing again disturbs nobody.
do $triggers$
declare
  trigger record;
begin
  for trigger in
    select t.name, t.definition, substring(t.definition from ' on (memory.[a-z_]+)')::regclass as on_table
    from (values
      ('message_100_before_insert', 'before insert on memory.messages for each row when (new.seq is null or current_setting(''memory.seqs_reserved'', true) is distinct from ''yes'') execute function memory._message_before_insert()'),
      ('message_100_before_update', 'before update on memory.messages for each row execute function memory._message_before_update()'),
      ('messages_200_after_update', 'after update on memory.messages referencing old table as old_rows new table as new_rows for each statement execute function memory._messages_after_change()'),
      ('messages_200_after_delete', 'after delete on memory.messages referencing old table as old_rows for each statement execute function memory._messages_after_change()'),
      ('thread_100_after_delete', 'after delete on memory.threads for each row execute function memory._thread_after_delete()'),
      ('memory_100_before_write', 'before insert or update on memory.memories for each row execute function memory._memory_before_write()'),
      ('memories_200_after_insert', 'after insert on memory.memories referencing new table as new_rows for each statement execute function memory._memories_after_insert()'),
      ('memories_200_after_update', 'after update on memory.memories referencing old table as old_rows new table as new_rows for each statement execute function memory._memories_after_change()'),
      ('memories_200_after_delete', 'after delete on memory.memories referencing old table as old_rows for each statement execute function memory._memories_after_change()'),
      ('document_100_before_write', 'before insert or update on memory.documents for each row execute function memory._document_before_write()'),
      ('document_200_after_insert', 'after insert on memory.documents for each row execute function memory._document_after_write()'),
      ('document_200_after_update', 'after update on memory.documents for each row when ((new.title, new.content) is distinct from (old.title, old.content)) execute function memory._document_after_write()'),
      ('document_200_after_delete', 'after delete on memory.documents for each row when (old.source = ''consolidation'') execute function memory._article_after_delete()'),
      ('chunks_200_after_delete', 'after delete on memory.document_chunks referencing old table as old_rows for each statement execute function memory._chunks_after_delete()'),
      ('embedding_100_before_insert', 'before insert on memory.embeddings for each row when (new.source = ''memory'') execute function memory._embedding_before_insert()'),
      ('artifact_100_before_write', 'before insert or update on memory.artifacts for each row execute function memory._artifact_before_write()'),
      ('artifact_200_after_insert', 'after insert on memory.artifacts for each row execute function memory._artifact_after_write()'),
      ('artifact_200_after_update', 'after update on memory.artifacts for each row when ((new.description, new.content) is distinct from (old.description, old.content)) execute function memory._artifact_after_write()'),
      ('artifacts_200_after_delete', 'after delete on memory.artifacts referencing old table as old_rows for each statement execute function memory._artifacts_after_delete()'),
      ('model_100_after_delete', 'after delete on memory.models for each row when (old.kind = ''embedding'') execute function memory._model_after_delete()'),
      ('summaries_200_after_delete', 'after delete on memory.summaries referencing old table as old_rows for each statement execute function memory._summaries_after_delete()'),
      ('jobs_200_after_delete', 'after delete on memory.jobs referencing old table as old_rows for each statement execute function memory._jobs_after_delete()')
    ) as t (name, definition)
  loop
    if not exists (select from pg_trigger as p
                   where p.tgrelid = trigger.on_table and p.tgname = trigger.name
                     and obj_description(p.oid, 'pg_trigger') = trigger.definition) then
      execute format('create or replace trigger %I %s', trigger.name, trigger.definition);
      execute format('comment on trigger %I on %s is %L', trigger.name, trigger.on_table, trigger.definition);
    end if;
  end loop;
end;
$triggers$;

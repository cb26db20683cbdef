create trigger artifact_100_before_write
before insert
  or update of user_id, key, artifact_type, content, content_id, description, agent_id, thread_id, metadata, created_at,
    expires_at
on memory.artifacts
for each row
when ({{not copied}})
execute function memory._artifact_before_write();

create trigger artifact_120_after_change
after insert or update or delete on memory.artifacts
for each row
execute function memory._artifact_after_change();

create trigger artifact_150_content_after_insert
after insert on memory.artifacts
for each row
when (new.content is not null and ({{not copied}}))
execute function memory._artifact_content_after_insert();

create trigger artifact_200_after_insert
after insert on memory.artifacts
for each row
when ({{not copied}})
execute function memory._artifact_after_write();

create trigger artifact_200_after_update
after update on memory.artifacts
for each row
when ((new.description, new.content_id) is distinct from (old.description, old.content_id))
execute function memory._artifact_after_write();

create trigger artifacts_200_after_delete
after delete on memory.artifacts
referencing old table as old_rows for each statement
when ({{not copied}})
execute function memory._artifacts_after_delete();

create trigger artifact_300_text_after_update
after update on memory.artifacts
for each row
when (new.agent_id is distinct from old.agent_id
  or new.thread_id is distinct from old.thread_id
  or new.created_at is distinct from old.created_at
  or new.expires_at is distinct from old.expires_at
  or new.quarantined_at is distinct from old.quarantined_at)
execute function memory._artifact_texts_after_update();

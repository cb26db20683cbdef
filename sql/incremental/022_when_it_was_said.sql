-- When an extracted memory was last said, so that of two memories the one that was said later wins, whatever the order
-- in which jobs stored them. The messages that say so are deleted earlier than the memory. No value is filled in for
-- memories that are stored already: for them valid_from decides, as before.
alter table memory.memories add column said_at timestamptz;
comment on column memory.memories.said_at is
'When the newest message that states it was written; null for a memory that no message states.';

-- A statement that is hidden and said again is found by its content.
create index memories_hidden_hash_idx on memory.memories (user_id, agent_id, memory_type, content_hash)
  where superseded_at is not null and deleted_at is null;

-- The rows that the functions of messages return.
create type memory.stored_message as (seq bigint, content text, token_count int, memory_ref text);
comment on type memory.stored_message is 'What memory.add_message() and memory.add_messages() return.';

create type memory.message as (
  seq bigint, role text, content text, agent_id text, metadata jsonb, token_count int, created_at timestamptz,
  expires_at timestamptz, is_active boolean
);
comment on type memory.message is 'A message, as memory.get_messages() returns it.';

create or replace function memory.add_message(
  user_id text, thread_id text, role text, content text,
  agent_id text default 'default', metadata jsonb default '{}', created_at timestamptz default null,
  expires_at timestamptz default null, idempotency_key text default null
)
returns memory.stored_message
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return w from memory._write_messages(user_id, thread_id, agent_id, array[memory._new_message(
    user_id, thread_id, agent_id, role, content, metadata, created_at, expires_at, idempotency_key)]) as w;
end;
$$;
comment on function memory.add_message(text, text, text, text, text, jsonb, timestamptz, timestamptz, text) is
'Appends one message to a thread (created on first use) and returns it as stored. Never waits for a model. The same '
'idempotency_key in the same thread stores once: a repetition returns the stored message, other content is refused '
'(23505). A long message of a role in policy artifacts.roles is kept as an artifact: content then holds its '
'placeholder, which memory_ref repeats. For an agent without the resource memory nothing is stored: seq is null.';

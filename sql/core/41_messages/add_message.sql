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
  -- An old message of an import may have expired since it was said. A message that expires before it is said has a
  -- mistake, such as a wrong year.
  if expires_at <= least(created_at, statement_timestamp()) then
    raise notice 'degraded: nobody will read the message, expires_at is before created_at' using errcode = '01AM9',
      hint = 'Pass a later expires_at, or the created_at of an old message.';
  end if;
  return (memory._write_messages(user_id, thread_id, agent_id, array[memory._new_message(
    user_id, thread_id, agent_id, role, content, metadata, created_at, expires_at, idempotency_key)],
    idempotency_key is not null))[1];
end;
$$;
comment on function memory.add_message(text, text, text, text, text, jsonb, timestamptz, timestamptz, text) is
'Appends one message to a thread (created on first use) and returns it as stored. Never waits for a model. The same '
'idempotency_key in the same thread stores once: a repetition returns the stored message, other content is refused '
'(23505). A long message of a role in policy artifacts.roles is kept as an artifact: content then holds its '
'placeholder, which memory_ref repeats. For an agent without the resource memory nothing is stored: seq is null.';

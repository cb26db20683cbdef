create or replace function memory.add_message(
  user_id text, thread_id text, role text, content text,
  agent_id text default 'default', metadata jsonb default '{}', created_at timestamptz default null,
  expires_at timestamptz default null, idempotency_key text default null
)
returns memory.stored_message
language plpgsql volatile parallel unsafe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  stored memory.stored_message;
begin
  if idempotency_key is not null then
    perform memory._check_id('user_id', user_id);
    perform memory._check_id('thread_id', thread_id);
    stored := memory._message_by_key(user_id, thread_id, role, content, idempotency_key);
    if stored.seq is not null then
      return stored;
    end if;
  end if;
  insert into memory.messages as m (user_id, thread_id, role, content, agent_id, metadata, created_at, expires_at, idempotency_key)
  values (add_message.user_id, add_message.thread_id, add_message.role, add_message.content, add_message.agent_id,
          add_message.metadata, add_message.created_at, add_message.expires_at, add_message.idempotency_key)
  returning m.seq, m.content, m.token_count, null into stored;
  return stored;
end;
$$;
comment on function memory.add_message(text, text, text, text, text, jsonb, timestamptz, timestamptz, text) is
'Appends one message to a thread (created on first use) and returns it as stored. Never waits for a model. expires_at '
'defaults to the policy (7 days), infinity keeps it for good. The same idempotency_key in the same thread stores '
'once: a repetition returns the stored message (even one that was cleared or expired since: a key counts as long as '
'its thread exists), other content under the key is refused (23505).';

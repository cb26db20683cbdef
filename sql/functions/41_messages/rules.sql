-- The rules of messages. They live in triggers, so that "insert into memory.messages ..." from psql obeys them too.

-- What a message without text may consist of. Inlined by the planner, hence no SET clause.
create or replace function memory._has_parts(p_metadata jsonb)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_metadata ?| array['tool_calls', 'function_call', 'refusal', 'audio', 'content'];
end;

-- The rules of a message, and the error that says which one it breaks. which says which one of several messages.
create or replace function memory._check_message(
  p_user_id text, p_thread_id text, p_agent_id text, p_role text, p_content text, p_metadata jsonb, p_created_at timestamptz, p_idempotency_key text, p_which text default ''
)
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._check_id('user_id', p_user_id);
  perform memory._check_id('thread_id', p_thread_id);
  perform memory._check_id('agent_id', p_agent_id);
  if (p_role in ('user', 'assistant', 'tool', 'system', 'developer')) is not true then
    perform memory._refuse('role' || p_which, case when p_role is null then 'must not be null' else format('unknown role "%s"', left(p_role, 50)) end,
      'Use user, assistant, tool, system or developer; agent is accepted for assistant.');
  end if;
  perform memory._check_metadata(p_metadata, p_which);
  if (p_content = '' and memory._has_parts(p_metadata)) is not true then
    perform memory._check_content(p_content, 10485760, p_which);
  end if;
  perform memory._check_moment('created_at' || p_which, p_created_at);
  if octet_length(p_idempotency_key) not between 1 and 255 then
    perform memory._refuse('idempotency_key' || p_which, format('has %s bytes, 1 to 255 are allowed', octet_length(p_idempotency_key)), 'A UUID is a good key.');
  end if;
end;
$$;

-- True where nothing can be wrong, in one expression: the calls of memory._check_message() would be a fifth of an
-- insert. It refuses nothing: where it is not true, memory._check_message() decides. Inlined by the planner, hence no
-- SET clause.
create or replace function memory._is_plain_message(
  p_user_id text, p_thread_id text, p_agent_id text, p_role text, p_content text, p_metadata jsonb, p_created_at timestamptz,
    p_idempotency_key text
)
returns boolean
language sql stable parallel safe
begin atomic
  select (length(p_user_id) between 1 and 255 and length(p_thread_id) between 1 and 255 and length(p_agent_id) between 1
    and 255
    and p_role in ('user', 'assistant', 'tool', 'system', 'developer')
    and (p_content <> '' or memory._has_parts(p_metadata)) and octet_length(p_content) <= 10485760
    and jsonb_typeof(p_metadata) = 'object' and pg_column_size(p_metadata) <= 1048576
    and (p_created_at is null or memory._is_real_moment(p_created_at))
    and (p_idempotency_key is null or octet_length(p_idempotency_key) between 1 and 255)) is true;
end;

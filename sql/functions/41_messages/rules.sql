-- The rules of messages. They live in triggers, so that "insert into memory.messages ..." from psql obeys them too.

-- What a message without text may consist of. Inlined by the planner, hence no SET clause.
create or replace function memory._has_parts(metadata jsonb)
returns boolean
language sql immutable parallel safe
begin atomic
  select metadata ?| array['tool_calls', 'function_call', 'refusal', 'audio', 'content'];
end;

-- The rules of a message, and the error that says which one it breaks. which says which one of several messages.
create or replace function memory._check_message(
  user_id text, thread_id text, agent_id text, role text, content text, metadata jsonb, created_at timestamptz, idempotency_key text, which text default ''
)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  perform memory._check_id('agent_id', agent_id);
  if (role in ('user', 'assistant', 'tool', 'system', 'developer')) is not true then
    perform memory._refuse('role' || which, case when role is null then 'must not be null' else format('unknown role "%s"', left(role, 50)) end,
      'Use user, assistant, tool, system or developer; agent is accepted for assistant.');
  end if;
  perform memory._check_metadata(metadata, which);
  if (content = '' and memory._has_parts(metadata)) is not true then
    perform memory._check_content(content, 10485760, which);
  end if;
  perform memory._check_moment('created_at' || which, created_at);
  if octet_length(idempotency_key) not between 1 and 255 then
    perform memory._refuse('idempotency_key' || which, format('has %s bytes, 1 to 255 are allowed', octet_length(idempotency_key)), 'A UUID is a good key.');
  end if;
end;
$$;

-- True where nothing can be wrong, in one expression: the calls of memory._check_message() would be a fifth of an
-- insert. It refuses nothing: where it is not true, memory._check_message() decides. Inlined by the planner, hence no
-- SET clause.
create or replace function memory._is_plain_message(
  user_id text, thread_id text, agent_id text, role text, content text, metadata jsonb, created_at timestamptz,
    idempotency_key text
)
returns boolean
language sql stable parallel safe
begin atomic
  select (length(user_id) between 1 and 255 and length(thread_id) between 1 and 255 and length(agent_id) between 1
    and 255
    and role in ('user', 'assistant', 'tool', 'system', 'developer')
    and (content <> '' or memory._has_parts(metadata)) and octet_length(content) <= 10485760
    and jsonb_typeof(metadata) = 'object' and pg_column_size(metadata) <= 1048576
    and (created_at is null or memory._is_real_moment(created_at))
    and (idempotency_key is null or octet_length(idempotency_key) between 1 and 255)) is true;
end;

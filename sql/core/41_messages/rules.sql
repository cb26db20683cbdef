-- The rules of messages. The writer and the triggers apply them, so a plain INSERT obeys them, too.

-- The text of a message. A missing text becomes '' for a message of a model or a tool, and for others if the metadata
-- holds what they said. It stays null where a caller has forgotten the text.
create or replace function memory._text_of_message(p_role text, p_content text, p_metadata jsonb)
returns text
language sql immutable parallel safe
begin atomic
  select case when p_content is null and (p_role in ('assistant', 'tool') or p_metadata ?| memory._said_members())
    then '' else p_content end;
end;

-- The role in the form in which it is stored: agent is another name of assistant.
create or replace function memory._role(p_role text)
returns text
language sql immutable parallel safe
begin atomic
  select case p_role when 'agent' then 'assistant' else p_role end;
end;

-- Whether a message can have this role.
create or replace function memory._is_role(p_role text)
returns boolean
language sql immutable parallel safe
begin atomic
  select (p_role in ('user', 'assistant', 'tool', 'system', 'developer')) is true;
end;

-- The greatest number of bytes of a message's content.
create or replace function memory._max_message_bytes()
returns int
language sql immutable parallel safe
begin atomic
  select 10485760;
end;

-- Whether a message can have this idempotency key; null for null.
create or replace function memory._is_idempotency_key(p_key text)
returns boolean
language sql immutable parallel safe
begin atomic
  select octet_length(p_key) between 1 and 255;
end;

-- The argument that breaks a rule of messages; null when none does. The planner inlines this function. PostgreSQL
-- prepares the expression anew in each transaction, so it has as few operators as possible.
create or replace function memory._message_problem(p_message memory.messages)
returns text
language sql stable parallel safe
begin atomic
  select case
    when not memory._is_id((p_message).user_id) then 'user_id'
    when not memory._is_id((p_message).thread_id) then 'thread_id'
    when not memory._is_id((p_message).agent_id) then 'agent_id'
    when not memory._is_role((p_message).role) then 'role'
    when not memory._is_metadata((p_message).metadata) then 'metadata'
    when (octet_length(memory._text_of_message((p_message).role, (p_message).content, (p_message).metadata))
      <= memory._max_message_bytes()) is not true then 'content'
    when not memory._is_real_moment((p_message).created_at) then 'created_at'
    when not memory._is_idempotency_key((p_message).idempotency_key) then 'idempotency_key'
  end;
end;

-- Refuses a message that breaks a rule. The error adds p_which to the argument's name, to name one of several messages.
create or replace function memory._check_message(p_message memory.messages, p_which text default '')
returns void
language plpgsql stable parallel safe
as $$
declare
  problem constant text := memory._message_problem(p_message);
begin
  case problem
    when 'user_id', 'thread_id', 'agent_id' then
      perform memory._check_id(problem, case problem when 'user_id' then p_message.user_id
        when 'thread_id' then p_message.thread_id else p_message.agent_id end);
    when 'role' then
      perform memory._refuse_role('role' || p_which, p_message.role);
    when 'metadata' then
      perform memory._check_metadata(p_message.metadata, p_which);
    when 'created_at' then
      perform memory._check_moment('created_at' || p_which, p_message.created_at);
    when 'idempotency_key' then
      perform memory._refuse('idempotency_key' || p_which,
        format('has %s bytes, 1 to 255 are allowed', octet_length(p_message.idempotency_key)), 'A UUID is a good key.');
    when 'content' then -- also for a content that is neither a text nor an array of parts
      if p_message.content is null and p_message.metadata ? 'text' and p_which <> '' then
        perform memory._refuse('content' || p_which, 'must not be null',
          'The message has "text" instead: {"role": "user", "content": "Hi"} is the form of chat messages.');
      end if;
      perform memory._check_content(p_message.content, memory._max_message_bytes(), p_which);
    else null;
  end case;
end;
$$;

create or replace function memory._refuse_role(p_argument text, p_role text)
returns void
language plpgsql immutable parallel safe
as $$
begin
  perform memory._refuse(p_argument,
    case when p_role is null then 'must not be null' else format('unknown role "%s"', left(p_role, 50)) end,
    'Use user, assistant, tool, system or developer; agent is accepted for assistant.');
end;
$$;

-- Estimated tokens of a message with its tool calls and files.
create or replace function memory._estimated_tokens(p_content text, p_metadata jsonb)
returns int
language sql immutable parallel safe
begin atomic
  select memory._estimate_tokens(p_content) + coalesce(memory._estimate_tokens(p_metadata ->> 'tool_calls'), 0)
    + memory._file_tokens(p_metadata);
end;

-- Whether a message ends a round: it is from the assistant and calls no tool. Calls stand in tool_calls, in
-- function_call (the form before 2023), or among the parts of the content. The condition is one operator, because
-- PostgreSQL prepares each operator anew in each transaction.
create or replace function memory._ends_round(p_role text, p_metadata jsonb)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_role = 'assistant' and not p_metadata @@ '
    exists($.tool_calls[*] ? (@ != null)) || exists($.function_call ? (@ != null))
    || exists($.content[*] ? (@.type == "tool_use" || @.type == "tool_call" || @.type == "tool-call"
                              || @.type == "function_call"))';
end;

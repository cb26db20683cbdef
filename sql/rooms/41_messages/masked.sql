-- With the policy secrets.mask_in_threads a message is stored with marks in place of its credentials.

-- The message with marks in its content, and in the parts of its metadata that hold words of the speaker. The
-- placeholder of an artifact stays whole, even if its key looks random.
create or replace function memory._masked_message(p_message memory.messages)
returns memory.messages
language plpgsql stable parallel safe
as $$
declare
  masked constant text := memory._without_credentials(p_message.content);
begin
  if p_message.artifact_key is null or memory._ref_in(masked, p_message.artifact_key) is not null then
    p_message.content := masked;
  end if;
  p_message.metadata := memory._masked_metadata(p_message.metadata);
  p_message.token_count := memory._estimated_tokens(p_message.content, p_message.metadata);
  return p_message;
end;
$$;

create or replace function memory._masked_metadata(p_metadata jsonb)
returns jsonb
language plpgsql immutable parallel safe
as $$
declare
  said constant text[] := array['tool_calls', 'function_call', 'content', 'refusal', 'audio', 'parsed', 'reasoning',
    'reasoning_content', 'reasoning_details',
    -- Adapters of frameworks keep further parts of a message here, such as other texts or thoughts.
    'autogen', 'langchain', 'llama_index', 'openai_agents', 'pydantic_ai'];
begin
  return case when p_metadata ?| said then p_metadata || memory._json_without_credentials((
      select coalesce(jsonb_object_agg(m.key, m.value), '{}')
      from jsonb_each(p_metadata) as m where m.key = any (said))) else p_metadata end;
end;
$$;

-- A message that memory._append() has booked, with marks; its thread counts the fewer tokens.
create or replace function memory._masked_booked_message(p_message memory.messages)
returns memory.messages
language plpgsql volatile parallel unsafe
as $$
declare
  tokens constant int := p_message.token_count;
begin
  p_message := memory._masked_message(p_message);
  if p_message.token_count <> tokens then
    perform memory._count_messages(p_message.user_id, p_message.thread_id, 0, p_message.token_count - tokens);
  end if;
  return p_message;
end;
$$;

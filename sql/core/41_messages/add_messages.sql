create or replace function memory.add_messages(
  user_id text, thread_id text, messages jsonb, agent_id text default 'default'
)
returns setof memory.stored_message
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  given memory.messages[];
begin
  perform memory._check_chat_messages(messages);
  begin
    given := memory._parse_messages(user_id, thread_id, agent_id, messages);
  exception
    when data_exception then
      perform memory._refuse_times('messages', messages, array['created_at']);
      raise;
  end;
  return query select w.* from unnest(memory._write_messages(user_id, thread_id, agent_id, given,
    jsonb_path_exists(messages, '$[*].idempotency_key.type() ? (@ != "null")'), messages)) as w;
end;
$$;
comment on function memory.add_messages(text, text, jsonb, text) is
'Appends an array of OpenAI chat messages in one call and returns them as stored, in order; all or none. '
'Each message may also have created_at, metadata and idempotency_key. '
'tool_calls, tool_call_id and name are kept in metadata. For an agent without the resource memory nothing is stored: '
'every seq is null.';

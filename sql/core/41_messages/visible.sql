-- Who can see a message. An active message (is_active) stands in its thread, whose counters count it. A message that is
-- not active and has a summary_id was put away by a compression: it has left its thread, but search still finds it. Any
-- other message was cleared.

-- Whether a message is part of its conversation: it stands in its thread and has not expired.
create or replace function memory._is_current_message(p_is_active boolean, p_expires_at timestamptz)
returns boolean
language sql stable parallel safe
begin atomic
  select p_is_active and p_expires_at > statement_timestamp();
end;

-- Whether a message was not cleared: it is active, or compression has put it away.
create or replace function memory._is_kept_message(p_is_active boolean, p_summary_id uuid)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_is_active or p_summary_id is not null;
end;

-- Whether search finds a message and jobs may read it: it is neither cleared nor expired.
create or replace function memory._is_readable_message(p_is_active boolean, p_summary_id uuid, p_expires_at timestamptz)
returns boolean
language sql stable parallel safe
begin atomic
  select memory._is_current_message(memory._is_kept_message(p_is_active, p_summary_id), p_expires_at);
end;

-- The current messages of a thread: of one agent, or of all when p_agent_id is null.
create or replace function memory._active_messages(p_user_id text, p_thread_id text, p_agent_id text)
returns setof memory.messages
language sql stable parallel safe
begin atomic
  select m.* from memory.messages as m
  where m.user_id = p_user_id and m.thread_id = p_thread_id
    and (p_agent_id is null or m.agent_id = p_agent_id)
    and memory._is_current_message(m.is_active, m.expires_at);
end;

-- The messages of all threads of a user that search may find and jobs may read.
create or replace function memory._searchable_messages(p_user_id text)
returns setof memory.messages
language sql stable parallel safe
begin atomic
  select m.* from memory.messages as m
  where m.user_id = p_user_id and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at);
end;

-- The tokens of the active messages in a range of a thread, added up from these messages.
create or replace function memory._tokens_between(p_user_id text, p_thread_id text, p_from_seq bigint, p_to_seq bigint)
returns bigint
language plpgsql stable parallel safe
as $$
begin
  return coalesce(sum(m.token_count), 0) from memory.messages as m
  where m.user_id = p_user_id and m.thread_id = p_thread_id
    and m.seq between p_from_seq and p_to_seq and m.is_active;
end;
$$;

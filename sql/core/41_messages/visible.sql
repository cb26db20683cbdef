-- Whether a message is part of its conversation: neither cleared, compressed nor expired.
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

-- Whether search finds a message and jobs may read it: it is neither cleared nor expired. A compressed message is out
-- of its thread, but not out of search.
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

-- The messages of all threads of a user that are neither cleared nor expired, including messages that compression has
-- taken out of their threads.
create or replace function memory._searchable_messages(p_user_id text)
returns setof memory.messages
language sql stable parallel safe
begin atomic
  select m.* from memory.messages as m
  where m.user_id = p_user_id and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at);
end;

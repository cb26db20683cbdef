-- The newest messages of a thread, back to p_from_seq, that fit into p_budget tokens: the seq of the oldest of them, the
-- tokens of all, and whether others are left out for want of tokens. Tool results count as one unit with the message
-- that called the tools. The newest unit counts even when it does not fit.
create or replace function memory._fit_messages(
  p_user_id text, p_thread_id text, p_agent_id text, p_from_seq bigint, p_budget int
)
returns table (oldest_seq bigint, tokens int, is_cut boolean)
language plpgsql stable parallel safe
-- The primary key is walked backwards and left early. A plan that sorts would read the whole thread first.
set enable_sort = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  message record;
  unit_tokens int := 0;
  newest_of_unit bigint;
begin
  tokens := 0;
  is_cut := false;
  for message in
    select m.seq, m.role, memory._message_tokens(m) as tokens
    from (
      -- The limit ends the walk at the oldest active message, so that compressed messages before it are not read.
      select a.* from memory.messages as a
      where a.user_id = p_user_id and a.thread_id = p_thread_id and a.is_active
      order by a.seq desc
      limit (select t.message_count from memory.threads as t
             where t.user_id = p_user_id and t.thread_id = p_thread_id)
    ) as m
    where (p_agent_id is null or m.agent_id = p_agent_id) and memory._is_current_message(m.is_active, m.expires_at)
    order by m.seq desc
  loop
    unit_tokens := unit_tokens + message.tokens;
    newest_of_unit := coalesce(newest_of_unit, message.seq);
    if message.role <> 'tool' then
      exit when oldest_seq is not null and newest_of_unit < p_from_seq;
      is_cut := oldest_seq is not null and tokens + unit_tokens > p_budget;
      exit when is_cut;
      oldest_seq := message.seq;
      tokens := tokens + unit_tokens;
      unit_tokens := 0;
      newest_of_unit := null;
    end if;
  end loop;
  -- If the calling message is gone and nothing else is there, the tool results count as one unit.
  if oldest_seq is null and newest_of_unit is not null then
    oldest_seq := message.seq;
    tokens := unit_tokens;
  end if;
  return next;
end;
$$;

-- The tokens of a message: exact once a job has counted them; before that the higher of two estimates, so that no limit
-- is broken.
create or replace function memory._message_tokens(p_message memory.messages)
returns int
language plpgsql immutable parallel safe
as $$
begin
  return case
    when p_message.is_counted then p_message.token_count
    else greatest(
      p_message.token_count,
      memory._tokens_at_most(p_message.content)
        + coalesce(memory._tokens_at_most(p_message.metadata ->> 'tool_calls'), 0)) end;
end;
$$;

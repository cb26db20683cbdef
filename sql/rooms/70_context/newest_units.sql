-- The newest messages of a thread that fit into p_max_tokens, in units. A tool's results are one unit with the message
-- that called the tools, because a chat API accepts neither without the other. For each unit, newest first: the seq of
-- its oldest message (oldest), the seq of its newest message (newest), and the tokens of this unit and all newer units
-- (tokens). is_more: older messages are left out. The newest unit is included even if it has more tokens. message_seqs,
-- message_tokens: the tokens of each message that was read, because counting tokens is most of the work. beginning: the
-- instructions that begin the thread. They belong to no unit. The function keeps beginning_tokens of p_max_tokens free
-- for the instructions, and returns none of them if the newest unit leaves fewer tokens.
create or replace function memory._newest_units(
  p_user_id text, p_thread_id text, p_agent_id text, p_max_tokens int,
  out oldest bigint[], out newest bigint[], out tokens int[], out is_more boolean,
  out message_seqs bigint[], out message_tokens int[],
  out beginning bigint[], out beginning_tokens int
)
language plpgsql stable parallel safe
-- A plan with these settings walks the primary key backwards and stops early. A plan that sorts would read the whole
-- thread first.
set enable_sort = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  message record;
  instructions constant bigint[] := memory._opening(p_user_id, p_thread_id);
  room int;
  total int := 0;
  newest_of_unit bigint;
begin
  oldest := '{}';
  newest := '{}';
  tokens := '{}';
  is_more := false;
  message_seqs := '{}';
  message_tokens := '{}';
  beginning_tokens := 0;
  if instructions <> '{}' then
    select coalesce(array_agg(m.seq), '{}'), coalesce(array_agg(t.tokens), '{}'), coalesce(sum(t.tokens), 0)
    into message_seqs, message_tokens, beginning_tokens
    from memory._active_messages(p_user_id, p_thread_id, p_agent_id) as m
    cross join lateral memory._message_tokens(
      m.is_counted, m.token_count, m.content, m.metadata ->> 'tool_calls') as t (tokens)
    where m.seq between instructions[1] and instructions[cardinality(instructions)];
  end if;
  beginning := message_seqs;
  room := p_max_tokens - beginning_tokens;
  for message in
    select m.seq, m.role, m.is_counted, m.token_count, m.content, m.metadata ->> 'tool_calls' as tool_calls
    from (
      -- The limit ends the walk at the oldest active message, so that the function does not read compressed messages
      -- before it.
      select a.* from memory.messages as a
      where a.user_id = p_user_id and a.thread_id = p_thread_id and a.is_active
        and a.seq >= coalesce(instructions[cardinality(instructions)] + 1, 0)
      order by a.seq desc
      limit (select t.message_count from memory.threads as t
             where t.user_id = p_user_id and t.thread_id = p_thread_id)
    ) as m
    where (p_agent_id is null or m.agent_id = p_agent_id) and memory._is_current_message(m.is_active, m.expires_at)
    order by m.seq desc
  loop
    -- Not in the query, of which PostgreSQL reads up to 50 rows ahead.
    message_tokens := message_tokens || memory._message_tokens(
      message.is_counted, message.token_count, message.content, message.tool_calls);
    message_seqs := message_seqs || message.seq;
    total := total + message_tokens[cardinality(message_tokens)];
    newest_of_unit := coalesce(newest_of_unit, message.seq);
    if message.role <> 'tool' then
      if oldest = '{}' and total > room then
        beginning := '{}';
        room := p_max_tokens;
      end if;
      is_more := oldest <> '{}' and total > room;
      exit when is_more;
      oldest := oldest || message.seq;
      newest := newest || newest_of_unit;
      tokens := tokens || total;
      newest_of_unit := null;
    end if;
  end loop;
  -- If the thread has only tool results, because the message that called the tools is gone, the results count as one
  -- unit.
  if oldest = '{}' and newest_of_unit is not null then
    oldest := array[message.seq];
    newest := array[newest_of_unit];
    tokens := array[total];
  end if;
end;
$$;

-- The number of tokens of a message: the exact number once a job has counted the tokens; before that the higher of two
-- estimates, so that the context breaks no limit.
create or replace function memory._message_tokens(
  p_is_counted boolean, p_token_count int, p_content text, p_tool_calls text
)
returns int
language sql immutable parallel safe
begin atomic
  select case
    when p_is_counted then p_token_count
    else greatest(
      p_token_count,
      memory._tokens_at_most(p_content)
        + case when p_tool_calls is null then 0 else memory._tokens_at_most(p_tool_calls) end) end;
end;

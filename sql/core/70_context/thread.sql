-- The thread in a context: its newest messages, whole rounds first.

-- The newest messages of a thread that fit into p_max_tokens, in units, newest first. A tool's results are one unit
-- with the message that called the tools, because a chat API accepts neither without the other. The tokens of a unit
-- have what stays recalled before its messages (p_kept_seqs, p_kept_tokens). is_more: older messages are left out. The
-- newest unit is included even if it has more tokens. message_seqs, message_tokens: the tokens of each message that was
-- read, because counting tokens is most of the work. beginning: the instructions that begin the thread. They belong to
-- no unit. The function keeps beginning_tokens of p_max_tokens free for the instructions, and returns none of them if
-- the newest unit leaves fewer tokens. request: the newest message of the user. Its tokens (request_tokens) count with
-- the newest unit, so that the context has both: always while the round of the request is open (is_open), otherwise if
-- both fit.
create or replace function memory._newest_units(
  p_asking memory._asking, p_max_tokens int, p_kept_seqs bigint[], p_kept_tokens int[],
  out units memory._unit[], out is_more boolean, out message_seqs bigint[], out message_tokens int[],
  out beginning bigint[], out beginning_tokens int, out request bigint, out request_tokens int, out is_open boolean
)
language plpgsql stable parallel safe
-- A plan with these settings walks the primary key backwards and stops early. A plan that sorts would read the whole
-- thread first.
set enable_sort = off
as $$
declare
  message record;
  instructions constant bigint[] := memory._opening(p_asking.user_id, p_asking.thread_id);
  room int;
  total int;
  newest_of_unit bigint;
begin
  units := array[]::memory._unit[];
  is_more := false;
  select coalesce(array_agg(m.seq), '{}'), coalesce(array_agg(t.tokens), '{}'), coalesce(sum(t.tokens), 0)
  into message_seqs, message_tokens, beginning_tokens
  from memory._active_messages(p_asking.user_id, p_asking.thread_id, p_asking.agent_id) as m
  cross join lateral memory._message_tokens(m.is_counted, m.token_count, m.content, m.metadata) as t (tokens)
  where m.seq between instructions[1] and instructions[cardinality(instructions)];
  beginning := message_seqs;
  room := p_max_tokens - beginning_tokens;
  select r.seq, r.is_open, t.tokens into request, is_open, request_tokens
  from memory._newest_request(p_asking.user_id, p_asking.thread_id, p_asking.agent_id) as r
  cross join lateral memory._message_tokens(r.is_counted, r.token_count, r.content, r.metadata) as t (tokens);
  total := coalesce(request_tokens, 0);
  for message in
    select m.seq, m.role, m.is_counted, m.token_count, m.content, m.metadata
    from (
      -- The limit ends the walk at the oldest active message, so that the function does not read compressed messages
      -- before it.
      select a.* from memory.messages as a
      where a.user_id = p_asking.user_id and a.thread_id = p_asking.thread_id and a.is_active
        and a.seq >= coalesce(instructions[cardinality(instructions)] + 1, 0)
      order by a.seq desc
      limit (select t.message_count from memory.threads as t
             where t.user_id = p_asking.user_id and t.thread_id = p_asking.thread_id)
    ) as m
    where (p_asking.agent_id is null or m.agent_id = p_asking.agent_id)
      and memory._is_current_message(m.is_active, m.expires_at)
    order by m.seq desc
  loop
    -- Not in the query, of which PostgreSQL reads up to 50 rows ahead.
    message_tokens := message_tokens || memory._message_tokens(
      message.is_counted, message.token_count, message.content, message.metadata);
    message_seqs := message_seqs || message.seq;
    if message.seq is distinct from request then
      total := total + message_tokens[cardinality(message_tokens)]
        + coalesce(p_kept_tokens[array_position(p_kept_seqs, message.seq)], 0);
    end if;
    newest_of_unit := coalesce(newest_of_unit, message.seq);
    continue when message.role = 'tool';
    if cardinality(units) > 0 then
      is_more := total > room;
      exit when is_more;
    else
      if total > p_max_tokens and not is_open and message.seq > request then
        total := total - request_tokens;
        request := null;
      end if;
      if total > room then
        beginning := '{}';
        room := p_max_tokens;
      end if;
    end if;
    units := units || row(message.seq, newest_of_unit, total, message.role = 'user')::memory._unit;
    newest_of_unit := null;
  end loop;
  -- If the thread has only tool results, because the message that called the tools is gone, the results count as one
  -- unit.
  if cardinality(units) = 0 and newest_of_unit is not null then
    units := array[row(message.seq, newest_of_unit, total, false)::memory._unit];
  end if;
  if cardinality(units) = 0 then
    request := null;
  elsif not request = any (message_seqs) then
    message_seqs := message_seqs || request;
    message_tokens := message_tokens || request_tokens;
  end if;
end;
$$;

-- The number of tokens of a message: the exact number once a job has counted the tokens; before that the higher of two
-- estimates, so that the context breaks no limit.
create or replace function memory._message_tokens(
  p_is_counted boolean, p_token_count int, p_content text, p_metadata jsonb
)
returns int
language sql immutable parallel safe
begin atomic
  select case
    when p_is_counted then p_token_count
    else greatest(
      p_token_count,
      memory._tokens_at_most(p_content)
        + case when p_metadata ? 'tool_calls' then memory._tokens_at_most(p_metadata ->> 'tool_calls') else 0 end
        + memory._file_tokens(p_metadata)) end;
end;

-- The tokens that the thread needs beside all other parts: of all its messages while it is under the threshold of its
-- compression, otherwise of the newest messages up to the threshold. The thread's own counter decides which case
-- applies, because it counts fewer tokens than a context.
create or replace function memory._whole_thread_tokens(p_asking memory._asking)
returns int
language plpgsql stable parallel safe
as $$
begin
  return coalesce((
    select coalesce((u.units[cardinality(u.units)]).tokens, 0) + u.beginning_tokens
    from memory.threads as t
    cross join lateral (select (p_asking.policy #>> '{compression,threshold_tokens}')::bigint as threshold) as c
    cross join lateral memory._newest_units(
      p_asking,
      case when t.active_tokens <= c.threshold then 2147483647 else least(c.threshold, 2147483647) end::int,
      null, null) as u
    where t.user_id = p_asking.user_id and t.thread_id = p_asking.thread_id), 0);
end;
$$;

-- The messages that a context shows: of the thread (messages and tokens as memory._newest_units() returns them) those
-- from p_from_seq on, the instructions and the request. If the context is explained, those that it does not show stand
-- beside them.
create or replace function memory._message_offers(
  p_asking memory._asking, p_seqs bigint[], p_tokens int[], p_from_seq bigint, p_beginning bigint[],
  p_request bigint, p_covered bigint
)
returns memory._offer[]
language plpgsql stable parallel safe
as $$
declare
  offers memory._offer[];
begin
  offers := array(
    select row(
      case when u.seq = any (p_beginning) then 0 when u.seq < p_request then 8 else 12 end, u.seq, 'message',
      u.seq::text, m.role,
      case when memory._is_held_back(p_asking.user_id, p_asking.thread_id, u.seq, m.role, m.metadata, m.content)
        then memory._quarantine_notice() else m.content end,
      u.tokens, case when m.files is null then m.metadata else memory._with_files(m.metadata, m.files) end, null, null,
      null)::memory._offer
    from unnest(p_seqs, p_tokens) as u (seq, tokens)
    cross join lateral (
      select a.* from memory.messages as a
      where a.user_id = p_asking.user_id and a.thread_id = p_asking.thread_id and a.seq = u.seq
      offset 0) as m
    where u.seq >= p_from_seq or u.seq = any (p_beginning) or u.seq = p_request);
  if p_asking.explains then
    offers := offers || array(
      select memory._left_out('message', case
          when not m.is_active then 'compressed: a summary took its place'
          when m.seq <= p_covered then 'does not fit; a summary stands for it'
          else 'does not fit' end, m.token_count, m.seq::text)
      from memory.messages as m
      where m.user_id = p_asking.user_id and m.thread_id = p_asking.thread_id and m.seq < p_from_seq
        and m.seq <> all (p_beginning) and m.seq is distinct from p_request
        and (p_asking.agent_id is null or m.agent_id = p_asking.agent_id)
        and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
      order by m.seq desc);
  end if;
  return offers;
end;
$$;

-- The times at which memories were said, and the changes to a memory that is said again. Jobs end in any order, so the
-- order in which extracted memories were stored decides nothing.

-- The time that orders memories which disagree: when a message or the application last said the memory. A memory that
-- was said only once counts as said when it began, or else when it was stored.
create or replace function memory._stated_at(p_memory memory.memories)
returns timestamptz
language sql immutable parallel safe
begin atomic
  select coalesce((p_memory).said_at, (p_memory).valid_from, (p_memory).created_at);
end;

-- A value that orders memories by when they were said: of two memories, the one with the greater value was said later.
-- The value consists of the time (microseconds since 1970), the number of the message in its thread, because messages
-- that are stored together have one time, and the confidence. Sort by thread_id, created_at and memory_id after this
-- value: one job stores the memories of one message in the order of the message's text.
create or replace function memory._said(p_memory memory.memories)
returns numeric[]
language plpgsql immutable parallel safe
as $$
begin
  return array[
    extract(epoch from memory._stated_at(p_memory)) * 1000000,
    coalesce((select max(s) from unnest(p_memory.source_seqs) as s), -1),
    p_memory.confidence::numeric];
end;
$$;

-- The memory that already says what a statement says; null if there is none. The function tries in this order:
--   - a current memory with the same content;
--   - a hidden memory with the same content: if it was hidden as a duplicate, the current memory that hides it;
--     otherwise the hidden memory itself, if its winner was said later than the statement;
--   - a current memory that gives the same attribute of the same subject the same value in a text of at least this
--     length.
create or replace function memory._known_memory(p_said memory.memories)
returns memory.memories
language plpgsql stable parallel safe
as $$
declare
  -- The hash is a variable for the reason given in memory._write_again().
  hash constant text := memory._content_hash(p_said.content);
  known memory.memories;
begin
  select m.* into known
  from memory.memories as m
  where m.user_id = p_said.user_id and m.agent_id = p_said.agent_id and m.content_hash = hash
    and memory._is_visible(m);
  if not found then
    select k.* into known
    from memory.memories as m
    join memory.memories as w on w.user_id = m.user_id and w.memory_id = m.superseded_by
    cross join lateral (select (case when memory._state(m) = 'duplicate' then w else m end).*) as k
    where m.user_id = p_said.user_id and m.agent_id = p_said.agent_id and m.content_hash = hash
      and m.superseded_at is not null and m.deleted_at is null and memory._is_unexpired(m.expires_at)
      and memory._is_current(w) and (memory._state(m) = 'duplicate' or memory._stated_at(w) > p_said.said_at)
    order by m.superseded_at desc limit 1;
  end if;
  if not found then
    select o.* into known
    from memory._other_values(p_said) as o
    where memory._value_of(o.metadata) = memory._value_of(p_said.metadata)
      and length(o.content) >= length(p_said.content)
    order by o.created_at limit 1;
  end if;
  return known;
end;
$$;

-- Notes that further messages said a known memory; returns false when these messages change nothing. The memory then
-- holds from the earliest time at which it was said, and counts as said at the latest. It names the messages of one
-- thread only: the thread in which it was said last.
create or replace function memory._say_again(p_known memory.memories, p_said memory.memories)
returns boolean
language plpgsql volatile parallel unsafe
as $$
declare
  is_later constant boolean := coalesce(p_said.said_at > memory._stated_at(p_known), false);
  is_earlier constant boolean := coalesce(p_said.valid_from < p_known.valid_from, false);
  seqs constant bigint[] := case
    when p_known.thread_id = p_said.thread_id
      then array(select distinct s from unnest(p_known.source_seqs || p_said.source_seqs) as s order by s)
    when is_later then p_said.source_seqs
    else p_known.source_seqs
  end;
begin
  -- A web page that repeats the user's statement changes nothing: the page would become the memory's source.
  if memory._is_stated(p_known)
    or not memory._may_outrank(
      memory._least_trust(p_known.user_id, p_said.thread_id, p_said.source_seqs), p_known.trust)
    or not is_later and not is_earlier and p_known.source_seqs @> seqs then
    return false;
  end if;
  update memory.memories as m
  set said_at = case when is_later then p_said.said_at else m.said_at end,
      valid_from = least(m.valid_from, p_said.valid_from),
      metadata = case
        when is_earlier then m.metadata - 'event_time' || coalesce(
          jsonb_strip_nulls(jsonb_build_object('event_time', p_said.metadata -> 'event_time')), '{}')
        else m.metadata
      end || coalesce(jsonb_strip_nulls(jsonb_build_object('fields', p_said.metadata -> 'fields')), '{}'),
      memory_type = memory._finer_type(m.memory_type, p_said.memory_type),
      thread_id = case when is_later then p_said.thread_id else m.thread_id end,
      source_seqs = seqs,
      operation = 'update'
  where m.user_id = p_known.user_id and m.memory_id = p_known.memory_id;
  return true;
end;
$$;

-- Notes that somebody states a memory once more, so that it counts as said now. An extracted memory counts as stated
-- from then on, and a memory of type "fact" takes the type of the new statement. If a tool or a web page repeats a
-- statement of people, nothing changes.
create or replace function memory._state_again(p_known memory.memories, p_said memory.new_memory)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  states constant boolean := memory._states(p_said.source);
  takes_source constant boolean := states and not p_known.is_stated;
  finer constant text := case
    when states or not p_known.is_stated then memory._finer_type(p_known.memory_type, p_said.memory_type)
    else p_known.memory_type end;
begin
  if not memory._may_outrank(
    least(memory._source_trust(p_said.source), memory._lowered(p_said.metadata)), p_known.trust) then
    return;
  end if;
  update memory.memories as m
  set source = case when takes_source then p_said.source else m.source end,
      memory_type = finer,
      subject = coalesce(m.subject, p_said.subject),
      attribute = coalesce(m.attribute, p_said.attribute),
      said_at = statement_timestamp(),
      operation = case when takes_source or m.memory_type <> finer
        or p_known.attribute is null and p_said.attribute is not null then 'update' else m.operation end
  where m.user_id = p_known.user_id and m.memory_id = p_known.memory_id
  returning m.* into p_known;
  if p_said.attribute is not null then
    perform memory._settle(p_known);
  end if;
end;
$$;

-- The times at which memories were said, and the changes of a memory that is said again. Jobs end in any order, so the
-- order in which memories were stored decides nothing about extracted memories.

-- The time that orders memories which disagree: the time of the newest message that states the memory. For a memory
-- that no message states, it is the writer's valid_from, or else the time at which the memory was last said.
create or replace function memory._stated_at(p_memory memory.memories)
returns timestamptz
language sql immutable parallel safe
begin atomic
  select coalesce(
    case when (p_memory).source_seqs is not null then (p_memory).said_at end,
    (p_memory).valid_from, (p_memory).said_at, (p_memory).created_at);
end;

-- The order in which memories were said: of two memories, the one with the greater value was said later. The value has
-- the time (microseconds since 1970), then the number of the message in its thread, because messages that are stored
-- together have one time, then the confidence. Sort by thread_id, created_at and memory_id after this value: one job
-- stores the memories of one message in the order of the message's text.
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

-- The memory that already has this content: a current memory, or an extracted memory that a job hid. The result is null
-- if the content must be stored. This includes an extracted memory that lost a contradiction to a stated memory,
-- because a reconciliation then decides anew.
create or replace function memory._known_memory(
  p_user_id text, p_agent_id text, p_content_hash text
)
returns memory.memories
language plpgsql stable parallel safe
as $$
declare
  known memory.memories;
begin
  select m.* into known
  from memory.memories as m
  where m.user_id = p_user_id
    and m.agent_id = p_agent_id
    and m.content_hash = p_content_hash
    and memory._is_current(m)
    and memory._is_unexpired(m.expires_at);
  if found then
    return known;
  end if;
  select m.* into known
  from memory.memories as m
  where m.user_id = p_user_id
    and m.agent_id = p_agent_id
    and m.content_hash = p_content_hash
    and m.superseded_at is not null
    and m.deleted_at is null
    and memory._is_unexpired(m.expires_at)
    and m.supersede_reason in ('duplicate', 'near-duplicate', 'contradict')
    and not memory._is_stated(m)
    and (m.supersede_reason <> 'contradict' or exists (
      select from memory.memories as w
      where w.user_id = m.user_id and w.memory_id = m.superseded_by and not memory._is_stated(w)))
  order by memory._said(m) desc, m.memory_id desc
  limit 1;
  return known;
end;
$$;

-- Notes that further messages said an extracted memory; returns false when these messages change nothing. The memory
-- holds from the earliest of these times and counts as said at the latest. It names the messages of one thread, the
-- thread in which it was said last.
create or replace function memory._say_again(
  p_known memory.memories, p_memory_type text, p_thread_id text, p_seqs bigint[], p_said_at timestamptz,
  p_valid_from timestamptz, p_event_time jsonb, p_fields jsonb
)
returns boolean
language plpgsql volatile parallel unsafe
as $$
declare
  is_later constant boolean := coalesce(
    p_said_at > coalesce(p_known.said_at, p_known.valid_from, p_known.created_at), false);
  is_earlier constant boolean := coalesce(p_valid_from < p_known.valid_from, false);
  seqs constant bigint[] := case
    when p_known.thread_id = p_thread_id
      then array(select distinct s from unnest(p_known.source_seqs || p_seqs) as s order by s)
    when is_later then p_seqs
    else p_known.source_seqs
  end;
begin
  -- A web page that repeats a statement of the user changes nothing, because the web page would become the source of
  -- the memory.
  if memory._is_stated(p_known)
    or not memory._may_outrank(memory._least_trust(p_known.user_id, p_thread_id, p_seqs), p_known.trust)
    or not is_later and not is_earlier and p_known.source_seqs @> seqs then
    return false;
  end if;
  update memory.memories as m
  set said_at = case when is_later then p_said_at else m.said_at end,
      valid_from = least(m.valid_from, p_valid_from),
      metadata = case
        when is_earlier
          then m.metadata - 'event_time' || jsonb_strip_nulls(jsonb_build_object('event_time', p_event_time))
        else m.metadata
      end || case when p_fields is null then '{}' else jsonb_build_object('fields', p_fields) end,
      memory_type = memory._finer_type(m.memory_type, p_memory_type),
      thread_id = case when is_later then p_thread_id else m.thread_id end,
      source_seqs = seqs,
      operation = 'update'
  where m.user_id = p_known.user_id and m.memory_id = p_known.memory_id;
  perform memory._win_again(p_known.user_id, p_known.memory_id);
  return true;
end;
$$;

-- Notes that somebody states a memory once more: the memory counts as said now. A memory that a model extracted counts
-- as stated from now on, and a plain fact takes the type of the new statement. Repetitions by a tool or a web page
-- change nothing about statements of people.
create or replace function memory._state_again(
  p_known memory.memories, p_source text, p_memory_type text, p_metadata jsonb
)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  states constant boolean := memory._states(p_source);
  takes_source constant boolean := states and not p_known.is_stated;
  finer constant text := case
    when states or not p_known.is_stated then memory._finer_type(p_known.memory_type, p_memory_type)
    else p_known.memory_type end;
begin
  if memory._may_outrank(least(memory._source_trust(p_source), memory._lowered(p_metadata)), p_known.trust) then
    update memory.memories as m
    set source = case when takes_source then p_source else m.source end,
        memory_type = finer,
        said_at = statement_timestamp(),
        operation = case when takes_source or m.memory_type <> finer then 'update' else m.operation end
    where m.user_id = p_known.user_id and m.memory_id = p_known.memory_id;
  end if;
end;
$$;

-- Lets an extracted memory hide its winner after all: the memory lost a contradiction to another extracted memory and
-- was said again later.
create or replace function memory._win_again(p_user_id text, p_loser uuid)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  loser memory.memories;
  winner memory.memories;
begin
  select m.* into loser from memory.memories as m
  where m.user_id = p_user_id and m.memory_id = p_loser and m.supersede_reason = 'contradict';
  select m.* into winner from memory.memories as m
  where m.user_id = p_user_id and m.memory_id = loser.superseded_by and memory._is_current(m);
  if winner.memory_id is null or memory._is_stated(winner) or memory._said(loser) <= memory._said(winner) then
    return;
  end if;
  perform memory._release(p_user_id, loser.memory_id);
  perform memory._supersede_all(p_user_id, array[winner.memory_id], loser.memory_id, 'contradict');
end;
$$;

-- Makes a hidden memory current again, unless its content was stored again meanwhile.
create or replace function memory._release(p_user_id text, p_memory_id uuid)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  update memory.memories as m
  set superseded_by = null, supersede_reason = null, superseded_at = null, operation = 'restore'
  where m.user_id = p_user_id and m.memory_id = p_memory_id and m.superseded_at is not null and m.deleted_at is null
    and not exists (
      select from memory.memories as o
      where o.user_id = m.user_id and o.agent_id = m.agent_id and o.content_hash = m.content_hash
        and memory._is_current(o));
end;
$$;

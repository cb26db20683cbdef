create or replace function memory.end_memory(
  user_id text, memory_id uuid, ended_at timestamptz default null, reason text default 'ended'
)
returns boolean
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  present memory.memories;
begin
  perform memory._check_id('user_id', user_id), memory._check_id('reason', reason);
  reason := memory._masked_note(user_id, null, reason);
  perform memory._check_moment('ended_at', ended_at);
  present := memory._locked_memory(user_id, memory_id);
  if not memory._is_current(present) then
    return false;
  elsif ended_at < present.valid_from then
    perform memory._refuse('ended_at', format('%s is before valid_from %s', ended_at, present.valid_from),
      'Pass the time at which it ceased to be true.');
  end if;
  return memory._end_memories(user_id, array[memory_id], null, reason, coalesce(ended_at, statement_timestamp())) > 0;
end;
$$;
comment on function memory.end_memory(text, uuid, timestamptz, text) is
'Notes that a memory no longer holds, and that no other memory takes its place: valid_to is ended_at (now by default), '
'and from then on lists, searches and contexts of now leave it out. as_of shows it as it was, unless reason is '
'corrected: then it was never true. Returns false if it was not current. memory.restore_memory() undoes that.';

-- Ends memories, or hides them behind a winner, and returns their number. p_at is the time at which they ceased to
-- hold. p_at is null for duplicates and for memories that were never true; these keep their valid_from and valid_to. A
-- memory whose p_at is in the future stays current until then. A memory without valid_from has held at least since it
-- was stored. If the losers are duplicates, their winner takes the earliest beginning and the latest time of saying,
-- but only from losers whose trust is high enough.
create or replace function memory._end_memories(
  p_user_id text, p_memory_ids uuid[], p_winner uuid, p_reason text, p_at timestamptz default null
)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  ended bigint;
begin
  if p_at > statement_timestamp() then
    update memory.memories as m
    set valid_to = greatest(m.valid_from, least(m.valid_to, p_at)), operation = 'end'
    where m.user_id = p_user_id and m.memory_id = any (p_memory_ids) and m.memory_id is distinct from p_winner
      and memory._is_current(m);
    get diagnostics ended = row_count;
    return ended;
  end if;
  update memory.memories as m
  set superseded_by = p_winner,
      supersede_reason = p_reason,
      superseded_at = statement_timestamp(),
      valid_to = case
        when p_at is null then m.valid_to
        else greatest(coalesce(m.valid_from, m.created_at), least(m.valid_to, p_at)) end,
      operation = case when p_winner is null then 'end' else 'supersede' end
  where m.user_id = p_user_id
    and m.memory_id = any (p_memory_ids)
    and m.memory_id is distinct from p_winner
    and m.deleted_at is null;
  get diagnostics ended = row_count;
  if ended > 0 and p_reason in ('duplicate', 'near-duplicate') then
    update memory.memories as w
    set valid_from = case when l.begins < coalesce(w.valid_from, w.created_at) then l.begins else w.valid_from end,
        said_at = greatest(memory._stated_at(w), l.said_at)
    from (
      select min(coalesce(m.valid_from, m.created_at)) as begins, max(memory._stated_at(m)) as said_at
      from memory._memories_by_ids(p_user_id, p_memory_ids) as m
      join memory._memories_by_ids(p_user_id, array[p_winner]) as o on o.memory_id = m.superseded_by
      where memory._may_outrank(m.trust, o.trust)) as l
    where w.user_id = p_user_id and w.memory_id = p_winner
      and (l.begins < coalesce(w.valid_from, w.created_at) or l.said_at > memory._stated_at(w));
  end if;
  return ended;
end;
$$;

-- Whether a statement may end this memory. The memory must be current or superseded by the statement, must not have
-- been said later, and must not come from somebody whose word counts more (memory._may_end()).
create or replace function memory._is_ended_by(p_target memory.memories, p_memory memory.memories)
returns boolean
language sql stable parallel safe
begin atomic
  select (memory._is_current(p_target) or (p_target).superseded_by = (p_memory).memory_id)
    and (p_target).memory_id is distinct from (p_memory).memory_id
    and memory._said_at(p_target) <= (p_memory).said_at
    and memory._may_end(p_memory, p_target);
end;

-- Ends the memories that p_noted names for a statement, if the statement may still end them, and returns their number.
-- The memory with the id p_successor takes their place, unless p_noted says that they are over.
create or replace function memory._end_as_noted(p_memory memory.memories, p_successor uuid, p_noted jsonb)
returns bigint
language plpgsql volatile parallel unsafe
as $$
begin
  p_memory.memory_id := p_successor;
  return memory._end_memories(
    p_memory.user_id, array(
      select m.memory_id
      from memory._memories_by_ids(p_memory.user_id, array(
        select i::uuid from jsonb_array_elements_text(p_noted -> 'memory_ids') as i)) as m
      where memory._is_ended_by(m, p_memory)),
    case when not (p_noted -> 'is_over')::boolean then p_successor end, p_noted ->> 'reason',
    (p_noted ->> 'at')::timestamptz);
end;
$$;

-- The end of validity (valid_to) that a memory had before it was ended or hidden, from its history. The result is null
-- for a value that plain SQL wrote and that no memory may have, so that a sweep does not fail because of it.
create or replace function memory._valid_to_before(p_memory memory.memories)
returns timestamptz
language plpgsql stable parallel safe
as $$
begin
  if p_memory.superseded_at is null and p_memory.operation <> 'end' then
    return p_memory.valid_to;
  end if;
  return case when memory._is_bound(h.valid_to) then h.valid_to end
  from memory.memory_history as h
  where h.user_id = p_memory.user_id and h.memory_id = p_memory.memory_id and h.supersede_reason is null
  order by h.version desc limit 1;
end;
$$;

-- A memory with an attribute gives one value of one thing, such as the home of the user or the phone number of the
-- daughter Lou. Policy memories.attributes says which attributes have one value at a time. A new value of such an
-- attribute ends the memory of the former value: nothing is deleted, and as_of still shows the former value.

-- The other valid memories of the same agent that give a value of the same attribute of the same subject.
create or replace function memory._other_values(p_memory memory.memories)
returns setof memory.memories
language sql stable parallel safe
begin atomic
  select m.*
  from memory.memories as m
  where m.user_id = (p_memory).user_id and m.agent_id = (p_memory).agent_id
    and m.attribute is not null and md5(lower(m.attribute)) = md5(lower((p_memory).attribute)) -- as the index has it
    and memory._subject(m.subject) = memory._subject((p_memory).subject)
    and m.memory_id is distinct from (p_memory).memory_id
    and memory._is_valid(m);
end;

-- The time at which a memory was said: the time of the newest message that states it, or else the time at which the
-- application stated it.
create or replace function memory._said_at(p_memory memory.memories)
returns timestamptz
language sql immutable parallel safe
begin atomic
  select coalesce((p_memory).said_at, (p_memory).created_at);
end;

-- Whether a memory may end another one. A stated memory may end an extracted one, unless its trust is low and lower
-- than the other's (memory._may_outrank()). Of two stated or two extracted memories, one may end the other if its trust
-- is at least as high. Otherwise a message of the user must be behind the memory, and none of low trust: an
-- assistant, a tool or a document ends nothing that a person stated.
create or replace function memory._may_end(p_memory memory.memories, p_other memory.memories)
returns boolean
language plpgsql stable parallel safe
as $$
declare
  states constant boolean := memory._is_stated(p_memory);
  is_stated constant boolean := memory._is_stated(p_other);
begin
  return states and not is_stated and memory._may_outrank(p_memory.trust, p_other.trust)
    or states = is_stated and p_memory.trust >= p_other.trust
    or not memory._is_low(p_memory.trust) and exists (
      select from memory._messages_by_seqs(p_memory.user_id, p_memory.thread_id, p_memory.source_seqs) as s
      where s.role = 'user' and memory._message_trust(s.role, s.metadata) >= p_other.trust
        and s.metadata ->> 'recalled' is distinct from 'true');
end;
$$;

-- Whether a memory was said after another one. If the application stated both, valid_from decides, because an
-- application that adds the past says since when each value held.
create or replace function memory._follows(p_memory memory.memories, p_other memory.memories)
returns boolean
language sql immutable parallel safe
begin atomic
  select case
    when num_nonnulls((p_memory).source_seqs, (p_other).source_seqs) = 0
      and (p_memory).valid_from <> (p_other).valid_from then (p_memory).valid_from > (p_other).valid_from
    else (memory._said_at(p_memory), coalesce((p_memory).source_seqs[cardinality((p_memory).source_seqs)], 0),
          (p_memory).created_at, (p_memory).memory_id)
      > (memory._said_at(p_other), coalesce((p_other).source_seqs[cardinality((p_other).source_seqs)], 0),
         (p_other).created_at, (p_other).memory_id)
  end;
end;

-- The memories with other values of the same attribute and subject that a memory replaced.
create or replace function memory._values_before(p_memory memory.memories)
returns setof memory.memories
language sql stable parallel safe
begin atomic
  select m.*
  from memory.memories as m
  where m.user_id = (p_memory).user_id and m.superseded_by = (p_memory).memory_id and m.supersede_reason = 'replaced'
    and m.deleted_at is null and lower(m.attribute) = lower((p_memory).attribute)
    and memory._subject(m.subject) = memory._subject((p_memory).subject);
end;

-- Ends the other values of the attribute of a new memory, if the attribute has one value at a time. Jobs end in any
-- order, so a memory that was said before the current value takes its place among the former values. A memory that no
-- longer holds ends nothing: "Last year I lived in Rome". A new memory that may not end the other is hidden by it.
create or replace function memory._settle(p_memory memory.memories)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  other memory.memories;
  later memory.memories; -- the value that followed the new memory
  begins constant timestamptz := coalesce(p_memory.valid_from, memory._said_at(p_memory));
begin
  if p_memory.valid_to <= statement_timestamp()
    or memory._has_one_value(p_memory) is not true
    or not exists ( -- another memory of the same statement may have ended it
      select from memory._memories_by_ids(p_memory.user_id, array[p_memory.memory_id]) as m
      where memory._is_current(m)) then
    return;
  end if;
  for other in select o.* from memory._other_values(p_memory) as o order by o.created_at, o.memory_id loop
    if memory._value_of(p_memory.metadata) = memory._value_of(other.metadata) then
      perform memory._end_memories(p_memory.user_id, array[other.memory_id], p_memory.memory_id, 'duplicate');
    elsif not memory._may_end(p_memory, other) then
      perform memory._end_memories(p_memory.user_id, array[p_memory.memory_id], other.memory_id, 'stated');
      return;
    elsif memory._follows(p_memory, other) then
      perform memory._end_memories(p_memory.user_id, array[other.memory_id], p_memory.memory_id, 'replaced', begins);
    else
      while other.memory_id is not null loop
        later := other;
        select b.* into other from memory._values_before(later) as b where memory._follows(b, p_memory) limit 1;
      end loop;
      perform memory._end_memories(p_memory.user_id, array(
          select b.memory_id from memory._values_before(later) as b where memory._follows(p_memory, b)),
        p_memory.memory_id, 'replaced', begins);
      -- If the later value was also said before the new memory, its valid_from is before the new memory begins. The new
      -- memory then ends when the later value was last said.
      perform memory._end_memories(p_memory.user_id, array[p_memory.memory_id], later.memory_id, 'replaced',
        case when later.valid_from > begins then later.valid_from else memory._said_at(later) end);
      return;
    end if;
  end loop;
end;
$$;

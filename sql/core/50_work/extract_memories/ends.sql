-- The known memories that a statement ends, as an object for memory._end_as_noted(); an empty object if it ends none.
-- These are the memories whose numbers the statement names. If it names none, they are chosen by its attribute:
--   - for a correction, the newest value of the attribute;
--   - for an end, the memory with the same value, or with any value if the statement has none;
--   - for a new value, the other values if the attribute has one value at a time, and the memory with the same value.
-- A statement that still holds also ends the memories that once replaced a memory with its words. All these memories
-- belong to the statement's agent, and the statement may end them (memory._is_ended_by()). The statement takes their
-- place, unless it only says that they are over.
create or replace function memory._known_to_end(
  p_job memory.jobs, p_memory memory.memories, p_successor uuid, p_effect jsonb
)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  is_over constant boolean := p_effect ->> 'status' = 'ended';
  corrects constant boolean := (p_effect ->> 'corrects')::boolean;
  numbered constant uuid[] := array(
    select (p_job.input #>> array['known', (n::numeric::int - 1)::text])::uuid
    from jsonb_array_elements_text(p_effect -> 'numbers') as n
    where n::numeric between 1 and jsonb_array_length(coalesce(p_job.input -> 'known', '[]')));
  value constant text := memory._value_of(p_memory.metadata);
  hash constant text := memory._content_hash(p_memory.content);
  targets uuid[];
begin
  if p_effect ->> 'status' = 'planned' then
    return jsonb '{}';
  end if;
  p_memory.memory_id := p_successor;
  targets := array(
    select m.memory_id from memory._memories_by_ids(p_job.user_id, numbered) as m
    where m.agent_id = p_memory.agent_id
      and (p_memory.subject is null or m.subject is null
        or memory._subject(m.subject) = memory._subject(p_memory.subject)));
  if targets = '{}' and p_effect ->> 'attribute' is not null then
    p_memory.attribute := p_effect ->> 'attribute';
    targets := array(
      select o.memory_id
      from memory._other_values(p_memory) as o
      where corrects
        or not is_over and coalesce(memory._has_one_value(p_memory), (p_effect ->> 'has_one_value')::boolean)
        -- A memory with the same value ends: it is over, or the new memory says more.
        or coalesce(memory._value_of(o.metadata) = value, is_over and p_memory.metadata ->> 'value' is null)
      order by memory._said(o) desc
      limit case when corrects then 1 end);
  end if;
  if not is_over then -- memories that had replaced these words end now
    targets := targets || array(
      select m.superseded_by from memory.memories as m
      where m.user_id = p_job.user_id and m.agent_id = p_memory.agent_id and m.content_hash = hash
        and m.superseded_at is not null and m.deleted_at is null and m.supersede_reason = 'replaced');
  end if;
  targets := array(
    select m.memory_id from memory._memories_by_ids(p_job.user_id, targets) as m
    where memory._is_ended_by(m, p_memory));
  if targets = '{}' then
    return jsonb '{}';
  end if;
  return jsonb_build_object(
    'memory_ids', targets, 'is_over', is_over,
    'reason', case when corrects then 'corrected' when is_over then 'ended'
      when p_memory.metadata ->> 'value' is not null and not exists (
        select from memory._memories_by_ids(p_job.user_id, targets) as m
        where memory._value_of(m.metadata) is distinct from value) then 'duplicate'
      else 'replaced' end,
    'at', case when corrects then null
      else coalesce((p_effect ->> 'at')::timestamptz, p_memory.valid_from, p_memory.said_at) end);
end;
$$;

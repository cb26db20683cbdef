-- The state of a memory, as lists and searches show it. Without as_of they show current memories; with as_of they also
-- show ended and replaced memories, which were true at that time.
create or replace function memory._state(p_memory memory.memories)
returns text
language sql stable parallel safe
begin atomic
  select case
    when (p_memory).quarantined_at is not null then 'quarantined'
    when (p_memory).deleted_at is not null then 'deleted'
    when (p_memory).superseded_at is null then
      case when (p_memory).valid_to <= statement_timestamp() then 'ended' else 'current' end
    when (p_memory).supersede_reason in ('duplicate', 'near-duplicate') then 'duplicate'
    when (p_memory).supersede_reason in ('corrected', 'stated') then 'corrected'
    when (p_memory).superseded_by is null then 'ended'
    else 'replaced'
  end;
end;

-- The time at which a memory was last said, from which a context counts its age. A memory that is found or recalled
-- gets no younger: searches and contexts write no memories. The start of its validity does not count: a person who says
-- today that she moved to Lisbon last year lives there today. If the memory begins to hold in the future, its age
-- counts from that time. The limit of memories goes by the time of storing instead (limit.sql).
create or replace function memory._last_said(p_memory memory.memories)
returns timestamptz
language sql immutable parallel safe
begin atomic
  select greatest(coalesce((p_memory).said_at, (p_memory).created_at), (p_memory).valid_from);
end;

-- The memories of a user that have these ids. Each is looked up by itself, because for "memory_id = any (p_memory_ids)"
-- a session whose first plan met an empty table reads all memories of the user.
create or replace function memory._memories_by_ids(p_user_id text, p_memory_ids uuid[])
returns setof memory.memories
language sql stable parallel safe
begin atomic
  select f.*
  from (select distinct i.id from unnest(p_memory_ids) as i (id)) as g
  cross join lateral (
    select m.* from memory.memories as m where m.user_id = p_user_id and m.memory_id = g.id offset 0) as f;
end;

-- These memories, and those into which version 0.1 merged any of them (source reconciliation). Their metadata names the
-- memories that they were merged from. Later versions merge no memories.
create or replace function memory._with_merged(p_user_id text, p_memory_ids uuid[])
returns uuid[]
language plpgsql stable parallel safe
as $$
begin
  return array(
    with recursive found as (
      select i as memory_id from unnest(p_memory_ids) as i
      union
      select m.memory_id
      from memory.memories as m join found as f on m.metadata -> 'merged_from' ? f.memory_id::text
      where m.user_id = p_user_id and m.source = 'reconciliation'
    )
    select f.memory_id from found as f);
end;
$$;

-- Users with ten short-term memories that are a week old and that no consolidation has looked at.
create or replace function memory._consolidate_overdue(p_row_limit int)
returns table (user_id text, scope text)
language plpgsql stable parallel safe
as $$
begin
  return query
  with outdated as materialized (
    select m.user_id
    from memory.memories as m
    left join memory.marks as k on k.user_id = m.user_id and k.scope = '' and k.kind = 'consolidate'
    where memory._is_short_term(m) and memory._is_current(m)
      and memory._microseconds(m.created_at) > coalesce(k.position, 0)
    group by m.user_id having count(*) >= 10
  )
  select o.user_id, '' from outdated as o
  where not memory._is_queued(o.user_id, 'consolidate', '')
  limit p_row_limit;
end;
$$;

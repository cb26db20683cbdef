-- Users who lack embeddings of a model that is not active and have no job to make them.
create or replace function memory._backfill_overdue(p_row_limit int)
returns table (user_id text, scope text)
language plpgsql stable parallel safe
as $$
begin
  return query
  select l.user_id, '' from memory._users_left_out(false) as l (user_id)
  where not memory._is_queued(l.user_id, 'backfill', '')
  limit p_row_limit;
end;
$$;

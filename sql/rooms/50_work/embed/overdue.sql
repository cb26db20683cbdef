-- Users who lack embeddings of the active model and have no job to make them.
create or replace function memory._embed_overdue(p_row_limit int)
returns table (user_id text, scope text)
language plpgsql stable parallel safe
as $$
begin
  return query
  select l.user_id, '' from memory._users_left_out(true) as l (user_id)
  where not memory._is_queued(l.user_id, 'embed', '')
  limit p_row_limit;
end;
$$;

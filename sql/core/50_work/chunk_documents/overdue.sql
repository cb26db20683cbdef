-- Users with documents that wait to be cut, but without a job to cut them. This happens when a document is stored at
-- the very moment at which a job ends.
create or replace function memory._chunk_documents_overdue(p_row_limit int)
returns table (user_id text, scope text)
language plpgsql stable parallel safe
as $$
begin
  return query
  with left_out as materialized (
    select distinct c.user_id from memory.document_chunks as c where c.token_count is null
  )
  select l.user_id, '' from left_out as l
  where not memory._is_queued(l.user_id, 'chunk_documents', '')
  limit p_row_limit;
end;
$$;

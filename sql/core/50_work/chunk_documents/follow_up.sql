-- Another job follows while documents of the user wait to be cut.
create or replace function memory._chunk_documents_follow_up(p_job memory.jobs)
returns jsonb
language plpgsql stable parallel safe
as $$
begin
  return case when exists (
    select from memory.document_chunks as c where c.user_id = p_job.user_id and c.token_count is null
  ) then jsonb '{}' end;
end;
$$;

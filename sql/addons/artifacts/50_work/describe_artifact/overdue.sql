-- Users with artifacts that wait for a description, but without a job that makes it: an artifact was stored at the very
-- moment at which a job ended, or no model could describe another artifact.
create or replace function memory._describe_artifact_overdue(p_row_limit int)
returns table (user_id text, scope text)
language plpgsql stable parallel safe
as $$
begin
  return query
  with left_out as materialized (
    select distinct a.user_id from memory.artifacts as a
    where a.awaits_description and a.quarantined_at is null
      and memory._is_unexpired(a.expires_at)
  )
  select l.user_id, '' from left_out as l
  where not memory._is_queued(l.user_id, 'describe_artifact', '')
  limit p_row_limit;
end;
$$;

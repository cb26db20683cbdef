-- Users whose texts must be parsed anew, because search.language was changed, but who have no job for it: another
-- transaction held the job when the language was changed, or the job died because somebody held a text. After a dead
-- job an hour passes.
create or replace function memory._parse_artifacts_overdue(p_row_limit int)
returns table (user_id text, scope text)
language plpgsql stable parallel safe
as $$
begin
  return query
  with left_out as materialized (
    select u.user_id from memory._parse_artifacts_users() as u (user_id)
  )
  select l.user_id, '' from left_out as l
  where not memory._is_queued(l.user_id, 'parse_artifacts', '')
    and not exists (
      select from memory.jobs as j
      where j.user_id = l.user_id and j.kind = 'parse_artifacts' and j.status = 'dead'
        and j.finished_at > statement_timestamp() - interval '1 hour')
  limit p_row_limit;
end;
$$;

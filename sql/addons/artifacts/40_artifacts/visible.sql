-- The artifacts of a user that have not expired and are not in quarantine. Only memory.sweep() sees expired artifacts.
-- The planner inlines this function; a SET clause would prevent that.
create or replace function memory._current_artifacts(p_user_id text)
returns setof memory.artifacts
language sql stable parallel safe
begin atomic
  select a.*
  from memory.artifacts as a
  where a.user_id = p_user_id
    and a.quarantined_at is null
    and memory._is_unexpired(a.expires_at);
end;

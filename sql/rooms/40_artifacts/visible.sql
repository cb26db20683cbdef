-- The artifacts of a user that have not expired and are not in quarantine. Only memory.sweep() sees expired ones.
create or replace function memory._current_artifacts(p_user_id text)
returns setof memory.artifacts
language sql stable parallel safe
begin atomic
  select a.*
  from memory.artifacts as a
  where a.user_id = p_user_id
    and a.quarantined_at is null
    and (a.expires_at is null or a.expires_at > statement_timestamp());
end;

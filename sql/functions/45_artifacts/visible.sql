-- The artifacts that there are: one that has expired is gone for everyone but memory.sweep(). Inlined by the planner, hence
-- no SET clause.
create or replace function memory._current_artifacts(p_user_id text)
returns setof memory.artifacts
language sql stable parallel safe
begin atomic
  select a.* from memory.artifacts as a
  where a.user_id = p_user_id and (a.expires_at is null or a.expires_at > statement_timestamp());
end;

-- Users who have artifacts.
create or replace function memory._artifacts_users()
returns setof text
language sql stable parallel safe
begin atomic
  select t.user_id from memory.artifacts as t;
end;

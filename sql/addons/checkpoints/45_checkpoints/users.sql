-- Users who have checkpoints.
create or replace function memory._checkpoints_users()
returns setof text
language sql stable parallel safe
begin atomic
  select t.user_id from memory.checkpoints as t;
end;

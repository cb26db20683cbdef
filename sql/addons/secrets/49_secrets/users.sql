-- Users who have secrets.
create or replace function memory._secrets_users()
returns setof text
language sql stable parallel safe
begin atomic
  select t.user_id from memory.secrets as t;
end;

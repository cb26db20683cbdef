-- A space is memory that several users share. To all tables and functions it is a user whose id begins with "space:".

-- Whether a user_id is that of a space.
create or replace function memory._is_space(p_user_id text)
returns boolean
language sql immutable parallel safe
begin atomic
  select starts_with(p_user_id, 'space:');
end;

-- The user_id of a space.
create or replace function memory._user_of_space(p_space text)
returns text
language sql immutable parallel safe
begin atomic
  select 'space:' || p_space;
end;

-- The name of the space that has this user_id; null for any other user_id.
create or replace function memory._space_of(p_user_id text)
returns text
language sql immutable parallel safe
begin atomic
  select case when memory._is_space(p_user_id) then substr(p_user_id, 7) end;
end;

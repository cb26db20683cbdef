-- Whether a space is granted to a user.
create or replace function memory._sharing_knows(p_user_id text)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return exists (select from memory.space_grants as g where g.member = p_user_id);
end;
$$;

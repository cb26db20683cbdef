-- Removes a forgotten user and the details from rows of memory.audit, and returns the number of these rows. The caller
-- and the function of each row stay.
create or replace function memory._forget_in_audit(p_user_id text)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  changed bigint;
begin
  update memory.audit as a set user_id = null, details = '{}' where a.user_id = p_user_id;
  get diagnostics changed = row_count;
  return changed;
end;
$$;

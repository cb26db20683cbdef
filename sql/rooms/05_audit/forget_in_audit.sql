-- Takes a user who is forgotten out of memory.audit, and returns out of how many rows: who has called which function
-- stays, and what for does not.
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

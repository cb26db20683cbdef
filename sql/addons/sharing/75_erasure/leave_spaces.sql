-- Takes a user out of all spaces, and with p_forgets also removes what the user wrote there; returns the number of
-- removed rows by table.
create or replace function memory._leave_spaces(p_user_id text, p_forgets boolean)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  gone jsonb := jsonb '{}';
  removed bigint;
begin
  delete from memory.space_grants as g where g.member = p_user_id;
  get diagnostics removed = row_count;
  gone := memory._counting(gone, 'space_grants', removed);
  if p_forgets then
    return memory._added(gone, memory._forget_contributions(p_user_id));
  end if;
  delete from memory.space_writes as w where w.member = p_user_id;
  get diagnostics removed = row_count;
  return memory._counting(gone, 'space_writes', removed);
end;
$$;

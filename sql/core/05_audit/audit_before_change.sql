-- Refuses changes of the rows of memory.audit, and deletions in the first 400 days. Two changes are allowed. The
-- erasure of a user removes the user and the details from a row, or only the details that name the user. The merge of a
-- user writes the id of the other user into the row. The trigger also binds the owner of the table until the owner
-- disables it, which memory.doctor() reports.
create or replace function memory._audit_before_change()
returns trigger
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'DELETE' and old.at < statement_timestamp() - interval '400 days' then
    return old;
  elsif tg_op = 'UPDATE' and new.user_id is null and new.details = '{}'
    and (new.audit_id, new.at, new.login_role, new.role, new.function)
      is not distinct from (old.audit_id, old.at, old.login_role, old.role, old.function) then
    return new;
  elsif tg_op = 'UPDATE' and {{are copied}} -- by memory.merge_users() or memory.forget_user()
    and new.details in (old.details, '{}')
    and (new.audit_id, new.at, new.login_role, new.role, new.function)
      is not distinct from (old.audit_id, old.at, old.login_role, old.role, old.function) then
    return new;
  end if;
  raise exception 'memory.audit keeps its rows for 400 days'
    using errcode = '42501', hint = 'memory.sweep() deletes older ones; memory.forget_user() takes a user out.';
end;
$$;

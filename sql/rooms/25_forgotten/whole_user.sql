-- Changes of all rows of a user at once, which triggers let pass by.

-- Whether triggers let the rows of this statement pass by, once the setting memory.rows_are_copied says so: every role
-- can set that, so only who may create objects in the schema is believed, or a function that has noted its transaction.
create or replace function memory._changes_whole_user()
returns boolean
language plpgsql stable parallel safe security definer -- writers have no rights on the table
set search_path = pg_catalog, pg_temp
as $$
begin
  return has_schema_privilege(session_user, 'memory', 'create') or exists (
    select from memory.whole_user_changes as c where c.transaction_id = pg_current_xact_id_if_assigned());
end;
$$;

-- Lets one transaction at a time forget something of a user or import the user: an import that read the tombstones
-- before another transaction stored one would bring back what that removed. Rows that were committed after the snapshot
-- of a transaction with another isolation level are not visible to it, so they would stay.
create or replace function memory._lock_user(p_user_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    perform memory._refuse('user_id',
      format('cannot be forgotten or imported in a %s transaction', current_setting('transaction_isolation')),
      'Such a transaction does not see what others have stored meanwhile. Use read committed.', '0A000');
  end if;
  -- No advisory lock: every role sees its number in pg_locks meanwhile, and could keep that lock from then on.
  insert into memory.user_locks (user_hash) values (memory._keyed_hash(memory._erasure_key(), p_user_id))
  on conflict on constraint user_locks_pkey do update set user_hash = excluded.user_hash;
end;
$$;

create or replace function memory._begin_whole_user_change()
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  insert into memory.whole_user_changes (transaction_id) values (pg_current_xact_id()) on conflict do nothing;
  perform set_config('memory.rows_are_copied', 'yes', true);
end;
$$;

create or replace function memory._end_whole_user_change()
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  delete from memory.whole_user_changes as c where c.transaction_id = pg_current_xact_id();
  perform set_config('memory.rows_are_copied', '', true);
end;
$$;

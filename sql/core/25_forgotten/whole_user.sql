-- Changes of all rows of a user at once. Triggers do nothing for these rows.

-- Whether triggers do nothing for the rows of this statement. Triggers ask once the setting memory.rows_are_copied says
-- so. Every role can set that, so the result is true only for a role that may create objects in the schema, and in a
-- transaction that a function has noted.
create or replace function memory._changes_whole_user()
returns boolean
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return has_schema_privilege(session_user, 'memory', 'create') or exists (
    select from memory.whole_user_changes as c
    where c.transaction_id = pg_current_xact_id_if_assigned() and c.change_name = memory._change_name());
end;
$$;

-- Lets one transaction at a time forget something of a user or import the user: an import that read the tombstones
-- before another transaction stored one would bring back the rows that this transaction removed. Refuses every
-- isolation level but read committed, because the transaction would not see, and not remove, rows that others have
-- committed since its snapshot.
create or replace function memory._lock_user(p_user_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    perform memory._refuse('user_id',
      format('cannot be forgotten or imported in a %s transaction', current_setting('transaction_isolation')),
      'Such a transaction does not see rows that others have stored meanwhile. Use read committed.', '0A000');
  end if;
  -- The lock is no advisory lock: every role sees its number in pg_locks, and could then keep it.
  insert into memory.user_locks (user_hash) values (memory._keyed_hash(memory._erasure_key(), p_user_id))
  on conflict on constraint user_locks_pkey do update set user_hash = excluded.user_hash;
end;
$$;

-- The name of the change that is under way, else the name of the next one. Every role can set the name, but triggers
-- ignore rows only for a change that has noted its name.
create or replace function memory._change_name()
returns text
language sql stable parallel safe
begin atomic
  select coalesce(current_setting('memory.change_name', true), '');
end;

create or replace function memory._begin_whole_user_change()
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  insert into memory.whole_user_changes (transaction_id, change_name)
  values (pg_current_xact_id(), memory._change_name()) on conflict do nothing;
  perform set_config('memory.rows_are_copied', 'yes', true);
end;
$$;

-- Ends a change of a whole user. The next change of the transaction gets another name. If all changes had one name,
-- PostgreSQL would look through the dead rows of the earlier changes: of 800 calls of memory.delete_thread() in one
-- transaction each read 577 pages, of 100 calls 124.
create or replace function memory._end_whole_user_change()
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  delete from memory.whole_user_changes as c
  where c.transaction_id = pg_current_xact_id() and c.change_name = memory._change_name();
  perform set_config('memory.change_name', gen_random_uuid()::text, true);
  perform set_config('memory.rows_are_copied', '', true);
end;
$$;

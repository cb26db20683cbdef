-- Sessions of no tenant read and write every space. A tenant reads and writes the spaces that memory.space_grants gives
-- its user. A session whose own user would be a space reaches nothing, because an identity provider may let people
-- choose their names.

-- Refuses a space that does not exist, or that this session may not write (if p_writes) or read. For a tenant, a space
-- without a grant is a foreign user, whether it exists or not. A writer locks the row of the space, so that
-- memory.delete_space() waits for the writer, and finds the rows that it has written. The lock makes the function
-- volatile, so the function also sees that a grant was revoked while the statement of the caller ran.
create or replace function memory._check_space(p_user_id text, p_writes boolean)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  is_tenant constant boolean := memory._is_tenant();
begin
  if not memory._is_here(p_user_id) then
    perform memory._refuse_other_node(p_user_id);
  end if;
  if is_tenant then
    -- A tenant's transaction of another isolation level would not see that the grant was revoked meanwhile.
    if p_writes and current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
      perform memory._refuse('user_id',
        format('a space cannot be written in a %s transaction', current_setting('transaction_isolation')),
        'Use read committed.', '0A000');
    elsif not memory._is_granted(p_user_id, memory._user_of_tenant(), p_writes) then
      perform memory._refuse_foreign_user();
    end if;
  end if;
  if p_writes and current_setting('transaction_read_only') = 'off' then
    perform from memory.spaces as s where s.user_id = p_user_id for key share;
  else
    perform from memory.spaces as s where s.user_id = p_user_id;
  end if;
  if not found then
    if is_tenant then
      perform memory._refuse_foreign_user();
    end if;
    perform memory._refuse('user_id', format('there is no space "%s"', memory._space_of(p_user_id)),
      'Ids that begin with "space:" are those of spaces; memory.list_spaces() lists them.');
  end if;
end;
$$;

-- Refuses the users that memory._check_id('user_id', ...) refuses, except a space that was deleted while a worker had a
-- job of the space: the lease tells the worker.
create or replace function memory._check_user_of_job(p_user_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  if memory._is_space(p_user_id) and not memory._is_tenant() and memory._is_here(p_user_id) then
    perform from memory.spaces as s where s.user_id = p_user_id for key share;
    return;
  end if;
  perform memory._check_id('user_id', p_user_id);
end;
$$;

-- Whether a user may read a space, or write it.
create or replace function memory._is_granted(p_space_id text, p_member text, p_writes boolean)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return exists (
    select from memory.space_grants as g
    where g.user_id = p_space_id and g.member = p_member and (g.access = 'write' or not p_writes));
end;
$$;

-- Notes that the user of a tenant's session wrote a text in a space (p_user_id), for memory.forget_user(spaces =>
-- 'forget'). In other sessions nobody knows which user writes. A new text (p_is_new) may have the id of a deleted text,
-- so the notes of the deleted text's writers are removed.
create or replace function memory._note_writer(p_user_id text, p_source text, p_id text, p_is_new boolean)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  if p_is_new then
    delete from memory.space_writes as w where w.user_id = p_user_id and w.source = p_source and w.id = p_id;
  end if;
  if memory._is_tenant() then
    insert into memory.space_writes (user_id, member, source, id)
    values (p_user_id, memory._user_of_tenant(), p_source, p_id)
    on conflict on constraint space_writes_pkey do nothing;
  end if;
end;
$$;

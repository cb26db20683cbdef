create or replace function memory.bind_role(role_name name, user_id text)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  bound_to text;
  reached_all boolean;
begin
  if memory._is_space(user_id) then
    perform memory._refuse('user_id', 'is a space', 'Bind the role to a user, and grant the space to the user.');
  end if;
  -- Every node of a cluster binds the role, even if it does not serve the user.
  if not (memory._is_id(user_id) and memory._may_reach(user_id)) then
    perform memory._check_id('user_id', user_id);
  end if;
  perform memory._check_role_to_bind(role_name);
  reached_all := not pg_has_role(role_name, memory._role_name('tenant'), 'member')
    and (has_schema_privilege(role_name, 'memory', 'usage')
         or pg_has_role(role_name, to_regrole(memory._role_name('app')), 'member') is true);
  insert into memory.bound_roles as b (role_name, user_id) values (bind_role.role_name, bind_role.user_id)
  on conflict on constraint bound_roles_pkey do nothing;
  select b.user_id into bound_to from memory.bound_roles as b where b.role_name = bind_role.role_name;
  -- Without this refusal, open sessions of the role would silently get another user's memories.
  if bound_to <> user_id then
    perform memory._refuse('role_name', format('role "%s" is bound to another user', role_name),
      'Call memory.unbind_role() first, and end the sessions of the role.', '23505');
  end if;
  perform memory._make_tenant(role_name);
  perform memory._audit('bind_role', jsonb_build_object('role_name', role_name), user_id);
  if reached_all then
    raise notice 'role "%" could reach all users; its sessions, open ones too, reach the user "%" only from now on',
      role_name, left(user_id, 255)
      using hint = format('To undo that: select memory.unbind_role(%L); revoke %I from %1$I;', role_name,
        memory._role_name('tenant'));
  end if;
end;
$$;
comment on function memory.bind_role(name, text) is
'Binds a login role to a user: its sessions reach this user only, by functions and by tables, and need no token. The '
'role becomes a member of memory_tenant, and a NOTICE says so where it could reach all users before. Binding it to '
'the same user again changes nothing; to another user it is refused (23505).';

-- Makes a role a member of memory_tenant. The owner needs the admin option for this, and may lack it if another role
-- created memory_tenant. From PostgreSQL 16 on each membership says by itself whether it is inherited.
create or replace function memory._make_tenant(p_role_name name)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  tenant constant name := memory._role_name('tenant');
  is_of_each constant boolean := current_setting('server_version_num')::int >= 160000;
begin
  if pg_has_role(p_role_name, tenant, 'member') and (not is_of_each or pg_has_role(p_role_name, tenant, 'usage')) then
    return;
  end if;
  execute format('grant %I to %I%s', tenant, p_role_name, case when is_of_each then ' with inherit true' end);
exception
  when insufficient_privilege then
    perform memory._refuse('role_name', format('role "%s" is no member of %s', p_role_name, tenant),
      format('An administrator runs: grant %I to %I; then call this again.', tenant, p_role_name), '42501');
end;
$$;

-- Refuses a role that does not exist, or that would reach other users in spite of its binding, or of the claims that
-- say who it is (p_by_claims).
create or replace function memory._check_role_to_bind(p_role_name name, p_by_claims boolean default false)
returns void
language plpgsql stable parallel safe
as $$
declare
  role pg_roles;
begin
  select r.* into role from pg_roles as r where r.rolname = p_role_name;
  if to_regrole(memory._role_name('tenant')) is null then
    perform memory._refuse('role_name', format('there is no role %s on this server', memory._role_name('tenant')),
      'An administrator creates it with "agent-memory install --roles".', '0A000');
  elsif role.rolname is null then
    perform memory._refuse('role_name',
      case when p_role_name is null then 'must not be null' else format('there is no role "%s"', p_role_name) end,
      'Pass a role of this server.');
  elsif p_by_claims and role.rolcanlogin then
    perform memory._refuse('role_name', format('role "%s" can log in', p_role_name),
      'Whoever logs in could claim to be any user: pass the role that your gateway sets, such as authenticated.');
  elsif not p_by_claims and not role.rolcanlogin then
    perform memory._refuse('role_name', format('role "%s" cannot log in', p_role_name),
      'A binding counts for the role that has logged in, not for groups: bind each login role.');
  elsif role.rolsuper or role.rolbypassrls or has_schema_privilege(role.oid, 'memory', 'create') then
    perform memory._refuse('role_name', format('role "%s" would reach all users all the same', p_role_name),
      'Bind a role that is no superuser, has no BYPASSRLS and may create nothing in schema memory.');
  elsif exists (select from unnest(array['worker', 'reader', 'admin']) as r (name)
                where pg_has_role(role.oid, to_regrole(memory._role_name(r.name)), 'member')) then
    perform memory._refuse('role_name', format('role "%s" is a worker, a reader or an administrator', p_role_name),
      format('They see all users: the views of %s name users and threads. Bind another role.',
             memory._role_name('reader')));
  end if;
end;
$$;

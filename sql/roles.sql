-- Creates the roles of agent_memory, which all databases of a server share. Another session may create them at the same
-- time, so a role that has just come is no error.
do $roles$
declare
  missing name;
begin
  for missing in
    select r.name
    from (values {{roles}}) as r (name)
    where pg_catalog.to_regrole(r.name) is null
  loop
    begin
      execute pg_catalog.format('create role %I nologin', missing);
      execute pg_catalog.format('comment on role %I is %L', missing,
        'For login roles of agent_memory, in all databases of this server. What members may do: docs/operations.md');
    exception
      when duplicate_object or unique_violation then
        null;
      when insufficient_privilege then
        raise {{missing}} 'role "%" is missing, and role "%" may not create it', missing, current_user
          using errcode = '42501',
            hint = 'An administrator runs "agent-memory install --roles". Everything else works without it.';
    end;
  end loop;
end;
$roles$;

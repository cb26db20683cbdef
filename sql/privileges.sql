-- Nobody but the owner may do anything that was not granted. PostgreSQL lets everyone execute new functions, and default
-- privileges of a schema cannot take that back, so it is revoked one by one. Grants to roles of your own survive upgrades.
do $privileges$
declare
  routine regprocedure;
begin
  -- Leftovers of an older version, not written by this transaction: internal functions, and old signatures of public ones,
  -- which would make calls ambiguous.
  for routine in
    select p.oid from pg_proc as p
    where p.pronamespace = 'memory'::regnamespace and p.xmin <> pg_current_xact_id()::xid
      and (p.proname like e'\\_%' or exists (select from pg_proc as n where n.pronamespace = p.pronamespace and n.proname = p.proname
                                            and n.xmin = pg_current_xact_id()::xid))
  loop
    execute format('drop routine %s', routine);
  end loop;
  for routine in select p.oid::regprocedure from pg_proc as p where p.pronamespace = 'memory'::regnamespace loop
    execute format('revoke all on routine %s from public', routine);
  end loop;
end;
$privileges$;

commit;

do $installed$
begin
  if pg_catalog.to_regprocedure('memory.version()') is null then
    raise exception 'agent_memory was not installed' using hint = 'The first error above says why.';
  end if;
  raise notice 'agent_memory {{version}} is installed';
end;
$installed$;

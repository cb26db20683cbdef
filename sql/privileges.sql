-- Nobody but the owner may do anything that was not granted. PostgreSQL lets everyone execute new functions, and default
-- privileges of a schema cannot take that back, so it is revoked one by one. Grants to roles of your own survive upgrades.
do $privileges$
declare
  routine regprocedure;
begin
  for routine in select p.oid::regprocedure from pg_proc as p where p.pronamespace = 'memory'::regnamespace loop
    execute format('revoke all on routine %s from public', routine);
  end loop;
end;
$privileges$;

commit;

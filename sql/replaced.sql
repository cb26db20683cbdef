-- Drops functions whose arguments or result differ in this version, and private functions that this version does not
-- have: PostgreSQL cannot replace the former in place, and two functions of one name would make calls ambiguous. A
-- function with the same arguments (values of defaults aside) and the same result stays the same object. To compare
-- them, this block creates all functions of this file without bodies, under names that begin with "new ".
set local check_function_bodies = off;
do $replaced$
declare
  header record;
  routine record;
begin
  perform set_config('search_path', format('pg_catalog, %I, pg_temp', current_setting('agent_memory.vector_schema')),
    true);
  for header in
    select h.kind, h.name, h.signature
    from (values
{{headers}}
    ) as h (kind, name, signature)
  loop
    execute format(e'create or replace %s memory.%I%s\nlanguage plpgsql as ''''',
      header.kind, 'new ' || header.name, header.signature);
  end loop;
  perform set_config('search_path', 'pg_catalog, pg_temp', true);

  perform set_config('agent_memory.grants', '[]', true);
  for routine in
    with ours as (
      select p.*, p.proname like 'new %' as is_new, regexp_replace(p.proname, '^new ', '') as name
      from pg_proc as p where p.pronamespace = 'memory'::regnamespace
    ),
    -- Old functions without an equal new one, and new functions without an equal old one.
    single as (
      select r.* from ours as r
      where (r.name like e'\\_%' or exists (select from ours as o where o.is_new and o.name = r.name))
        and not exists (
          select from ours as o
          where o.name = r.name and o.is_new <> r.is_new and o.prokind = r.prokind and o.proargtypes = r.proargtypes
            and (o.prorettype, o.proretset) = (r.prorettype, r.proretset)
            and (o.proallargtypes, o.proargmodes, o.proargnames) is not distinct from (r.proallargtypes, r.proargmodes,
              r.proargnames)
            and case when r.is_new then o.pronargdefaults <= r.pronargdefaults
              else o.pronargdefaults >= r.pronargdefaults end)
    )
    select s.oid::regprocedure as signature,
      -- Roles that could call the old function; privileges.sql grants them the new function of that name.
      (select coalesce(jsonb_agg(jsonb_build_object(
                'routine', format('memory.%I(%s)', n.name, oidvectortypes(n.proargtypes)),
                'grantee', acl.grantee::regrole::text, 'is_grantable', acl.is_grantable)), '[]')
       from single as n, aclexplode(s.proacl) as acl
       where n.is_new and n.name = s.name and acl.grantee not in (0, s.proowner)) as grants
    from single as s where not s.is_new
  loop
    call memory._unbind(); -- so that none of our own views and functions depends on it
    call memory._drop_replaced('routine', routine.signature::text);
    perform set_config('agent_memory.grants', (current_setting('agent_memory.grants')::jsonb || routine.grants)::text,
      true);
  end loop;

  execute (
    select 'drop routine ' || string_agg(p.oid::regprocedure::text, ', ')
    from pg_proc as p where p.pronamespace = 'memory'::regnamespace and p.proname like 'new %');
end;
$replaced$;
set local check_function_bodies = on;

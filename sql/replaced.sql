-- Drops functions whose arguments or result differ in this version, and private functions that this version does not
-- have: PostgreSQL cannot replace the former in place, and two functions of one name would make calls ambiguous. A
-- function with the same arguments (values of defaults aside) and the same result stays the same object. To compare
-- them, this block creates all functions of this file without bodies, under names that begin with "new ".
--
-- PostgreSQL checks no body of a function in the rest of this file, as in a restored dump: the checks would take a
-- third of the CPU of a run that changes nothing, and a sixth of an upgrade's (2026-11).
set local check_function_bodies = off;
do $replaced$
declare
  header record;
  routine record;
begin
  perform set_config('agent_memory.grants', '[]', true);
  if current_setting('agent_memory.installed') = '' then
    return; -- A new installation replaces nothing.
  end if;
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

  for routine in
    with ours as (
      select p.*, p.proname like 'new %' as is_new, regexp_replace(p.proname, '^new ', '') as name
      from pg_proc as p where p.pronamespace = 'memory'::regnamespace
    ),
    -- is_in_both: the new function has at least the defaults of the old one; null if one of the two does not exist.
    -- Sorting brings an old function and its equal new one together. Comparing each with each took half of a run that
    -- changes nothing (0.4 of 0.74 s of CPU, 1,050 functions, 2026-11).
    compared as (
      select o.*, bool_or(o.is_new) over (partition by o.name) as has_new,
        min(o.pronargdefaults) filter (where o.is_new) over equal
          >= min(o.pronargdefaults) filter (where not o.is_new) over equal as is_in_both
      from ours as o
      window equal as (partition by o.name, o.prokind, o.proargtypes, o.prorettype, o.proretset, o.proallargtypes,
        o.proargmodes, o.proargnames)
    ),
    -- Old functions without an equal new one, and new functions without an equal old one.
    single as (
      select c.* from compared as c where (c.name like e'\\_%' or c.has_new) and c.is_in_both is not true
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

-- What the roles of agent_memory may do (sql/grants.json), where the server has them. Roles of other names that the
-- installation had before lose it. Each right
-- is granted once, so that what an administrator revokes stays revoked. A role that was dropped and created again has
-- lost its rights, so it gets all of them again: its number is another one, and it may not use the schema.
do $grants$
declare
  statements text;
begin
  with wanted (role_name, kind, name) as (
    select memory._role_name(w.role_name)::name, w.kind, w.name
    from (values
{{grants}}
    ) as w (role_name, kind, name)
  ), objects (kind, name, object) as (
    select 'schema', 'memory'::regnamespace::text, 'memory'::regnamespace::text
    union all
    select case p.prokind when 'p' then 'procedure' else 'function' end, p.proname, p.oid::regprocedure::text
    from pg_proc as p where p.pronamespace = 'memory'::regnamespace
    union all
    select 'view', c.relname, c.oid::regclass::text
    from pg_class as c where c.relnamespace = 'memory'::regnamespace and c.relkind = 'v'
  ), gone as ( -- what an earlier version has granted, and this one does not
    delete from memory.role_grants as g
    where not exists (
      select from wanted as w where w.role_name = g.role_name and w.kind || ' ' || w.name = g.object)
    returning g.role_name, g.object
  ), due as (
    select w.role_name, r.oid as role_oid, w.kind, w.name, o.kind as object_kind, o.object
    from wanted as w
    join pg_roles as r on r.rolname = w.role_name
    join objects as o on o.name = w.name and (o.kind = w.kind or o.kind = 'procedure' and w.kind = 'function')
    where not exists (
      select from memory.role_grants as g
      where g.role_name = w.role_name and g.object = w.kind || ' ' || w.name
        and (g.role_oid = r.oid or has_schema_privilege(r.oid, 'memory', 'usage')))
  ), noted as (
    insert into memory.role_grants as g (role_name, object, role_oid)
    select distinct d.role_name, d.kind || ' ' || d.name, d.role_oid from due as d
    on conflict on constraint role_grants_pkey do update
    set role_oid = excluded.role_oid, granted_at = excluded.granted_at
  )
  select string_agg(s.statement, '; ')
  into statements
  from (
    select format('grant %s on %s %s to %I',
      case d.kind when 'schema' then 'usage' when 'function' then 'execute' else 'select' end,
      case d.object_kind when 'view' then 'table' else d.object_kind end, d.object, d.role_name)
    from due as d
    union all
    select format('revoke all on %s %s from %I', case o.kind when 'view' then 'table' else o.kind end, o.object,
      g.role_name)
    from gone as g
    join pg_roles as r on r.rolname = g.role_name
    join objects as o on g.object = replace(o.kind, 'procedure', 'function') || ' ' || o.name
  ) as s (statement);
  if statements is not null then
    execute statements;
  end if;
end;
$grants$;

do $row_security$
declare
  missing record;
begin
  for missing in select m.statement from memory._missing_row_security() as m loop
    execute missing.statement;
  end loop;
end;
$row_security$;

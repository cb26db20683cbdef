-- What an upgrade is made with, gone again at its end. Objects of ours keep their identity, so that everything that
-- others have built on them stays: grants, views, functions, indexes, comments. Nothing is ever dropped with CASCADE.

-- Runs an incremental part unless this database has seen it.
create or replace procedure memory._migrate(name text, sha256 text, version text, statements text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  applied text;
  detail text;
begin
  select m.sha256 into applied from memory.migrations as m where m.name = _migrate.name;
  if applied is null then
    call memory._lock();
    begin
      execute statements;
    exception when feature_not_supported or dependent_objects_still_exist then
      get stacked diagnostics detail = pg_exception_detail;
      raise exception '%', sqlerrm using errcode = sqlstate, detail = coalesce(nullif(detail, ''), 'Part ' || name),
        hint = 'Nothing was changed. Drop what of yours depends on it, run this file again, then create it again.';
    end;
    insert into memory.migrations (name, sha256, version) values (_migrate.name, _migrate.sha256, _migrate.version);
  elsif applied <> _migrate.sha256 then
    raise exception 'migration % ran in this database with other contents', name
      using errcode = '0A000', hint = 'This database was installed from an unreleased file; install into a fresh one.';
  end if;
end;
$$;

-- Takes the locks of an upgrade at once, and lets go of all of them when one is not to be had soon: who holds a lock
-- and waits for the next is in a deadlock with a writer that came from the other side, and PostgreSQL may choose the
-- writer to fail when that lasts for deadlock_timeout (a second). Only in its last half it waits for longer, which
-- makes autovacuum give way.
create or replace procedure memory._lock()
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  patience text := current_setting('lock_timeout');
  ends_at timestamptz := clock_timestamp() + patience::interval;
  relations text;
begin
  select string_agg(format('memory.%I', c.relname), ', ' order by c.relname) into relations
  from pg_class as c where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r';
  loop
    begin
      perform set_config('lock_timeout',
        case when clock_timestamp() < ends_at - patience::interval / 2 then '40ms' else patience end, true);
      call memory._unbind(); -- Whoever reads a view locks it before its tables.
      execute format('lock table %s in access exclusive mode', relations);
      exit;
    exception when lock_not_available or deadlock_detected then
      if clock_timestamp() > ends_at then
        raise;
      end if;
      perform pg_sleep(0.05);
    end;
  end loop;
  perform set_config('lock_timeout', patience, true);
end;
$$;

-- Functions with a standard body, and views, are bound to the columns that they name, which nobody can change then.
-- They are replaced by ones that are not: functions by their own text, which still works, views by empty ones with the
-- same columns. The files that follow create them again.
create or replace procedure memory._unbind()
language plpgsql
set search_path = pg_catalog, pg_temp
set check_function_bodies = off
as $$
declare
  bound record;
begin
  if current_setting('agent_memory.view_options', true) <> '' then
    return; -- Done in this transaction.
  end if;
  perform set_config('agent_memory.view_options',
    (select coalesce(jsonb_object_agg(c.relname, c.reloptions) filter (where c.reloptions is not null), '{}')
     from pg_class as c where c.relnamespace = 'memory'::regnamespace and c.relkind = 'v')::text, true);
  -- Ours are those that begin with an underscore.
  for bound in
    select pg_get_functiondef(p.oid) as definition, pg_get_function_sqlbody(p.oid) as body
    from pg_proc as p
    where p.pronamespace = 'memory'::regnamespace and p.prosqlbody is not null and p.proname like e'\\_%'
  loop
    execute replace(bound.definition, bound.body,
      format(' as %L', regexp_replace(bound.body, '^BEGIN ATOMIC(.*)END$', e'\\1')));
  end loop;
  for bound in
    select c.relname,
      string_agg(format('null::%s%s as %I', format_type(a.atttypid, a.atttypmod),
        case when a.attcollation <> t.typcollation then ' collate ' || a.attcollation::regcollation::text end,
        a.attname), ', ' order by a.attnum) as columns
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0
    join pg_type as t on t.oid = a.atttypid
    where c.relnamespace = 'memory'::regnamespace and c.relkind = 'v' and c.relname = any ('{{{views}}}')
    group by c.relname
  loop
    execute format('create or replace view memory.%I as select %s where false', bound.relname, bound.columns);
  end loop;
end;
$$;

-- Drops an object of ours that this version has another one for, or none, unless something depends on it.
create or replace procedure memory._drop_replaced(kind text, object text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  detail text;
begin
  execute format('drop %s %s', kind, object);
exception when dependent_objects_still_exist then
  get stacked diagnostics detail = pg_exception_detail;
  raise exception '%, which this version replaces', split_part(detail, e'\n', 1)
    using errcode = '2BP01', detail = detail,
      hint = 'Nothing was changed. Drop what of yours depends on it, run this file again, then create it again.';
end;
$$;

-- Every view of the files that follow is created by this. The view stays the same object unless its columns are others.
create or replace procedure memory._replace_view(name text, query text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  definition text := format('create or replace view memory.%I as %s', name, query);
  view regclass := to_regclass(format('memory.%I', name));
  -- Replacing a view resets its options, and so has _unbind() done before.
  options text[];
  owner name;
  attached text;
  grants jsonb;
  statement text;
begin
  select coalesce(nullif(array(select jsonb_array_elements_text(
           nullif(current_setting('agent_memory.view_options', true), '')::jsonb -> _replace_view.name)), '{}'),
             c.reloptions),
    pg_get_userbyid(c.relowner)
  into options, owner
  from pg_class as c where c.oid = view;
  begin
    execute definition;
  exception when invalid_table_definition then
    -- A column has gone or has another name, type or place. What belongs to the view alone would go with it unnoticed.
    select string_agg(pg_describe_object(d.classid, d.objid, d.objsubid), ', ') into attached
    from pg_depend as d where d.refclassid = 'pg_class'::regclass and d.refobjid = view and d.deptype = 'a';
    if attached is not null then
      raise exception '% depends on view %, which this version replaces', attached, view using errcode = '2BP01',
        hint = 'Nothing was changed. Drop what of yours depends on it, run this file again, then create it again.';
    end if;
    select jsonb_agg(to_jsonb(g)) into grants
    from (select null as column_name, acl.* from pg_class as c, aclexplode(c.relacl) as acl where c.oid = view
          union all
          select a.attname, acl.* from pg_attribute as a, aclexplode(a.attacl) as acl where a.attrelid = view) as g;
    call memory._drop_replaced('view', view::text);
    execute definition;
    view := to_regclass(format('memory.%I', name));
    for statement in
      select format('grant %s%s on %s to %s%s', g.privilege_type, '(' || quote_ident(g.column_name) || ')', view,
        case g.grantee when 0 then 'public' else g.grantee::regrole::text end,
        case when g.is_grantable then ' with grant option' end)
      from jsonb_to_recordset(grants) as g (column_name name, grantee oid, privilege_type text, is_grantable boolean)
      where g.column_name is null
        or exists (select from pg_attribute as a where a.attrelid = view and a.attname = g.column_name)
    loop
      execute statement;
    end loop;
    if owner <> current_user then
      execute format('alter view %s owner to %I', view, owner);
    end if;
  end;
  if options <> '{}' then
    execute format('alter view %s set (%s)', to_regclass(format('memory.%I', name)), array_to_string(options, ', '));
  end if;
end;
$$;

-- Every trigger of the rooms is created by this. Creating one locks its table against writers, so that is done only when
-- the trigger is missing or its comment shows another definition: installing again disturbs nobody.
create or replace procedure memory._replace_trigger(name text, definition text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  on_table constant regclass := substring(definition from ' on (memory.[a-z_]+)')::regclass;
begin
  if not exists (select from pg_trigger as t
                 where t.tgrelid = on_table and t.tgname = _replace_trigger.name
                   and obj_description(t.oid, 'pg_trigger') = definition) then
    execute format('create or replace trigger %I %s', name, definition);
    execute format('comment on trigger %I on %s is %L', name, on_table, definition);
  end if;
end;
$$;

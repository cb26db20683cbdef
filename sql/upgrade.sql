-- Procedures that exist only while this file runs. They keep our objects the same objects wherever possible, so that
-- whatever others have built on them stays: grants, views, functions, indexes, comments. Nothing is dropped with
-- CASCADE.

-- Ends an upgrade because an object of somebody else depends on one that this version changes.
create or replace procedure memory._refuse_upgrade(p_message text, p_detail text, p_code text default '2BP01')
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception '%', p_message using errcode = p_code, detail = p_detail,
    hint = 'Nothing was changed. Drop what of yours depends on it, run this file again, then create it again.';
end;
$$;

-- Makes the tables of one version from those of another one, or from nothing: those of the core ('') or of an add-on.
-- Does nothing in a database that has the tables of another version: a new installation passes by all migrations, and
-- an upgrade begins at its own.
create or replace procedure memory._migrate(p_part text, p_from text, p_to text, p_sha256 text, p_statements text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  migration constant text := ltrim(p_part || ' ' || concat_ws('-', p_from, p_to));
  detail text;
begin
  if (select max(string_to_array(m.version, '.')::int[]) from memory.migrations as m
      where rtrim(m.name, '0123456789.- ') = p_part)
    is distinct from string_to_array(p_from, '.')::int[] then
    return;
  end if;
  call memory._lock();
  begin
    execute p_statements;
  exception when feature_not_supported or dependent_objects_still_exist then
    get stacked diagnostics detail = pg_exception_detail;
    call memory._refuse_upgrade(sqlerrm, coalesce(nullif(detail, ''), format('Migration %s', migration)),
      sqlstate);
  end;
  insert into memory.migrations (name, sha256, version) values (migration, p_sha256, p_to);
end;
$$;

-- Locks all tables, first that of migrations, which is the door (door.sql): calls that have passed the door end, new
-- ones wait before it, and then only plain SQL and autovacuum can hold another table. When one of those is not free
-- within 40 ms, this releases all of them and tries again with that table second: an upgrade that holds one lock and
-- waits for the next can be in a deadlock with a writer, and after deadlock_timeout (a second) PostgreSQL may cancel
-- the writer. In the second half of lock_timeout it waits longer: for the first two tables two seconds, because
-- autovacuum releases its lock only for a session that has waited for deadlock_timeout; for the others half of
-- deadlock_timeout.
create or replace procedure memory._lock()
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  patience text := current_setting('lock_timeout');
  ends_at timestamptz := clock_timestamp() + patience::interval;
  relations text[];
  relation text; -- the one to lock after the door, then the one being locked
  is_late boolean;
begin
  relations := array(
    select format('memory.%I', c.relname) from pg_class as c
    where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r' and c.relname <> 'migrations'
    order by c.relname);
  loop
    begin
      relations := case when relation is null or relation = 'memory.migrations' then relations
        else relation || array_remove(relations, relation) end;
      is_late := clock_timestamp() > ends_at - patience::interval / 2;
      relation := 'memory.migrations';
      perform set_config('lock_timeout', case when is_late then '2s' else '500ms' end, true);
      lock table memory.migrations in access exclusive mode;
      exit when relations = '{}'; -- of a new installation
      relation := relations[1];
      perform set_config('lock_timeout', case when is_late then '2s' else '40ms' end, true);
      execute format('lock table %s in access exclusive mode', relation);
      perform set_config('lock_timeout', case when is_late
        then extract(epoch from current_setting('deadlock_timeout')::interval) * 500 || 'ms' else '40ms' end, true);
      -- A reader of a view locks the view first, then its tables. Both are waited for only this long.
      call memory._unbind();
      foreach relation in array relations loop
        execute format('lock table %s in access exclusive mode', relation);
      end loop;
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

-- Removes the dependencies of our views, and of our functions with a standard body, on the columns that they name: such
-- columns could not be changed. A function gets the same body as a string, which still works; a view becomes an empty
-- one with the same columns. The files that follow create both again.
create or replace procedure memory._unbind()
language plpgsql
set search_path = pg_catalog, pg_temp
set check_function_bodies = off
as $$
declare
  bound record;
begin
  if current_setting('agent_memory.view_options', true) <> '' then
    return; -- an earlier call in this transaction has done it
  end if;
  perform set_config('agent_memory.view_options',
    (select coalesce(jsonb_object_agg(c.relname, c.reloptions) filter (where c.reloptions is not null), '{}')
     from pg_class as c where c.relnamespace = 'memory'::regnamespace and c.relkind = 'v')::text, true);
  -- Only our private functions have standard bodies; others may have put functions of their own into the schema.
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

-- Drops one of our objects that this version replaces or does not have. Refuses if another object depends on it.
create or replace procedure memory._drop_replaced(p_kind text, p_object text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  detail text;
begin
  execute format('drop %s %s', p_kind, p_object);
exception when dependent_objects_still_exist then
  get stacked diagnostics detail = pg_exception_detail;
  call memory._refuse_upgrade(split_part(detail, e'\n', 1) || ', which this version replaces', detail);
end;
$$;

-- Creates or replaces a view; the build calls it for every view. The view stays the same object unless a column is gone
-- or has another name, type or place.
create or replace procedure memory._replace_view(p_name text, p_query text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  definition text := format('create or replace view memory.%I as %s', p_name, p_query);
  view regclass := to_regclass(format('memory.%I', p_name));
  options text[]; -- of the view before _unbind() replaced it: replacing a view resets its options
  owner name;
  attached text;
  grants jsonb;
  statement text;
begin
  select coalesce(nullif(array(select jsonb_array_elements_text(
           nullif(current_setting('agent_memory.view_options', true), '')::jsonb -> p_name)), '{}'),
             c.reloptions),
    pg_get_userbyid(c.relowner)
  into options, owner
  from pg_class as c where c.oid = view;
  begin
    execute definition;
  exception when invalid_table_definition then
    -- The view has to be dropped. Triggers and rules that others have added to it would be dropped without an error.
    select string_agg(pg_describe_object(d.classid, d.objid, d.objsubid), ', ') into attached
    from pg_depend as d where d.refclassid = 'pg_class'::regclass and d.refobjid = view and d.deptype = 'a';
    if attached is not null then
      call memory._refuse_upgrade(format('%s depends on view %s, which this version replaces', attached, view),
        format('%s depends on view %s', attached, view));
    end if;
    select jsonb_agg(to_jsonb(g)) into grants
    from (select null as column_name, acl.* from pg_class as c, aclexplode(c.relacl) as acl where c.oid = view
          union all
          select a.attname, acl.* from pg_attribute as a, aclexplode(a.attacl) as acl where a.attrelid = view) as g;
    call memory._drop_replaced('view', view::text);
    execute definition;
    view := to_regclass(format('memory.%I', p_name));
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
    execute format('alter view memory.%I set (%s)', p_name, array_to_string(options, ', '));
  end if;
end;
$$;

-- Creates or replaces a trigger; the build calls it for every trigger. Creating a trigger locks its table against
-- writers, so that is done only when the trigger is missing or has another definition, which its comment repeats.
-- Installing the same version again blocks nobody.
create or replace procedure memory._replace_trigger(p_name text, p_definition text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  on_table constant regclass := substring(p_definition from ' on (memory.[a-z_]+)')::regclass;
begin
  if not exists (select from pg_trigger as t
                 where t.tgrelid = on_table and t.tgname = p_name
                   and obj_description(t.oid, 'pg_trigger') = p_definition) then
    if p_definition like '% deferrable %' then -- a constraint trigger, which cannot be replaced
      execute format('drop trigger if exists %I on %s', p_name, on_table);
      execute format('create constraint trigger %I %s', p_name, p_definition);
    else
      execute format('create or replace trigger %I %s', p_name, p_definition);
    end if;
    execute format('comment on trigger %I on %s is %L', p_name, on_table, p_definition);
  end if;
end;
$$;

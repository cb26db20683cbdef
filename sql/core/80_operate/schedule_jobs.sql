create or replace function memory.schedule_jobs(every text default '10 seconds', sweep_at text default '17 3 * * *')
returns setof text
language plpgsql volatile parallel unsafe -- with the caller's rights: pg_cron runs jobs as the role that made them
set search_path = pg_catalog, pg_temp
as $$
declare
  task record;
  -- The extension pg_cron in this database, its function schedule(), and whether the caller may call this function.
  cron record;
  cron_version text;
  cron_database text;
  is_hidden boolean := false;
  is_loaded boolean;
  is_elsewhere boolean := false;
  problem text;
  hint text;
  created text := 'create extension if not exists pg_cron;';
  libraries text;
  or_else text := ' Or run "agent-memory worker" beside the server, and memory.sweep() from any scheduler.';
begin
  if every is null or sweep_at is null then
    perform memory._refuse(case when every is null then 'every' else 'sweep_at' end, 'must not be null',
      'Leave it out for the default.');
  end if;
  if not (select r.rolcanlogin from pg_roles as r where r.rolname = current_user) then
    raise exception 'pg_cron runs jobs in sessions of the role that made them, and role "%" may not log in',
      current_user
      using errcode = '42501', hint = format('As a superuser: alter role %I login;', current_user);
  end if;

  select e.extversion, n.nspname, p.oid::regprocedure as signature, n.oid as schema,
    has_schema_privilege(n.oid, 'usage') as may_use, has_function_privilege(p.oid, 'execute') as may_execute
  into cron
  from pg_extension as e
  join pg_depend as d
    on d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid
    and d.classid = 'pg_proc'::regclass and d.deptype = 'e'
  join pg_proc as p on p.oid = d.objid and p.proname = 'schedule' and p.pronargs = 3
  join pg_namespace as n on n.oid = p.pronamespace
  where e.extname = 'pg_cron';
  -- If pg_cron is in another database, it has the version of the files on this server.
  select coalesce(cron.extversion, a.default_version) into cron_version
  from (select 1) as one left join pg_available_extensions as a on a.name = 'pg_cron';

  begin
    cron_database := current_setting('cron.database_name', true);
    -- While the library is not loaded, pg_settings has no row for the setting, even if a configuration file sets it.
    is_loaded := exists (select from pg_settings as s where s.name = 'cron.database_name');
  exception when insufficient_privilege then -- the setting exists, but only superusers may see its value
    is_loaded := true;
    is_hidden := true;
  end;
  if not (select r.rolsuper from pg_roles as r where r.rolname = current_user) then
    created := created || format(' grant usage on schema cron to %I;', current_user);
  end if;

  if cron_version is null then
    problem := 'this server has no pg_cron';
    hint := format('Install it, on Debian as postgresql-%s-cron.', current_setting('server_version_num')::int / 10000)
      || or_else;
  elsif not is_loaded then
    problem := 'pg_cron is not loaded into this server';
    begin
      select string_agg(quote_literal(btrim(l.name, ' "')), ', ') into libraries
      from regexp_split_to_table(current_setting('shared_preload_libraries') || ',pg_cron', ',') as l (name)
      where btrim(l.name, ' "') <> '';
      hint := format('As a superuser: alter system set shared_preload_libraries = %s;', libraries);
    exception when insufficient_privilege then
      hint := 'Have a superuser add pg_cron to shared_preload_libraries.';
    end;
    hint := hint || ' Then restart the server and call this again.' || or_else;
  elsif not exists (select from pg_database as d where d.datname = coalesce(cron_database, current_database())) then
    problem := format('pg_cron is set to live in database "%s", which does not exist', cron_database);
    hint := format(
      'As a superuser: alter system set cron.database_name = %L; Then restart the server and call this again.',
      current_database());
  elsif cron_database <> current_database() or is_hidden and cron.signature is null then
    is_elsewhere := true;
    problem := case when is_hidden
      then 'pg_cron lives in another database, or its extension has not been created in this one'
      else format('pg_cron lives in database "%s"', cron_database) end;
    hint := case when is_hidden then 'As a superuser, in the database that "show cron.database_name" names: '
      else 'Run there as a superuser: ' end || created;
  elsif cron.signature is null then
    problem := 'pg_cron has no extension in this database yet';
    hint := 'As a superuser: ' || created || ' Then call this again.';
  end if;

  if every like '%second%' and (regexp_match(cron_version, e'^(\\d+)\\.(\\d+)'))::int[] < array[1, 5] then
    raise notice 'pg_cron % knows no seconds: jobs run every minute', cron_version;
    every := '* * * * *';
  end if;
  if problem is null and not (cron.may_use and cron.may_execute) then
    raise exception 'role "%" may not schedule jobs with pg_cron', current_user
      using errcode = '42501', hint = 'As a superuser:'
        || case when cron.may_use then ''
             else format(' grant usage on schema %I to %I;', cron.nspname, current_user) end
        || case when cron.may_execute then ''
             else format(' grant execute on function %s to %I;', cron.signature, current_user) end;
  end if;
  for task in
    select t.*, 'agent_' || 'memory'::regnamespace || ' ' || t.name || ' ' || current_database() as full_name
    from (values
      ('jobs', 'every', every, 'call memory.run_jobs()'),
      ('sweep', 'sweep_at', sweep_at, 'select memory.sweep()')
    ) as t (name, argument, schedule, command)
  loop
    if problem is not null then
      if is_elsewhere then
        hint := hint || format(' select cron.schedule_in_database(%L, %L, %L, %L, %L);',
          task.full_name, task.schedule, task.command, current_database(), current_user);
      end if;
      continue;
    end if;
    begin
      -- Not by cron.schedule_in_database(), which only superusers may call unless somebody has granted it.
      execute format('select %I.schedule($1, $2, $3)', cron.nspname) using task.full_name, task.schedule, task.command;
    exception when invalid_parameter_value then
      perform memory._refuse(task.argument, sqlerrm,
        'Write a cron schedule such as "* * * * *", or from pg_cron 1.5 on "10 seconds" (1 to 59).');
    end;
    return next format('agent_memory %s: %s, %s', task.name, task.schedule, task.command);
  end loop;
  if problem is not null then
    raise exception '%', problem using errcode = '0A000', hint = hint;
  end if;
  -- A caller of this function may lack the right to call memory._audit_schedule().
  if has_function_privilege('memory._audit_schedule(text, text)', 'execute') then
    perform memory._audit_schedule(every, sweep_at);
  end if;
end;
$$;
comment on function memory.schedule_jobs(text, text) is
'Has pg_cron call memory.run_jobs() in the interval every and memory.sweep() at the time sweep_at, as the role that '
'calls this function; another call changes the schedule. If something is missing, the HINT says what a superuser has '
'to run.';

-- Records a call of memory.schedule_jobs(), which runs with its caller's rights. Administrators may call this function
-- directly, and so record that they have scheduled jobs although they have not. They cannot add any other row.
create or replace function memory._audit_schedule(p_every text, p_sweep_at text)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._audit('schedule_jobs',
    jsonb_build_object('every', left(p_every, 100), 'sweep_at', left(p_sweep_at, 100)));
end;
$$;

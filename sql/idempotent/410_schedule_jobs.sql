create or replace function memory.schedule_jobs(every text default '10 seconds', sweep_at text default '17 3 * * *')
returns setof text
language plpgsql volatile parallel unsafe -- with the rights of the caller: pg_cron runs the jobs as the role that made them
set search_path = pg_catalog, pg_temp
as $$
declare
  task record;
  cron_database text := current_setting('cron.database_name', true);
  cron_schema name;
  cron_version int[];
  elsewhere text := '';
begin
  if every is null or sweep_at is null then
    perform memory._refuse(case when every is null then 'every' else 'sweep_at' end, 'must not be null', 'Leave it out for the default.');
  end if;
  select n.nspname, regexp_match(e.extversion, e'^(\\d+)\\.(\\d+)')::int[] into cron_schema, cron_version
  from pg_extension as e
  join pg_depend as d on d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid and d.classid = 'pg_proc'::regclass and d.deptype = 'e'
  join pg_proc as p on p.oid = d.objid and p.proname = 'schedule_in_database'
  join pg_namespace as n on n.oid = p.pronamespace
  where e.extname = 'pg_cron' limit 1;
  if every like '%second%' and cron_version < array[1, 5] then
    raise notice 'pg_cron % knows no seconds: jobs run every minute', array_to_string(cron_version, '.');
    every := '* * * * *';
  end if;
  for task in
    select t.*, 'agent_memory ' || t.name || ' ' || current_database() as full_name
    from (values ('jobs', 'every', every, 'call memory.run_jobs()'), ('sweep', 'sweep_at', sweep_at, 'select memory.sweep()')) as t (name, argument, schedule, command)
  loop
    if cron_schema is null then
      elsewhere := elsewhere || format(' select cron.schedule_in_database(%L, %L, %L, %L);', task.full_name, task.schedule, task.command, current_database());
      continue;
    end if;
    begin
      execute format('select %I.schedule_in_database($1, $2, $3, $4)', cron_schema) using task.full_name, task.schedule, task.command, current_database();
    exception when invalid_parameter_value then
      perform memory._refuse(task.argument, sqlerrm, 'Write a cron schedule such as "* * * * *", or from pg_cron 1.5 on "10 seconds" (1 to 59).');
    end;
    return next format('agent_memory %s: %s, %s', task.name, task.schedule, task.command);
  end loop;
  if cron_schema is null and cron_database <> current_database() then
    raise exception 'pg_cron lives in database "%"', cron_database using errcode = '0A000', hint = 'Run there:' || elsewhere;
  elsif cron_schema is null then
    raise exception 'memory.schedule_jobs() needs the extension pg_cron' using errcode = '0A000',
      hint = 'Install it and create extension pg_cron, or run "agent-memory worker" beside the server and memory.sweep() from any scheduler.';
  end if;
end;
$$;
comment on function memory.schedule_jobs(text, text) is
'Has pg_cron run queued model work every so often and memory.sweep() at a time of day; calling it again changes the schedule. pg_cron before 1.5 knows no seconds: then jobs run every minute. Call it in the database where pg_cron is installed. Without pg_cron, run "agent-memory worker".';

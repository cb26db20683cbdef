create or replace function memory.schedule_jobs(every text default '10 seconds', sweep_at text default '17 3 * * *')
returns setof text
language plpgsql volatile parallel unsafe -- with the rights of the caller: pg_cron runs the jobs as the role that made them
set search_path = pg_catalog, pg_temp
as $$
declare
  task record;
  cron_database text := current_setting('cron.database_name', true);
  cron_schema name := (select n.nspname from pg_proc as p
                       join pg_namespace as n on n.oid = p.pronamespace
                       join pg_depend as d on d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
                       join pg_extension as e on d.refclassid = 'pg_extension'::regclass and e.oid = d.refobjid
                       where e.extname = 'pg_cron' and p.proname = 'schedule_in_database' limit 1);
begin
  for task in
    select t.* from (values
      ('agent_memory jobs', every, 'call memory.run_jobs()'),
      ('agent_memory sweep', sweep_at, 'select memory.sweep()')
    ) as t (name, schedule, command)
  loop
    if cron_schema is not null then
      begin
        execute format('select %I.schedule_in_database($1, $2, $3, $4)', cron_schema) using task.name || ' ' || current_database(), task.schedule, task.command, current_database();
      exception when invalid_parameter_value then
        perform memory._refuse(case task.schedule when every then 'every' else 'sweep_at' end, sqlerrm, 'Write "10 seconds" (1 to 59), or a cron schedule such as "* * * * *".');
      end;
      return next format('%s: %s, %s', task.name, task.schedule, task.command);
    elsif cron_database is not null then
      raise exception 'pg_cron lives in database "%"', cron_database using errcode = '0A000',
        hint = format('Run there: select cron.schedule_in_database(%L, %L, %L, %L);', task.name || ' ' || current_database(), task.schedule, task.command, current_database());
    else
      raise exception 'memory.schedule_jobs() needs the extension pg_cron' using errcode = '0A000',
        hint = 'Install it, or run "agent-memory worker" beside the server and memory.sweep() from any scheduler.';
    end if;
  end loop;
end;
$$;
comment on function memory.schedule_jobs(text, text) is
'Has pg_cron run queued model work every so often and memory.sweep() at a time of day; calling it again changes the schedule. Call it in the database where pg_cron is installed. Without pg_cron, run "agent-memory worker".';

-- The in-database runner, where PostgreSQL has Python. Only a superuser can create it; everything else works without, and
-- the procedure says so.
do $runner$
begin
  if not exists (select from pg_extension where extname = 'plpython3u')
    and exists (select from pg_available_extensions where name = 'plpython3u')
    and (select rolsuper from pg_roles where rolname = current_user) then
    create extension plpython3u;
  end if;
  if exists (select from pg_extension where extname = 'plpython3u')
    and (select rolsuper from pg_roles where rolname = current_user) then
    execute $procedure$
{{procedure}}
$procedure$;
  elsif to_regprocedure('memory.run_jobs(int, int)') is null then
    create procedure memory.run_jobs(max_jobs int default 100, max_seconds int default 60)
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $absent$
    begin
      raise exception 'memory.run_jobs() needs PL/Python, which this installation does not have'
        using errcode = '0A000',
          hint = 'Run "agent-memory worker" beside the server, or have a superuser install plpython3u and run the install file again.';
    end;
    $absent$;
    comment on procedure memory.run_jobs(int, int) is 'Would run queued model work inside the server, but there is no PL/Python: run "agent-memory worker" beside it.';
  end if;
end;
$runner$;

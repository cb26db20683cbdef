-- The functions that call models inside the server. They need plpython3u, whose functions only a superuser can create.
-- Where that is missing, functions of the same names say so; everything else works without them.
do $runner$
begin
  if not exists (select from pg_extension where extname = 'plpython3u')
    and exists (select from pg_available_extensions where name = 'plpython3u')
    and (select rolsuper from pg_roles where rolname = current_user) then
    create extension plpython3u;
  end if;
  if exists (select from pg_extension where extname = 'plpython3u')
    and (select rolsuper from pg_roles where rolname = current_user) then
    execute $functions$
{{functions}}
$functions$;
  elsif exists (select from pg_proc join pg_language on pg_language.oid = prolang
                where pg_proc.oid = to_regprocedure('memory._load_models()') and lanname = 'plpython3u') then
    null; -- The PL/Python functions were made when the owner was a superuser; they stay.
  else
    create or replace function memory._load_models()
    returns void
    language plpgsql volatile parallel unsafe
    set search_path = pg_catalog, pg_temp
    as $absent$
    begin
    end;
    $absent$;

    create or replace function memory._call_model(kind text, payload jsonb)
    returns jsonb
    language plpgsql volatile parallel unsafe
    set search_path = pg_catalog, pg_temp
    as $absent$
    begin
      return '{"error": "this server cannot call models (it has no plpython3u)"}';
    end;
    $absent$;

    create or replace procedure memory.run_jobs(max_jobs int default 100, max_seconds int default 60)
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $absent$
    begin
      raise exception 'memory.run_jobs() needs PL/Python, which this installation does not have'
        using errcode = '0A000',
          hint = 'Run "agent-memory worker" beside the server. For jobs inside it, the owner of the schema needs '
                 'plpython3u, and to be a superuser while the install file runs: docs/operations.md.';
    end;
    $absent$;
    comment on function memory._load_models() is
    'Would load the model package, but there is no PL/Python.';
    comment on procedure memory.run_jobs(int, int) is
    'Would run queued model work inside the server, but there is no PL/Python: run "agent-memory worker" beside it.';
  end if;
  -- Also where the PL/Python functions of an earlier version stay.
  if to_regprocedure('memory._server_variable(text)') is null then
    create function memory._server_variable(p_name text)
    returns text
    language plpgsql volatile parallel unsafe
    set search_path = pg_catalog, pg_temp
    as $absent$
    begin
      return null;
    end;
    $absent$;
  end if;
end;
$runner$;

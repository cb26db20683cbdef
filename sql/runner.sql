-- The in-database runner, where PostgreSQL has Python. Only a superuser can create it; everything else works without.
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
  end if;
end;
$runner$;

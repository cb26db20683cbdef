create or replace function memory.version()
returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select '{{version}}' $$;
comment on function memory.version() is 'Version of agent_memory in this database.';

create or replace function memory.version()
returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select '{{version}}' $$;
comment on function memory.version() is 'Version of agent_memory in this database.';

-- The add-ons that are installed; none in the core alone.
create or replace function memory._addons()
returns text[]
language sql immutable parallel safe
as $$ select array[{{addons}}]::text[] $$;

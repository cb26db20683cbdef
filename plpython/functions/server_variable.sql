-- A key of secrets from the server's environment; null for every other variable, which may hold a key of a model.
create or replace function memory._server_variable(p_name text)
returns text
language plpython3u volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $server_variable$
import os

return os.environ.get(p_name) or None if p_name.startswith('AGENT_MEMORY_SECRET_KEY') else None
$server_variable$;

-- Not with the owner's rights: the functions that call it have them.
create or replace function memory._call_model(kind text, payload jsonb)
returns jsonb
language plpython3u volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $call_model$
plpy.execute('select memory._load_models()')

from agent_memory_models.database_call import call_model

return call_model(plpy, kind, payload)
$call_model$;

-- One model call that a query waits for. It runs with its caller's rights; only functions with the owner's rights call
-- it.
create or replace function memory._call_model(kind text, payload jsonb)
returns jsonb
language plpython3u volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $call_model$
plpy.execute('select memory._load_models()')

from agent_memory_server.query_call import call_model

return call_model(plpy, kind, payload)
$call_model$;

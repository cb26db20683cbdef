-- No SET clause and no SECURITY DEFINER: a procedure with either may not commit. It only calls hardened functions by
-- qualified name.
create or replace procedure memory.run_jobs(max_jobs int default 100, max_seconds int default 60)
language plpython3u
as $run_jobs$
plpy.execute('select memory._load_models()')

from agent_memory_server.runner import run_jobs

run_jobs(plpy, max_jobs, max_seconds)
$run_jobs$;
comment on procedure memory.run_jobs(int, int) is
'Runs queued model work inside the server until no job is due, max_jobs were claimed or max_seconds have passed. CALL '
'it outside a transaction: it commits before every model call. A cancel gives its jobs back to the queue. Needs '
'plpython3u; docs/models.md says where it finds its packages and keys.';

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
'Runs queued model work inside the server: claims jobs, calls their models up to ten at a time, stores the results. Ends when no job is due, max_jobs were claimed or max_seconds have passed; calls under way are awaited. CALL it as a statement of its own, outside a transaction; it commits before every model call and can be cancelled at any time: its jobs then go back to the queue. Needs plpython3u. Packages for provider openai are imported from the directory in the server''s environment variable AGENT_MEMORY_PYTHONPATH; keys come from that environment, or from files in the directory that AGENT_MEMORY_KEY_DIR names.';

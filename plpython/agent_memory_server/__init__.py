"""The code that runs inside PostgreSQL and speaks SQL, through the module plpy of PL/Python.

- runner.py: the procedure memory.run_jobs(), which does queued jobs.
- query_call.py: the function memory._call_model(), one model call that a query waits for.
- backend.py: the event loop and the connections that both keep in a session.

The jobs themselves are the work of the package agent_memory_models. build/agent_memory.sql carries both packages.
"""

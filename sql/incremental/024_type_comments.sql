-- What each result row of the API is.
comment on type memory.stored_message is 'What memory.add_message() and memory.add_messages() return.';
comment on type memory.message is 'A message, as memory.get_messages() returns it.';
comment on type memory.context_part is 'A part of a context, as memory.get_context() returns it.';
comment on type memory.thread is 'A thread with its counters, as memory.list_threads() returns it.';
comment on type memory.thread_summary is
'A summary, as memory.get_thread_summary() and memory.get_user_summary() return it.';
comment on type memory.stored_memory is 'What memory.add_memory() returns.';
comment on type memory.memory is 'A memory, as memory.get_memory() and memory.list_memories() return it.';
comment on type memory.memory_version is 'A version of a memory, as memory.get_memory_history() returns it.';
comment on type memory.search_result is 'A result of memory.search().';
comment on type memory.job is 'A job, as memory.get_job() returns it.';
comment on type memory.claimed_job is 'A job with all its input, as memory.claim_jobs() hands it to a worker.';
comment on type memory.document is 'A document, as memory.list_documents() returns it.';
comment on type memory.stored_artifact is 'What memory.store_artifact() returns.';
comment on type memory.artifact is 'An artifact, as memory.list_artifacts() returns it.';
comment on type memory.backfill is 'How far an embedding model is, as memory.backfill_status() returns it.';
comment on type memory.ranking is 'A row of a ranking, within a search.';

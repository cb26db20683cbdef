-- What each column holds, for whoever meets the tables in psql (\d+). Names that mean the same everywhere come first.
do $$
declare
  described record;
begin
  for described in
    select a.attrelid::regclass as table_name, a.attname as column_name, n.says
    from (values
        ('user_id', 'The user to whom the row belongs.'),
        ('thread_id', 'The thread of that user; null where no thread is concerned.'),
        ('agent_id', 'The agent of that user.'),
        ('transaction_id', 'The transaction that the row is about.'),
        ('created_at', 'When the row was stored.'),
        ('updated_at', 'When the row was last changed.')
      ) as n (column_name, says)
    join pg_attribute as a on a.attname = n.column_name and a.attnum > 0
    join pg_class as c on c.oid = a.attrelid and c.relnamespace = 'memory'::regnamespace and c.relkind = 'r'
    where col_description(a.attrelid, a.attnum) is null
  loop
    execute format('comment on column %s.%I is %L', described.table_name, described.column_name, described.says);
  end loop;
end;
$$;

comment on column memory.artifact_parts.content is 'The text of this part.';
comment on column memory.artifacts.artifact_type is 'What kind of text: command_output, or what the application names.';
comment on column memory.artifacts.expires_at is
'Invisible from this moment on and removed by memory.sweep(); null means never.';
comment on column memory.audit.audit_id is 'Rises with each row, in the order of the calls, not of their commits.';
comment on column memory.audit.at is 'When the function was called.';
comment on column memory.audit.function is
'The function that was called, without its schema; install and upgrade for the install file.';
comment on column memory.bound_roles.role_name is 'The login role.';
comment on column memory.bound_roles.user_id is 'The only user whom sessions of the role reach.';
comment on column memory.bound_roles.bound_at is 'When memory.bind_role() bound it.';
comment on column memory.document_chunks.document_id is 'The document of which this is a piece.';
comment on column memory.document_chunks.number is 'The place of the piece in its document, from 0.';
comment on column memory.document_chunks.content is 'The text of the piece.';
comment on column memory.document_chunks.search_vector is
'The words of the piece and of the title, for keyword search.';
comment on column memory.documents.document_id is 'Names the document, as memory.add_document() returned it.';
comment on column memory.documents.namespace is
'A group of documents, by which searches may be narrowed; conversations:<user_id> for archived conversations.';
comment on column memory.documents.doc_type is 'document, conversation, article, or what the application names.';
comment on column memory.documents.title is 'The title, or null.';
comment on column memory.documents.content is 'The whole text.';
comment on column memory.documents.metadata is 'Of the application.';
comment on column memory.documents.thread_id is 'Of an archived conversation the thread; null for other documents.';
comment on column memory.due_deletions.due_at is
'From when on a call of the user or an idle worker deletes them for good.';
comment on column memory.embeddings.model is 'The name of the embedding model in memory.models.';
comment on column memory.embeddings.embedding is 'The vector that the model made of the text.';
comment on column memory.erasure_keys.made_at is 'When the key was made; the first one is that of this database.';
comment on column memory.gone_jobs.job_id is 'The number that the job had.';
comment on column memory.gone_jobs.kind is 'The kind that the job had.';
comment on column memory.gone_jobs.agent_id is 'Whose budget the calls count against.';
comment on column memory.gone_jobs.model is 'The model that its input named; null where none was named.';
comment on column memory.gone_jobs.tokens_left is 'Tokens that may still be entered for it in the ledger.';
comment on column memory.gone_jobs.gone_at is 'When the job was deleted.';
comment on column memory.idempotency_keys.idempotency_key is 'The key that the caller gave the message.';
comment on column memory.idempotency_keys.seq is
'The number that the message had, which a repetition gets as its answer.';
comment on column memory.idempotency_keys.token_count is 'The tokens that the message had.';
comment on column memory.jobs.job_id is 'The number of the job, which the function that queued it returned.';
comment on column memory.jobs.kind is
'What is to be done: extract_memories, summarize_thread, embed, ... (docs/concepts.md).';
comment on column memory.jobs.status is
'pending: waits for its turn, or for run_after. running: a worker has it. completed, dead: done, or failed for good.';
comment on column memory.jobs.attempts is 'How many attempts were counted; those that were released are not.';
comment on column memory.jobs.max_attempts is 'After so many failed attempts the job is dead.';
comment on column memory.jobs.run_after is 'Not handed out before this time.';
comment on column memory.jobs.worker is 'The worker of the last claim, as it names itself.';
comment on column memory.jobs.lease_expires_at is
'Until when the worker has the job; afterwards the next claim hands it out again.';
comment on column memory.jobs.result is 'What completing the job did: counts and ids, no content.';
comment on column memory.jobs.error is 'Why the last attempt failed, or why the job waits.';
comment on column memory.jobs.finished_at is 'When the job was completed or died; null before.';
comment on column memory.marks.kind is
'Whose progress position says: a kind of job, or one of the names explained there.';
comment on column memory.marks.position is
'extract_memories, summarize_user: the seq up to which the thread was read. words: the seq up to which all messages '
'are parsed and have search_keys. extractions: how many there were. reconcile_memories, consolidate: the time of the '
'newest memory looked at, in microseconds since 1970. unchecked: how far memory.sweep() has to look at what was '
'stored before version 0.2 had rules of quarantine. claims: erasures hold this row so that no worker claims a job of '
'the user meanwhile.';
comment on column memory.memories.memory_id is 'Names the memory, as memory.add_memory() returned it.';
comment on column memory.memories.memory_type is 'The kind of memory, a row of memory.memory_types.';
comment on column memory.memories.content is 'What is remembered: a sentence, as a rule.';
comment on column memory.memories.embedding_text is
'What is embedded and searched in place of content; null means content.';
comment on column memory.memories.thread_id is 'The thread in which it was said; null for a memory of no thread.';
comment on column memory.memories.metadata is
'Of the application; what extraction knows besides, such as subject and event_time.';
comment on column memory.memories.tags is 'Labels by which lists and searches select.';
comment on column memory.memories.confidence is 'How sure the source is, from 0 to 1.';
comment on column memory.memories.importance is
'How much it matters, from 0 to 1: it weighs in contexts, and decides who goes at the limit.';
comment on column memory.memories.valid_from is
'From when on the fact holds, in the world; null where that is not known.';
comment on column memory.memories.valid_to is 'Until when the fact holds, in the world; null means for ever.';
comment on column memory.memories.expires_at is
'Invisible from this moment on and removed by memory.sweep(); null means never.';
comment on column memory.memories.superseded_at is 'When superseded_by took its place; null while it is current.';
comment on column memory.memories.operation is
'The change that made this version: insert, update, supersede, delete, evict (it gave way to others at the limit), '
'restore, quarantine or release.';
comment on column memory.memories.deleted_at is
'When it was deleted or evicted; memory.sweep() removes it. infinity: it is in quarantine. Null otherwise.';
comment on column memory.memories.changed_by is 'The role that had logged in when this version was made.';
comment on column memory.memory_history.memory_id is 'The memory of which this is an earlier version.';
comment on column memory.memory_history.version is 'The number of the version, from 1.';
comment on column memory.memory_history.operation is 'The change that made this version, as of memories.';
comment on column memory.memory_history.content is 'What this version said.';
comment on column memory.memory_history.metadata is 'The metadata of this version.';
comment on column memory.memory_history.tags is 'The tags of this version.';
comment on column memory.memory_history.confidence is 'The confidence of this version.';
comment on column memory.memory_history.importance is 'The importance of this version.';
comment on column memory.memory_history.expires_at is 'When this version was to expire; null means never.';
comment on column memory.memory_history.changed_at is 'When this version was made.';
comment on column memory.memory_history.changed_by is 'The role that had logged in when this version was made.';
comment on column memory.memory_history.supersede_reason is 'Why this version was hidden, as of memories.';
comment on column memory.memory_types.memory_type is 'The name of the kind.';
comment on column memory.memory_types.heading is
'The line above the memories of this kind in memory.render_memories().';
comment on column memory.memory_types.description is 'What belongs here, for people.';
comment on column memory.memory_types.position is
'The place of the kind in memory.render_memories(), from the least on.';
comment on column memory.messages.thread_id is 'The conversation, a row of memory.threads.';
comment on column memory.messages.agent_id is 'The agent to whom the user talks.';
comment on column memory.messages.role is 'user, assistant, tool, system or developer.';
comment on column memory.messages.content is
'What was said, or the words that stand for it: see artifact_key, and quarantined_messages.';
comment on column memory.messages.metadata is
'Of the application; tool_calls, tool_call_id and name of a chat message stand here.';
comment on column memory.messages.idempotency_key is
'The key that the caller gave: a repetition in the thread stores nothing.';
comment on column memory.messages.created_at is 'When it was said; the caller may name an earlier time.';
comment on column memory.migrations.name is 'The file of sql/incremental, without its ending.';
comment on column memory.migrations.sha256 is 'SHA-256 of the file that ran.';
comment on column memory.migrations.version is 'The version of agent_memory that ran it.';
comment on column memory.migrations.applied_at is 'When it ran.';
comment on column memory.model_calls.user_id is
'The user for whom the model was called; empty once that user is forgotten.';
comment on column memory.model_calls.call_id is 'Names the call.';
comment on column memory.model_calls.job_id is 'The job that called; null for a search or a context.';
comment on column memory.model_calls.kind is 'The kind of the job; embed and rerank also for searches.';
comment on column memory.model_calls.agent_id is 'Whose budget the call counts against; null for no agent.';
comment on column memory.model_calls.model is 'The name of the model in memory.models.';
comment on column memory.model_calls.prompt_version is
'The version of the prompt in memory.prompt_versions; null where none was used.';
comment on column memory.model_calls.tokens_in is 'Tokens that the provider read; null where it did not say.';
comment on column memory.model_calls.tokens_out is 'Tokens that the provider wrote; null where it did not say.';
comment on column memory.model_calls.duration_ms is 'Milliseconds that the call took.';
comment on column memory.model_calls.error is 'Why the call failed; null when it did not.';
comment on column memory.model_calls.called_at is 'When the call was entered.';
comment on column memory.models.name is 'The name under which functions and policies know the model.';
comment on column memory.models.kind is 'chat, embedding or rerank.';
comment on column memory.models.provider is 'local, openai (and all that speak its protocol) or azure.';
comment on column memory.models.model is 'What the provider calls it.';
comment on column memory.models.settings is
'Address, limits, prices and where the key is found; see memory.register_model().';
comment on column memory.models.is_active is 'Whether it is the one in use for its kind.';
comment on column memory.moved_users.moved_at is 'When the copy was committed.';
comment on column memory.policies.user_id is 'The user whose settings these are; empty for every user.';
comment on column memory.policies.agent_id is 'The agent whose settings these are; empty for every agent.';
comment on column memory.policies.settings is 'Only what was set at this level; memory.get_policy() merges the levels.';
comment on column memory.prompt_versions.name is 'The prompt: a kind of job, rerank or placeholders.';
comment on column memory.prompt_versions.version is 'From 2 on; the ledger names the version that a call used.';
comment on column memory.prompt_versions.changed_by is 'The role that had logged in.';
comment on column memory.prompt_versions.changed_at is 'When memory.set_prompt() or memory.reset_prompt() was called.';
comment on column memory.quarantined_messages.thread_id is 'The thread of the message.';
comment on column memory.quarantined_messages.seq is 'The number of the message in its thread.';
comment on column memory.quarantined_messages.reason is 'Why: the signs that a rule found, or what the caller gave.';
comment on column memory.quarantined_messages.quarantined_at is 'Since when it is in quarantine.';
comment on column memory.query_embeddings.model is 'The name of the embedding model in memory.models.';
comment on column memory.query_embeddings.embedding is 'The vector that the model made of the query.';
comment on column memory.receipts.receipt_id is 'Names the receipt, as the call returned it.';
comment on column memory.receipts.subject is 'What was forgotten: memory or user.';
comment on column memory.receipts.tables is 'How many rows of which table were removed or emptied.';
comment on column memory.receipts.forgotten_at is 'When it was forgotten.';
comment on column memory.role_grants.role_name is 'The role that got the right.';
comment on column memory.role_grants.object is 'What it may use: the kind of object and its name in schema memory.';
comment on column memory.role_grants.role_oid is
'The number of the role then: a role that was dropped and created again has another one, and gets its rights again.';
comment on column memory.role_grants.granted_at is 'When the install file granted it.';
comment on column memory.secret_reads.read_at is 'When the secret was read.';
comment on column memory.secret_reads.name is 'The name of the secret that was read.';
comment on column memory.secret_reads.login_role is 'The role that had logged in.';
comment on column memory.secrets.name is 'The name of the secret, unique per user.';
comment on column memory.summaries.summary_id is 'Names the summary; messages that it replaced name it.';
comment on column memory.summaries.kind is 'rolling, thread or user, see the comment of the table.';
comment on column memory.summaries.summary is 'The text; null until a model has written it.';
comment on column memory.summaries.search_vector is 'The words of the text, for keyword search.';
comment on column memory.summaries.start_seq is 'The first message that went in.';
comment on column memory.summaries.status is
'processing: a worker is at it, or will try again. completed. failed: its job is dead.';
comment on column memory.summaries.metadata is
'Of the summary of a whole thread its topics, entities, decisions and open questions.';
comment on column memory.threads.thread_id is 'The name of the conversation, which its first message gave.';
comment on column memory.threads.first_at is 'created_at of its earliest message.';
comment on column memory.threads.last_at is 'created_at of its latest message.';
comment on column memory.token_keys.is_previous is 'Whether it is the key before, accepted during a rotation.';
comment on column memory.token_keys.inner_block is
'The key, padded to 64 bytes, each combined with 0x36 (HMAC, RFC 2104).';
comment on column memory.token_keys.outer_block is 'The same, combined with 0x5c.';
comment on column memory.token_keys.set_at is 'When memory.set_token_key() set it.';
comment on column memory.tombstones.forgotten_at is 'When it was forgotten.';

-- The tables that are exported, in the order in which they are imported. left_out are columns that are made again, or
-- that only mean something to this database. An import refuses a row that does not meet the condition. Numbers of jobs
-- are not exported: another database gives its own. Expired rows (unexpired is not true) are not exported either; an
-- import takes them, because an old export has them.
create or replace function memory._export_kinds()
returns table (place int, kind text, left_out text[], condition text, unexpired text)
language plpgsql immutable parallel safe
as $$
begin
  return query
  values
    (1, 'policies', array[]::text[], 'true', 'true'),
    -- Before threads, as a message becomes an artifact before its thread is locked.
    (2, 'artifacts', array['content_id'], 'true', 'memory._is_unexpired(t.expires_at)'),
    (3, 'threads', array['message_count', 'active_tokens', 'settled_at'], 'true', 'true'),
    (4, 'messages', array[]::text[], 'true', 't.expires_at > statement_timestamp()'),
    (5, 'quarantined_messages', array[]::text[], 'true',
     'exists (select from memory.messages as m where m.user_id = t.user_id and m.thread_id = t.thread_id
              and m.seq = t.seq and m.expires_at > statement_timestamp())'),
    (6, 'summaries', array[]::text[], 't.status <> ''processing''', 'true'),
    (7, 'memory_scopes', array['memory_count'], 'true', 'true'),
    (8, 'memories', array['content_hash', 'is_stated'], 'true',
     'memory._is_unexpired(t.expires_at)'),
    (9, 'memory_history', array[]::text[], 'true',
     'not exists (select from memory.memories as m where m.user_id = t.user_id and m.memory_id = t.memory_id
                  and m.expires_at <= statement_timestamp())'),
    (10, 'documents', array[]::text[], 'true', 'true'),
    (11, 'secrets', array[]::text[], 'true', 'true'),
    (12, 'secret_reads', array[]::text[], 'true', 'true'),
    (13, 'idempotency_keys', array[]::text[], 'true', 'true'),
    -- How far messages are parsed is another matter where an import leaves them to be parsed.
    (14, 'marks', array[]::text[], 't.kind not in (''claims'', ''language'', ''parsed_anew'', ''spoken'')',
     't.kind <> ''words'''),
    (15, 'jobs', array['job_id', 'worker', 'lease_token', 'lease_expires_at', 'tokens_reserved', 'next_request'],
     't.status in (''completed'', ''dead'')', 'true'),
    (16, 'model_calls', array['job_id'], 'true', 'true'),
    (17, 'checkpoints', array[]::text[], 'memory._is_namespace(t.namespace)',
     'not memory._checkpoints_have_expired(t.user_id, t.thread_id)'),
    (18, 'checkpoint_blobs', array[]::text[], 'memory._is_namespace(t.namespace)',
     'not memory._checkpoints_have_expired(t.user_id, t.thread_id)'),
    (19, 'checkpoint_writes', array[]::text[], 'memory._is_namespace(t.namespace)',
     'not memory._checkpoints_have_expired(t.user_id, t.thread_id)'),
    (20, 'memory_uses', array[]::text[], 't.outcome in (''used'', ''helpful'', ''wrong'')',
     'exists (select from memory.memories as m where m.user_id = t.user_id and m.memory_id = t.memory_id
              and memory._is_unexpired(m.expires_at))');
end;
$$;

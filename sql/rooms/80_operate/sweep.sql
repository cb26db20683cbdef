create or replace function memory.sweep(batch_size int default 10000)
returns jsonb
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  swept jsonb;
  overdue record; -- jobs that become due with time, at most batch_size of each kind
  queued bigint := 0;
  checked bigint;
begin
  if (batch_size >= 1) is not true then
    perform memory._refuse('batch_size', format('%s is less than 1', coalesce(batch_size::text, 'null')),
      'It bounds the rows of each kind that one call removes.');
  end if;

  perform memory._release_left_hidden(least(batch_size, 1000));
  -- Queueing and parsing come before the deletions, which lock threads that appends wait for: the loop reads all
  -- threads.
  for overdue in
    {{each kind with overdue, union all: select '<kind>' as kind, o.* from memory._<kind>_overdue(batch_size) as o}}
  loop
    queued := queued + memory._enqueue_due(overdue.user_id, overdue.kind, overdue.scope)::int;
  end loop;
  checked := memory._finish_unread_messages(batch_size);
  checked := checked + memory._parse_parts(null, 4000000);
  checked := checked + memory._check_unchecked(batch_size);
  perform memory._fill_codes(batch_size);

  -- These skip rows (or threads and scopes) that another transaction has locked; the next call deletes the rest. Each
  -- finds the rows that are due by an index, locks them (or their thread or scope), and deletes them: locked rows by
  -- their address (ctid), the others by their key if their version (xmin) is still the same.
  swept := jsonb_build_object('messages', memory._sweep_messages(batch_size));
  swept := swept || jsonb_build_object('memories', memory._sweep_memories(batch_size));
  swept := swept || jsonb_build_object(
    'artifacts', memory._sweep_artifacts(batch_size) + memory._sweep_unnamed_artifacts(batch_size));
  perform memory._sweep_artifact_uploads(batch_size);
  swept := swept || jsonb_build_object('jobs', memory._sweep_jobs(batch_size));
  swept := swept || jsonb_build_object('model_calls',
    memory._sweep_old_rows('model_calls', 'called_at', '400 days', batch_size));
  perform memory._sweep_old_rows('query_embeddings', 'created_at', '30 days', batch_size);
  perform memory._sweep_old_rows('gone_jobs', 'gone_at', '7 days', batch_size);
  perform memory._sweep_old_rows('secret_reads', 'read_at', '400 days', batch_size);
  perform memory._sweep_old_rows('audit', 'at', '400 days', batch_size);
  return swept || jsonb_build_object('queued', queued, 'checked', checked);
end;
$$;
comment on function memory.sweep(int) is
'Removes rows that have expired, were soft-deleted or are old, at most batch_size of each kind; queues periodic work, '
'such as reading messages before they expire, and parses messages and artifacts that no job has parsed. Returns the '
'counts. Run it from cron or pg_cron until the counts are 0.';

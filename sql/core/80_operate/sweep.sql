create or replace function memory.sweep(batch_size int default 10000)
returns jsonb
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off -- a sweep calls functions of other rooms, and reads by an index what is due
set enable_bitmapscan = off
as $$
declare
  swept jsonb := jsonb '{"messages": 0, "memories": 0, "artifacts": 0, "checkpoints": 0, "jobs": 0, "model_calls": 0,
    "queued": 0, "checked": 0}';
  overdue record; -- jobs that become due with time, at most batch_size of each kind
  queued bigint := 0;
  checked bigint;
  removed bigint;
  finished tid[];
  old record;
begin
  if (batch_size >= 1) is not true then
    perform memory._refuse('batch_size', format('%s is less than 1', coalesce(batch_size::text, 'null')),
      'It bounds the rows of each kind that one call removes.');
  end if;
  -- Only one sweep runs at a time: two would set watermarks and delete messages in different orders, and wait for each
  -- other. The lock is a row that always exists and that nobody else locks.
  perform from memory.erasure_keys as k where k.inner_block = (memory._erasure_key()).inner_block
  for no key update skip locked;
  if not found then
    return swept;
  end if;

  perform memory._release_left_hidden(least(batch_size, 1000));
  perform memory._enqueue_backfills_again();
  -- Queueing and parsing come before the deletions, because the loop reads all threads, and the deletions lock threads
  -- for which appends wait.
  for overdue in
    {{each kind with overdue, union all: select '<kind>' as kind, o.* from memory._<kind>_overdue(batch_size) as o}}
  loop
    queued := queued + memory._enqueue_due(overdue.user_id, overdue.kind, overdue.scope)::int;
  end loop;
  checked := memory._finish_unread_messages(batch_size);
  {{each addon with parse: checked := checked + memory._<addon>_parse(null, 4000000);}}
  perform memory._serve_active_model(null, batch_size);

  -- These functions skip rows (or threads and scopes) that another transaction has locked; the next call deletes them.
  -- Each function finds the rows that are due by an index, locks them (or their thread or scope), and deletes them:
  -- locked rows by their address (ctid), others by their key if their version (xmin) is unchanged.
  swept := swept || jsonb_build_object('messages', memory._sweep_messages(batch_size));
  swept := swept || jsonb_build_object('memories', memory._sweep_memories(batch_size));
  {{each addon with sweep: swept := memory._added(swept, memory._<addon>_sweep(batch_size));}}
  -- The rows are chosen by a statement of their own, so that the deletion is planned for their number: for an array of
  -- unknown length PostgreSQL reads a table of a few pages whole.
  finished := array(
    select d.ctid from memory.jobs as d
    where d.status in ('completed', 'dead')
      and d.finished_at < statement_timestamp() - interval '7 days' -- for the index
      and (d.status = 'completed' or d.finished_at < statement_timestamp() - interval '30 days')
    order by d.finished_at limit batch_size for update skip locked);
  delete from memory.jobs as j where j.ctid = any (finished);
  get diagnostics removed = row_count;
  swept := swept || jsonb_build_object('jobs', removed);
  perform memory._number_changes(least(10::bigint * batch_size, 1000000)::int);
  for old in
    {{each table with kept_for, union all: select '<table>' as name, <aged_by> as time, <kept_for as code> as age}}
  loop
    execute format(
      'delete from memory.%1$I as d where d.ctid = any (array(
         select t.ctid from memory.%1$I as t where t.%2$I < statement_timestamp() - $1
         order by t.%2$I limit $2 for update skip locked))',
      old.name, old.time)
    using old.age, batch_size;
    get diagnostics removed = row_count;
    swept := swept || case old.name when 'model_calls' then jsonb_build_object('model_calls', removed) else '{}' end;
  end loop;
  perform memory._settle_threads(batch_size);
  return swept || jsonb_build_object('queued', queued, 'checked', checked);
end;
$$;
comment on function memory.sweep(int) is
'Removes rows that have expired, were soft-deleted or are old, at most batch_size of each kind; queues periodic work, '
'such as reading messages before they expire, and parses messages and artifacts that no job has parsed. Returns the '
'counts. Run it from cron or pg_cron until the counts are 0. Beside a sweep that is under way it does nothing.';

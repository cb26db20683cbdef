-- Deletes the memories extracted from a deleted thread, then the thread's rows: watermarks, jobs and summaries, in the
-- order in which memory.complete_job() locks them. A worker that is about to store a result then finds no job.
create or replace function memory._thread_after_delete()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  deleted bigint[]; -- the numbers of the messages
begin
  perform memory._note_change(old.user_id, 'thread', old.thread_id, memory._gone());
  perform memory._delete_derived(old.user_id, old.thread_id, false);
  -- The scope of a watermark of these kinds is no thread, although a thread may have such a name (language:english).
  delete from memory.marks as k
  where k.user_id = old.user_id and k.scope = old.thread_id and k.kind not in ('language', 'parsed_anew', 'spoken');
  delete from memory.jobs as j where j.user_id = old.user_id and j.scope = old.thread_id;
  perform memory._recall_user_summary(old.user_id, old.thread_id);
  -- Deletes watermarks once more: the job for which this transaction waited may have set the first one.
  delete from memory.marks as k
  where k.user_id = old.user_id and k.scope = old.thread_id and k.kind not in ('language', 'parsed_anew', 'spoken');
  delete from memory.summaries as s where s.user_id = old.user_id and s.thread_id = old.thread_id;
  delete from memory.documents as d
  where d.user_id = old.user_id and d.thread_id = old.thread_id and memory._is_archive(d);
  {{each addon with thread_deleted: perform memory._<addon>_thread_deleted(old.user_id, old.thread_id);}}
  -- The trigger on messages does nothing now: it would keep the idempotency keys and correct the counters, which are
  -- deleted with the thread.
  perform memory._begin_whole_user_change();
  with gone as (
    delete from memory.messages as m where m.user_id = old.user_id and m.thread_id = old.thread_id returning m.seq
  )
  select array_agg(g.seq) into deleted from gone as g;
  perform set_config('memory.rows_are_copied', '', true); -- memory._threads_after_delete() removes the note
  -- Texts are deleted after the messages: a job that stores embeddings locks the messages until it commits, and the
  -- deletion has waited for this job.
  perform memory._drop_texts(old.user_id, 'message', g.ids)
  from (select array_agg(old.thread_id || '/' || d.seq) as ids
        from unnest(deleted) as d (seq) group by d.seq / 10000) as g;
  {{each table with goes_with_thread:
  delete from memory.<table> as t where t.user_id = old.user_id and t.thread_id = old.thread_id;}}
  return null;
end;
$$;

-- Removes the note of memory._begin_whole_user_change() that the triggers of the deleted threads left. The note must
-- not exist while PostgreSQL looks for the threads, because a function in the caller's condition could use it.
create or replace function memory._threads_after_delete()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._end_whole_user_change();
  return null;
end;
$$;

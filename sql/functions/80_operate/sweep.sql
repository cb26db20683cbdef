create or replace function memory.sweep(batch_size int default 10000)
returns jsonb
language plpgsql volatile parallel unsafe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  swept_messages bigint;
  swept_memories bigint;
  swept_artifacts bigint;
  swept_jobs bigint;
  swept_calls bigint;
  checked bigint;
  queued bigint;
begin
  if (batch_size >= 1) is not true then
    perform memory._refuse('batch_size', format('%s is less than 1', coalesce(batch_size::text, 'null')), 'It bounds the rows of each kind that one call removes.');
  end if;

  perform memory._release_left_hidden(least(batch_size, 1000));
  queued := memory._enqueue_periodic_work(batch_size); -- first, while nothing is locked: it reads all threads
  checked := memory._finish_unread_messages(batch_size); -- before what appends would wait for

  -- Threads and scopes in use are skipped, not waited for: the next call gets them, and a sweep never deadlocks.
  with due as (
    (select m.user_id, m.thread_id, m.seq from memory.messages as m
     where m.expires_at <= statement_timestamp() and m.expires_at < 'infinity' order by m.expires_at limit batch_size)
    union
    -- A compressed message stays until extraction has read it, a week at most.
    (select m.user_id, m.thread_id, m.seq from memory.messages as m
     where not m.is_active
       and (m.summary_id is null or m.updated_at < statement_timestamp() - interval '7 days'
            or m.seq <= (select k.position from memory.marks as k where k.user_id = m.user_id and k.scope = m.thread_id and k.kind = 'extract_memories'))
     limit batch_size)
  ), free as materialized (
    select t.user_id, t.thread_id from memory.threads as t
    where (t.user_id, t.thread_id) in (select d.user_id, d.thread_id from due as d) for no key update skip locked
  ), swept as (
    delete from memory.messages as m
    using (select d.* from due as d join free as f using (user_id, thread_id) limit batch_size) as d
    where m.user_id = d.user_id and m.thread_id = d.thread_id and m.seq = d.seq
      -- Still: somebody may have changed the message since.
      and (m.expires_at <= statement_timestamp() or not m.is_active
        and (m.summary_id is null or m.updated_at < statement_timestamp() - interval '7 days'
             or m.seq <= (select k.position from memory.marks as k
                          where k.user_id = m.user_id and k.scope = m.thread_id and k.kind = 'extract_memories')))
    returning 1
  )
  select count(*) into swept_messages from swept;

  with due as (
    (select m.user_id, m.agent_id, m.memory_id from memory.memories as m
     where m.expires_at <= statement_timestamp() order by m.expires_at limit batch_size)
    union
    -- What the limit took can be restored for a week: nobody asked for its end.
    (select m.user_id, m.agent_id, m.memory_id from memory.memories as m
     where m.deleted_at is not null and (m.operation <> 'evict'
       or m.deleted_at < statement_timestamp() - interval '7 days')
     order by m.deleted_at limit batch_size)
  ), free as materialized (
    select s.user_id, s.agent_id from memory.memory_scopes as s
    where (s.user_id, s.agent_id) in (select d.user_id, d.agent_id from due as d) for no key update skip locked
  ), swept as (
    delete from memory.memories as m
    using (select d.* from due as d join free as f using (user_id, agent_id) limit batch_size) as d
    where m.user_id = d.user_id and m.memory_id = d.memory_id
      -- Still: somebody may have restored the memory since.
      and (m.expires_at <= statement_timestamp() or m.deleted_at is not null
        and (m.operation <> 'evict' or m.deleted_at < statement_timestamp() - interval '7 days'))
    returning 1
  )
  select count(*) into swept_memories from swept;

  -- Materialized here and below: a join that runs such a subquery twice would lock, and delete, twice as many.
  with due as materialized (
    select a.user_id, a.key from memory.artifacts as a
    where a.expires_at <= statement_timestamp() order by a.expires_at limit batch_size for update skip locked
  ), swept as (
    delete from memory.artifacts as a using due
    where a.user_id = due.user_id and a.key = due.key and a.expires_at <= statement_timestamp() returning 1
  )
  select count(*) into swept_artifacts from swept;

  -- What went well is kept for a week, what died for a month.
  with old as materialized (
    select j.user_id, j.job_id from memory.jobs as j
    where j.status in ('completed', 'dead') and j.finished_at < statement_timestamp() - interval '7 days'
      and j.finished_at < statement_timestamp() - case j.status when 'completed' then interval '7 days'
        else interval '30 days' end
    order by j.finished_at limit batch_size for update skip locked
  ), swept as (
    delete from memory.jobs as j using old
    where j.user_id = old.user_id and j.job_id = old.job_id returning 1
  )
  select count(*) into swept_jobs from swept;
  delete from memory.model_calls as c
  where c.called_at < statement_timestamp() - interval '400 days'
    and (c.user_id, c.call_id) in (select o.user_id, o.call_id from memory.model_calls as o
                                   where o.called_at < statement_timestamp() - interval '400 days' order by o.called_at limit batch_size);
  get diagnostics swept_calls = row_count;
  delete from memory.query_embeddings as k
  where k.created_at < statement_timestamp() - interval '30 days' and (k.user_id, k.model, k.query_hash) in (
    select o.user_id, o.model, o.query_hash from memory.query_embeddings as o
    where o.created_at < statement_timestamp() - interval '30 days' order by o.created_at limit batch_size);
  delete from memory.gone_jobs as g
  where (g.user_id, g.job_id) in (select o.user_id, o.job_id from memory.gone_jobs as o
                                  where o.gone_at < statement_timestamp() - interval '7 days'
                                  order by o.gone_at limit batch_size);
  return jsonb_build_object('messages', swept_messages, 'memories', swept_memories, 'artifacts', swept_artifacts, 'jobs', swept_jobs,
                            'model_calls', swept_calls, 'queued', queued, 'checked', checked);
end;
$$;
comment on function memory.sweep(int) is
'Removes expired and soft-deleted messages and memories, expired artifacts, old finished jobs and model calls of more '
'than 400 days ago, at most batch_size of each kind; queues what is periodic: the extraction of threads that have '
'been quiet for an hour, the consolidation of old short-term memories, and embeddings and pieces of documents that '
'were left out; and parses the messages that no job has read (checked is the number of messages looked at), of which '
'a search by keyword looks at a part only until then. Returns the counts. Run it from cron or pg_cron until the '
'counts are 0.';

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

-- Parses the messages that no job has read: until then every keyword search among messages does. A mark per thread
-- says up to where that is done. An index of what is left to do would make add_messages 9 to 18 % slower.
create or replace function memory._finish_unread_messages(message_limit int)
returns bigint
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  thread record;
  to_seq bigint;
  bytes bigint;
  bytes_left bigint := 4000000; -- two seconds
  checked bigint := 0;
begin
  -- In one order, so that two sweeps that set the same marks do not deadlock. A thread that is found stays until the end, and
  -- no append waits for that.
  for thread in
    select t.user_id, t.thread_id, coalesce(k.position, -1) + 1 as from_seq, t.next_seq - 1 as to_seq
    from memory.threads as t
    left join memory.marks as k on k.user_id = t.user_id and k.scope = t.thread_id and k.kind = 'words'
    where t.next_seq > coalesce(k.position, -1) + 1
    order by t.user_id, t.thread_id limit message_limit
    for key share of t skip locked
  loop
    to_seq := least(thread.to_seq, thread.from_seq + message_limit - checked - 1);
    select coalesce(min(b.seq) filter (where b.bytes > bytes_left) - 1, to_seq), coalesce(max(b.bytes) filter (where b.bytes <= bytes_left), 0)
    into to_seq, bytes
    from (select m.seq, sum(least(octet_length(m.content), 262144)) over (order by m.seq) as bytes -- as much as is parsed of each
          from memory.messages as m
          where m.user_id = thread.user_id and m.thread_id = thread.thread_id and m.seq between thread.from_seq and to_seq
            and m.search_vector is null and m.is_active) as b;
    bytes_left := bytes_left - bytes;
    perform memory._finish_messages(thread.user_id, thread.thread_id, thread.from_seq, to_seq);
    -- Up to the first that was skipped.
    select coalesce(min(m.seq) - 1, to_seq) into to_seq from memory.messages as m
    where m.user_id = thread.user_id and m.thread_id = thread.thread_id and m.seq between thread.from_seq and to_seq
      and m.search_vector is null and m.is_active;
    if to_seq >= thread.from_seq then
      perform memory._set_mark(thread.user_id, thread.thread_id, 'words', to_seq);
      checked := checked + to_seq - thread.from_seq + 1;
    end if;
    exit when checked >= message_limit or bytes_left < 262144;
  end loop;
  return checked;
end;
$$;

-- Memories whose winner is gone, which could not come back with its end because their agent's counter was in use.
create or replace function memory._release_left_hidden(row_limit int)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._release_hidden(h.user_id, h.superseded_by, null)
  from (
    select distinct m.user_id, m.superseded_by from memory.memories as m
    where m.superseded_by is not null and m.deleted_at is null
      and not exists (select from memory.memories as w
                      where w.user_id = m.user_id and w.memory_id = m.superseded_by
                        and w.deleted_at is null)
      and not exists (select from memory.documents as d where d.user_id = m.user_id and d.document_id = m.superseded_by)
    limit row_limit) as h;
end;
$$;

-- What no append can queue, because it is time that makes it due: the last messages of a thread, fewer than the cadence
-- waits for, memories that have grown old, and what slipped through.
create or replace function memory._enqueue_periodic_work(row_limit int)
returns bigint
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  extractions bigint;
  consolidations bigint;
  left_overs bigint;
begin
  -- Policies last: they cost more than all the rest.
  with unread as materialized (
    select t.user_id, t.thread_id, t.next_seq
    from memory.threads as t
    left join memory.marks as k on k.user_id = t.user_id and k.scope = t.thread_id and k.kind = 'extract_memories'
    where t.message_count > 0 and t.next_seq > coalesce(k.position, -1) + 1
      and t.last_at between statement_timestamp() - interval '8 days' and statement_timestamp() - interval '1 hour'
  )
  select count(*) filter (where memory._enqueue_due(d.user_id, 'extract_memories', d.thread_id)) into extractions
  from (
    select u.user_id, u.thread_id from unread as u
    where not memory._is_queued(u.user_id, 'extract_memories', u.thread_id)
      and (memory._policy(u.user_id, memory._agent_of_message(u.user_id, u.thread_id, u.next_seq - 1)) #>> '{cadence,fact_extraction_every_n}')::int > 0
    limit row_limit) as d;

  with outdated as materialized (
    select m.user_id
    from memory.memories as m
    left join memory.marks as k on k.user_id = m.user_id and k.scope = '' and k.kind = 'consolidate'
    where m.memory_type in ('context', 'episodic') and m.superseded_at is null and m.deleted_at is null
      and m.created_at < statement_timestamp() - interval '7 days'
      and extract(epoch from m.created_at) * 1000000 > coalesce(k.position, 0)
    group by m.user_id having count(*) >= 10
  )
  select count(*) filter (where memory._enqueue_due(d.user_id, 'consolidate', '')) into consolidations
  from (select o.user_id from outdated as o where not memory._is_queued(o.user_id, 'consolidate', '') limit row_limit) as d;

  -- What was stored at the very moment at which a job of its user ended may have been left out.
  with left_out as materialized (
    select t.user_id, case when e.is_active then 'embed' else 'backfill' end as kind
    from memory.models as e
    cross join lateral (
      select m.user_id, 'memory' as source, m.memory_id::text as id from memory.memories as m
      where m.superseded_at is null and m.deleted_at is null and (m.expires_at is null or m.expires_at > statement_timestamp())
        and (m.valid_to is null or m.valid_to > statement_timestamp())
      union all
      select c.user_id, 'document', c.document_id || '/' || c.number from memory.document_chunks as c where c.token_count is not null
      union all
      select a.user_id, 'artifact', a.key from memory.artifacts as a where a.expires_at is null or a.expires_at > statement_timestamp()
    ) as t
    where e.kind = 'embedding' and not e.is_off and exists (select from memory.models as m where m.kind = 'embedding'
      and m.is_active)
      and not exists (select from memory.embeddings as v where v.user_id = t.user_id and v.model = e.name and v.source = t.source and v.id = t.id)
    union
    select c.user_id, 'chunk_documents' from memory.document_chunks as c where c.token_count is null
  )
  select count(*) filter (where memory._enqueue_due(d.user_id, d.kind, '')) into left_overs
  from (select l.user_id, l.kind from left_out as l where not memory._is_queued(l.user_id, l.kind, '') limit row_limit) as d;
  return extractions + consolidations + left_overs;
end;
$$;

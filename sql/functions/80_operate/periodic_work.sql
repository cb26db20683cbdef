-- What no append can queue, because it is time that makes it due: the last messages of a thread, fewer than the cadence
-- waits for, memories that have grown old, and what slipped through.
create or replace function memory._enqueue_periodic_work(p_row_limit int)
returns bigint
language plpgsql volatile parallel unsafe
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
    limit p_row_limit) as d;

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
  from (select o.user_id from outdated as o where not memory._is_queued(o.user_id, 'consolidate', '') limit p_row_limit) as d;

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
  from (select l.user_id, l.kind from left_out as l where not memory._is_queued(l.user_id, l.kind, '') limit p_row_limit) as d;
  return extractions + consolidations + left_overs;
end;
$$;

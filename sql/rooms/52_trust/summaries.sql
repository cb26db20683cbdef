-- Summaries in quarantine have a status of their own, so nobody who reads completed summaries sees them, and the next
-- summary continues the one before. Summaries that models make are judged before they are stored
-- (memory._check_summary()). These functions judge older summaries, and quarantine summaries that a caller names.

-- Puts completed summaries into quarantine with everything that was made of them, has them made anew of the messages
-- that are left, and returns the counts. The messages of a user's summary are read again from the beginning, and a job
-- that continues one of them starts again. Memories, documents, watermarks, jobs and summaries are locked in this
-- order; the caller has locked the counters.
create or replace function memory._quarantine_summaries(p_user_id text, p_summary_ids uuid[], p_reasons text[])
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  counts constant jsonb := memory._quarantine_retold(p_user_id, p_summary_ids, p_reasons);
  job memory.jobs;
  quarantined uuid[];
  threads text[];
  kinds text[];
begin
  delete from memory.marks as k
  where k.user_id = p_user_id and k.kind = 'summarize_user' and exists (
    select from memory.summaries as s
    where s.user_id = p_user_id and s.summary_id = any (p_summary_ids) and s.kind = 'user' and s.status = 'completed');
  for job in
    select j.* from memory.jobs as j
    where j.user_id = p_user_id and j.status = 'running' and j.input ->> 'summary_id' in (
      select s.summary_id::text from memory.summaries as s
      where s.user_id = p_user_id and s.base_summary_id = any (p_summary_ids))
    order by j.job_id for update
  loop
    perform memory._give_back(job);
  end loop;
  perform case s.kind
      when 'user' then memory._enqueue(p_user_id, 'summarize_user', '')
      else memory._enqueue(p_user_id, 'summarize_thread', s.thread_id, '{"is_forced": true}', s.kind) end
  from (
    select distinct s.kind, s.thread_id from memory.summaries as s
    where s.user_id = p_user_id and s.summary_id = any (p_summary_ids) and s.status = 'completed') as s;
  with gone as (
    update memory.summaries as s
    set status = 'quarantined', quarantined_at = statement_timestamp(), quarantine_reason = left(r.reason, 1000)
    from unnest(p_summary_ids, p_reasons) as r (summary_id, reason)
    where s.user_id = p_user_id and s.summary_id = r.summary_id and s.status = 'completed'
    returning s.summary_id, s.thread_id, s.kind
  )
  select array_agg(g.summary_id), array_agg(g.thread_id), array_agg(g.kind) into quarantined, threads, kinds
  from gone as g;
  perform memory._drop_embeddings(p_user_id, 'summary', quarantined::text[]);
  perform memory._embed_latest_summaries(p_user_id, threads, kinds);
  return counts || jsonb_build_object('summaries', coalesce(cardinality(quarantined), 0));
end;
$$;

-- Puts into quarantine everything that was made of completed summaries: memories, articles of these, and archives. Each
-- is released with its own summary.
create or replace function memory._quarantine_retold(p_user_id text, p_summary_ids uuid[], p_reasons text[])
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  retold record;
  counts jsonb := jsonb '{}';
begin
  for retold in
    select s.summary_id, s.thread_id, r.reason, 'summary ' || s.summary_id as origin, array(
        select m.memory_id from memory.memories as m
        where m.user_id = p_user_id and m.thread_id = s.thread_id and m.source = 'thread_summary'
          and m.metadata ->> 'summary_id' = s.summary_id::text and m.deleted_at is null) as memories
    from unnest(p_summary_ids, p_reasons) as r (summary_id, reason)
    join memory.summaries as s on s.user_id = p_user_id and s.summary_id = r.summary_id
    where s.kind = 'thread' and s.status = 'completed'
  loop
    counts := memory._added(counts, jsonb_build_object(
      'memories', memory._quarantine_memories(p_user_id, retold.memories, retold.reason, retold.origin)));
    counts := memory._added(counts,
      memory._quarantine_derived(p_user_id, retold.memories, retold.reason, retold.origin));
    counts := memory._added(counts, memory._quarantine_archive(
      p_user_id, retold.thread_id, retold.reason, retold.origin, retold.summary_id));
  end loop;
  return counts;
end;
$$;

-- The summaries of a user that were stored before there were rules, from the newest to the oldest, 200 at once. They
-- have the trust of a model's word. While somebody holds a counter of the user, none goes into quarantine, and the next
-- call looks at them again.
create or replace function memory._check_stored_summaries(p_mark memory.marks)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  summary memory.summaries;
  signs text;
  poisoned uuid[] := array[]::uuid[];
  reasons text[] := array[]::text[];
  checked bigint := 0;
begin
  for summary in
    select s.* from memory.summaries as s
    where s.user_id = p_mark.user_id and s.status = 'completed'
      and s.created_at <= timestamptz 'epoch' + p_mark.position * interval '1 microsecond'
      and (memory._policy_section(p_mark.user_id, null, 'trust') ->> 'rules')::boolean
    order by s.created_at desc
    fetch first 200 rows with ties
  loop
    signs := memory._verdict(summary.summary, memory._source_trust('assistant'));
    if signs is not null then
      poisoned := poisoned || summary.summary_id;
      reasons := reasons || ('rule: ' || signs);
    end if;
    checked := checked + 1;
  end loop;
  if poisoned <> '{}' then
    if not memory._lock_free_counters(p_mark.user_id) then
      return 0;
    end if;
    perform memory._quarantine_summaries(p_mark.user_id, poisoned, reasons);
  end if;
  perform memory._move_unchecked(p_mark,
    case when checked >= 200 then memory._microseconds(summary.created_at)::bigint - 1 end);
  return checked;
end;
$$;

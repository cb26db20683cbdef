-- Summaries in quarantine have a status of their own. So readers of completed summaries do not see them, and the next
-- summary continues the summary before them.

-- Puts completed summaries into quarantine, and has them made anew of the remaining messages. The memories and archives
-- that were made of a summary, and the articles made of such memories, go into quarantine with it, and are released
-- with it. For a user's summary the messages are read again from the beginning. A job that continues one of the
-- summaries starts again. Memories, documents, watermarks, jobs and summaries are locked in this order; the caller has
-- locked the counters.
create or replace function memory._quarantine_summaries(p_user_id text, p_summary_ids uuid[], p_reason text)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  present constant memory.summaries[] := array(
    select s from memory.summaries as s
    where s.user_id = p_user_id and s.summary_id = any (p_summary_ids) and s.status = 'completed');
  summary memory.summaries;
  job memory.jobs;
  counts jsonb := jsonb '{}';
  quarantined bigint;
begin
  foreach summary in array present loop
    continue when summary.kind <> 'thread';
    counts := memory._added(counts, memory._quarantine_memories_with_articles(
      p_user_id, array(
        select m.memory_id from memory.memories as m
        where m.user_id = p_user_id and m.thread_id = summary.thread_id and m.source = 'thread_summary'
          and m.metadata ->> 'summary_id' = summary.summary_id::text and m.deleted_at is null),
      p_reason, 'summary ' || summary.summary_id, 'summary ' || summary.summary_id));
    counts := memory._added(counts, memory._quarantine_archive(
      p_user_id, summary.thread_id, p_reason, 'summary ' || summary.summary_id, summary.summary_id));
  end loop;
  delete from memory.marks as k
  where k.user_id = p_user_id and k.kind = 'summarize_user'
    and exists (select from unnest(present) as s where s.kind = 'user');
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
  from (select distinct p.kind, p.thread_id from unnest(present) as p) as s;
  with gone as (
    update memory.summaries as s
    set status = 'quarantined', quarantined_at = statement_timestamp(), quarantine_reason = left(p_reason, 1000)
    where s.user_id = p_user_id and s.summary_id = any (p_summary_ids) and s.status = 'completed'
    returning 1
  )
  select count(*) into quarantined from gone as g;
  return counts || jsonb_build_object('summaries', quarantined);
end;
$$;

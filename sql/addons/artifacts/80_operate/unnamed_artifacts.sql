-- Checks artifacts that were made of messages and are due for a check (check_at), and deletes those that nothing names:
-- no message (not even one in quarantine, or a cleared one that is not swept yet), and no summary, memory or document.
-- Returns how many were deleted. If only texts name an artifact, in the long or the short form, it is checked again a
-- day later. One check reads the texts of a user once, whatever the number of artifacts. While a job is reading
-- messages of a user, the user's artifacts wait, because the job's summary may name an artifact whose message is gone.
create or replace function memory._sweep_unnamed_artifacts(p_batch_size int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  due record;
  named text[]; -- named by the messages of which they were made
  named_in_texts text[];
  swept_artifacts bigint;
  all_swept bigint := 0;
begin
  for due in
    select d.user_id, array_agg(d.key) as keys
    from (
      select a.user_id, a.key
      from memory.artifacts as a
      where a.check_at <= statement_timestamp() and a.check_at < 'infinity'
      order by a.check_at
      limit p_batch_size
      for update skip locked) as d
    group by d.user_id
  loop
    -- This statement begins after the lock, so that it sees which messages were deleted before. A session that deletes
    -- such a text later waits for the lock, and then has the artifact checked again.
    named := array(
      select a.key
      from memory.artifacts as a
      where a.user_id = due.user_id and a.key = any (due.keys) and exists (
        select from memory.messages as m
        where m.user_id = a.user_id and m.thread_id = a.thread_id and m.artifact_key = a.key));
    update memory.artifacts as a set check_at = 'infinity' where a.user_id = due.user_id and a.key = any (named);
    continue when due.keys <@ named;
    named_in_texts := case when exists (
        select from memory.jobs as j where j.user_id = due.user_id and j.status = 'running')
      then due.keys
      else array(
        select distinct k.key
        from (
          select g.content as said from memory.messages as g where g.user_id = due.user_id
          union all
          select q.content from memory.quarantined_messages as q where q.user_id = due.user_id
          union all
          select s.summary from memory.summaries as s where s.user_id = due.user_id
          union all
          select m.content from memory.memories as m where m.user_id = due.user_id
          union all
          select d.content from memory.documents as d where d.user_id = due.user_id) as t
        cross join lateral unnest(memory._named_keys(t.said)) as k (key)
        where t.said like '%MemoryRef: %') end;
    update memory.artifacts as a
    set check_at = statement_timestamp() + interval '1 day'
    where a.user_id = due.user_id and a.key = any (due.keys) and a.key = any (named_in_texts)
      and a.key <> all (named);
    delete from memory.artifacts as a
    where a.user_id = due.user_id and a.key = any (due.keys) and a.key <> all (named_in_texts)
      and a.key <> all (named);
    get diagnostics swept_artifacts = row_count;
    all_swept := all_swept + swept_artifacts;
  end loop;
  return all_swept;
end;
$$;

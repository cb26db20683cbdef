-- The parts of an export that an import leaves out: rows that were stored before the user was forgotten, forgotten
-- statements, and everything that was made of them.

-- The rows of an export that were stored after a moment. Marks, counters and idempotency keys from before it are
-- removed too, because they are about rows that are left out.
create or replace function memory._since(p_export jsonb, p_moment timestamptz)
returns jsonb
language plpgsql stable parallel unsafe
as $$
begin
  return p_export || coalesce((
    select jsonb_object_agg(k.kind, (
      select coalesce(jsonb_agg(r.value order by r.place), '[]')
      from jsonb_array_elements(p_export -> k.kind) with ordinality as r (value, place)
      where memory._time_or_null(coalesce(
        r.value ->> 'updated_at', r.value ->> 'changed_at', r.value ->> 'finished_at', r.value ->> 'called_at',
        r.value ->> 'read_at', r.value ->> 'quarantined_at', r.value ->> 'last_at', r.value ->> 'created_at'
      )) > p_moment))
    from memory._export_kinds() as k where p_export ? k.kind), '{}');
end;
$$;

-- Removes forgotten statements, and everything that was made of them, from an import when all its rows are stored: only
-- all messages and memories together say which summaries and artifacts to remove. Triggers ignore these rows.
-- p_forgotten_by is the user whose tombstones count.
create or replace function memory._leave_out_forgotten(
  p_user_id text, p_threads text[], p_agents text[], p_forgotten_by text
)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  memories uuid[];
  threads text[]; -- the threads of the forgotten messages; their numbers and artifacts follow
  seqs bigint[];
  keys text[];
  summaries uuid[];
begin
  if not exists (
    select from memory.erasure_keys as k
    cross join lateral memory._user_hashes(k, p_forgotten_by) as u (user_hash)
    join memory.tombstones as t on t.user_hash = u.user_hash and t.statement_hash <> '') then
    return; -- saves the hashing, which takes 30 us for each text
  end if;
  memories := array(
    select m.memory_id from memory.memories as m
    where m.user_id = p_user_id and m.agent_id = any (p_agents) and memory._is_forgotten(p_forgotten_by, m.content));
  select array_agg(m.thread_id), array_agg(m.seq), array_agg(m.artifact_key) filter (where m.artifact_key is not null)
  into threads, seqs, keys
  from memory.messages as m
  left join memory.quarantined_messages as q -- has the text of a message in quarantine
    on q.user_id = m.user_id and q.thread_id = m.thread_id and q.seq = m.seq
  where m.user_id = p_user_id and m.thread_id = any (p_threads)
    and (memory._is_forgotten(p_forgotten_by, m.content) or memory._is_forgotten(p_forgotten_by, q.content));
  if memories = '{}' and threads is null then
    return;
  end if;

  perform memory._remove_messages(p_user_id, threads, seqs);
  delete from memory.quarantined_messages as q
  where q.user_id = p_user_id and memory._is_forgotten(p_forgotten_by, q.content);
  {{each addon with leave_out: perform memory._<addon>_leave_out(p_user_id, keys);}}
  with gone as (
    delete from memory.summaries as s
    where s.user_id = p_user_id and (s.thread_id = '' or exists (
      select from unnest(threads, seqs) as f (thread_id, seq) where f.thread_id = s.thread_id and f.seq <= s.end_seq))
    returning s.summary_id
  )
  select array_agg(g.summary_id) into summaries from gone as g;
  -- The next summary of the user is made from all remaining messages, as after memory.forget_memory().
  delete from memory.marks as k where k.user_id = p_user_id and k.kind = 'summarize_user';
  -- Compressed messages return to their thread if the summary that covers them was left out.
  update memory.messages as m set summary_id = null, is_active = true
  where m.user_id = p_user_id and m.summary_id = any (summaries);
  delete from memory.memory_history as h
  where h.user_id = p_user_id and memory._is_forgotten(p_forgotten_by, h.content);
  delete from memory.memory_uses as u where u.user_id = p_user_id and u.memory_id = any (memories);
  delete from memory.memories as m where m.user_id = p_user_id and m.memory_id = any (memories); -- and their history
  delete from memory.documents as d
  where d.user_id = p_user_id and (
    memory._is_article_of(d, memories)
    or memory._is_archive(d) and d.metadata ->> 'summary_id' = any (summaries::text[]));
  delete from memory.jobs as j
  -- Finished jobs of the import are deleted, because they may show forgotten texts.
  where j.user_id = p_user_id and j.status in ('completed', 'dead');
end;
$$;

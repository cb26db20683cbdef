create or replace function memory.forget_memory(user_id text, memory_id uuid, reason text default null)
returns jsonb
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Tables whose rows triggers and foreign keys remove together with others, and jobs together with their summaries.
  followers constant text[] := array[{{tables with follows}}];
  locked record; -- the locked threads and agents
  same uuid[];
  longer uuid[]; -- further memories that contain a wording, such as a longer sentence
  statements text[];
  wordings text[]; -- the wordings of the statements
  patterns text[];
  before jsonb;
  gone jsonb := jsonb '{}';
begin
  perform memory._check_id('user_id', user_id);
  if memory_id is null then
    perform memory._refuse_unknown_memory(memory_id);
  end if;
  perform memory._lock_user(user_id);
  for attempt in 1 .. 100 loop
    begin
      locked := memory._lock_to_forget(user_id);
      exit;
    exception when serialization_failure then -- the error has released all locks that the attempt took
      if attempt = 100 then
        raise;
      end if;
    end;
  end loop;
  same := memory._same_memories(user_id, memory_id, locked.agents);
  if same = '{}' then
    perform memory._refuse_unknown_memory(memory_id);
  end if;
  -- The current content of each of these memories, and the contents of their earlier versions.
  statements := array(
    select m.content from memory.memories as m where m.user_id = forget_memory.user_id and m.memory_id = any (same)
    union
    select h.content from memory.memory_history as h
    where h.user_id = forget_memory.user_id and h.memory_id = any (same));
  wordings := memory._wordings_of(statements);
  -- Finds longer memories by their current content: earlier versions and sources may say only the rest of it.
  patterns := memory._patterns_of(wordings);
  longer := array(
    select m.memory_id from memory.memories as m
    where m.user_id = forget_memory.user_id and m.memory_id <> all (same) and m.agent_id = any (locked.agents)
      and memory._may_state(m.content, patterns) and memory._states_any(m.content, wordings));
  reason := memory._reason_without(reason, user_id || statements);

  before := memory._count_rows(user_id, followers);
  perform set_config('memory.is_forgetting', 'yes', true);
  perform memory._bury(user_id, statements || array(
    select m.content from memory.memories as m where m.user_id = forget_memory.user_id and m.memory_id = any (longer)));
  gone := memory._forget_messages(user_id, same, wordings, locked.threads);
  gone := memory._added(gone, memory._forget_memories(user_id, same || longer, wordings));
  perform memory._forget_wording(user_id, wordings, locked.agents, locked.threads);
  perform set_config('memory.is_forgetting', '', true);
  gone := memory._added(gone, (
    select coalesce(jsonb_object_agg(b.key, b.value::bigint - (n.rows ->> b.key)::bigint), jsonb '{}')
    from jsonb_each_text(before) as b
    cross join (select memory._count_rows(user_id, followers) as rows offset 0) as n
    where b.value::bigint > (n.rows ->> b.key)::bigint));
  return memory._receipt('memory', user_id, reason, gone);
end;
$$;
comment on function memory.forget_memory(text, uuid, text) is
'Removes a memory for good, in this transaction, with its history, the memories that say the same, the messages that '
'state it, its wording in the metadata of others, and everything that was made of these: summaries (queued to be made '
'again), articles, artifacts, embeddings, jobs. A tombstone (keyed hash) keeps models and imports from bringing it '
'back. Returns a receipt: receipt_id, forgotten_at and the rows by table. Error P0002 when the user has no such '
'memory.';

-- Locks the rows that memory.forget_memory() may change, in the order of docs/architecture.md. Returns the locked
-- threads and agents: all of the user, because only all messages together tell which of them state the memory. Raises
-- 40001 when another session holds a thread or counter that was made meanwhile. Threads and counters made after that
-- are not locked: applications state there anew what they store, and no job can store anything.
create or replace function memory._lock_to_forget(p_user_id text, out threads text[], out agents text[])
language plpgsql volatile parallel unsafe
as $$
declare
  are_all boolean;
begin
  perform memory._stop_claims(p_user_id);
  perform memory._lock_counters(p_user_id, true);
  -- A job that ends locks watermarks and documents before its own row.
  perform from memory.marks as k
  where k.user_id = p_user_id and k.kind = 'summarize_user' order by k.scope for update;
  perform from memory.documents as d
  where d.user_id = p_user_id and d.document_id in (
    select (r.value ->> 'document_id')::uuid
    from memory.jobs as j cross join lateral jsonb_array_elements(j.input -> 'rows') as r
    where j.user_id = p_user_id and j.kind = 'chunk_documents' and j.status = 'running')
  order by d.document_id for update;
  -- Jobs that parse artifacts are not locked: they are handed no texts, and lock parts of artifacts before their own
  -- row. A caller that removes artifacts leaves these jobs alone.
  perform from memory.jobs as j
  where j.user_id = p_user_id and j.kind <> 'parse_artifacts' order by j.job_id for update;
  -- Locks counters once more, because a job may have stored something under a new counter before the job was locked.
  select l.threads, l.agents, l.are_all into threads, agents, are_all from memory._lock_counters(p_user_id, false) as l;
  if not are_all then
    perform memory._refuse_busy_user();
  end if;
end;
$$;

-- The number of rows of a user in each of these tables.
create or replace function memory._count_rows(p_user_id text, p_tables text[])
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  name text;
  number bigint;
  counted jsonb := jsonb '{}';
begin
  foreach name in array p_tables loop
    execute format('select count(*) from memory.%I as t where t.user_id = $1', name) into number using p_user_id;
    counted := counted || jsonb_build_object(name, number);
  end loop;
  return counted;
end;
$$;

-- Removes these memories, everything that was made of them, and earlier versions of other memories that say the same.
-- Then removes forgotten texts from the jobs of the user, which the caller has locked. A running job may have been
-- handed these texts: it loses its lease, so that its result is refused (AM001), and is handed out again without them.
-- Finished jobs that show a forgotten text are deleted.
create or replace function memory._forget_memories(p_user_id text, p_memory_ids uuid[], p_wordings text[])
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  patterns constant text[] := memory._patterns_of(p_wordings);
  removed bigint;
  gone jsonb := jsonb '{}';
begin
  -- The versions are deleted and counted before the memories, because a change of the remaining memories adds versions.
  delete from memory.memory_history as h
  where h.user_id = p_user_id and (h.memory_id = any (p_memory_ids)
    or memory._may_state(h.content, patterns) and memory._states_any(h.content, p_wordings));
  get diagnostics removed = row_count;
  gone := memory._counting(gone, 'memory_history', removed);
  delete from memory.memories as m where m.user_id = p_user_id and m.memory_id = any (p_memory_ids);
  get diagnostics removed = row_count;
  gone := memory._counting(gone, 'memories', removed);
  -- Articles are deleted after the memories, because deleting an article makes its other memories current again.
  delete from memory.documents as d
  where d.user_id = p_user_id
    and (memory._is_article_of(d, p_memory_ids)
         or d.source = 'consolidation'
           and memory._json_states_any(jsonb_build_array(d.title, d.content, d.metadata), p_wordings));
  get diagnostics removed = row_count;
  gone := memory._counting(gone, 'documents', removed);
  perform memory._restart_jobs(p_user_id);
  delete from memory.jobs as j
  -- The condition names no status, because by an index of the status it would read the finished jobs of all users.
  where j.user_id = p_user_id and j.finished_at is not null
    and (memory._json_states_any(jsonb_build_array({{texts of jobs as j}}), p_wordings)
      or exists (
        select from unnest(p_memory_ids) as i (id)
        where strpos(concat_ws(' ', {{texts of jobs as j}}), i.id::text) > 0));
  get diagnostics removed = row_count;
  return memory._counting(gone, 'jobs', removed);
end;
$$;

create or replace function memory.merge_users(from_user_id text, into_user_id text)
returns jsonb
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan -- for the reason given in memory.forget_user()
set debug_print_plan = off -- every session may have plans sent to itself, and these may show a key
as $$
declare
  patience constant text := current_setting('lock_timeout');
  locked record;
  merged jsonb;
  agent text;
  clash text; -- a key that both users have
  clash_before text;
begin
  perform memory._check_id('from_user_id', from_user_id);
  perform memory._check_id('into_user_id', into_user_id);
  -- Checks that this session reaches both users, and that this node serves them.
  perform memory._check_id('user_id', from_user_id);
  perform memory._check_id('user_id', into_user_id);
  if memory._is_space(from_user_id) or memory._is_space(into_user_id) then
    perform memory._refuse(case when memory._is_space(from_user_id) then 'from_user_id' else 'into_user_id' end,
      'is a space', 'Only users can be merged.');
  elsif from_user_id = into_user_id then
    perform memory._refuse('into_user_id', 'is the user who is to be merged', 'Pass two different users.');
  end if;
  perform memory._lock_user(u) from unnest(array[from_user_id, into_user_id]) as u order by u;
  if memory._table_with(from_user_id) is null
    {{each addon with knows: and not memory._<addon>_knows(from_user_id)}}
  then
    perform memory._refuse('from_user_id', 'nothing is stored about this user', 'memory.list_users() lists the users.',
      'P0002');
  end if;
  for attempt in 1 .. 100 loop
    begin
      locked := memory._lock_to_merge(from_user_id, into_user_id);
      begin
        -- A session that stores a row of the second user now, such as an artifact of a message, may wait for a lock of
        -- this transaction. So this transaction does not wait long.
        perform set_config('lock_timeout', '100ms', true);
        merged := memory._merge_rows(from_user_id, into_user_id, locked.threads, locked.agents, locked.documents);
        perform set_config('lock_timeout', patience, true);
      exception when lock_not_available then
        perform memory._refuse_busy_user();
      end;
      exit;
    -- The error has released all locks that the attempt took. Another session may have made a thread of the same name
    -- meanwhile. The next attempt sees such a thread; if the same clash comes again, it is raised.
    exception when serialization_failure or unique_violation then
      get stacked diagnostics clash = pg_exception_detail;
      if attempt = 100 or sqlerrm like 'from_user_id: %' or sqlstate = '23505' and clash = clash_before then
        raise;
      end if;
      clash_before := clash;
    end;
  end loop;
  for agent in select s.agent_id from memory.memory_scopes as s where s.user_id = into_user_id order by 1 loop
    perform memory._keep_limit(into_user_id, agent);
  end loop;
  {{each addon with merge: perform memory._<addon>_merge(from_user_id, into_user_id);}}
  perform memory._note_change(into_user_id, 'user', into_user_id, 'changed');
  perform memory._audit('merge_users', jsonb_build_object('from_user_id', from_user_id), into_user_id);
  return merged;
end;
$$;
comment on function memory.merge_users(text, text) is
'Makes everything of the first user the second''s, in this transaction. Threads, artifacts and secrets keep their '
'names; where the second user has the name already, the first one''s gets a suffix. Returns {"tables": rows by table, '
'"threads", "artifacts", "secrets": {former name: new name}, "left_out": memories and messages that the second user '
'had forgotten}. Of two equal memories one hides the other; policies of the second user win; running jobs begin anew. '
'Of grants on a space the stronger one stays. '
'Error P0002 when nothing is stored about the first user. For administrators.';

-- Locks all threads and counters of both users, then the rows that jobs lock when they end, in the order of
-- docs/architecture.md. Returns the threads, agents and documents of the first user, or raises 40001 if other sessions
-- keep making more of them.
create or replace function memory._lock_to_merge(
  p_from text, p_into text, out threads text[], out agents text[], out documents uuid[]
)
language plpgsql volatile parallel unsafe
as $$
declare
  are_all boolean;
begin
  perform memory._stop_claims(u) from unnest(array[p_from, p_into]) as u order by u;
  perform from memory.threads as t where t.user_id in (p_from, p_into) order by t.user_id, t.thread_id for update;
  perform from memory.memory_scopes as s where s.user_id in (p_from, p_into) order by s.user_id, s.agent_id for update;
  select l.threads, l.agents, l.are_all into threads, agents, are_all from memory._lock_counters(p_from, false) as l;
  if not are_all then
    perform memory._refuse_busy_user();
  end if;
  documents := memory._lock_documents(p_from, threads);
  perform from memory.marks as k where k.user_id in (p_from, p_into) order by k.user_id, k.scope, k.kind for update;
  perform from memory.jobs as j
  where j.user_id in (p_from, p_into) and j.kind <> 'parse_artifacts' order by j.job_id for update;
end;
$$;

-- Gives the rows of the first user to the second. These threads, agents and documents of the first are locked.
create or replace function memory._merge_rows(
  p_from text, p_into text, p_threads text[], p_agents text[], p_documents uuid[]
)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  threads jsonb;
  artifacts jsonb;
  secrets jsonb;
  has_profile boolean;
  left_out bigint;
  moved jsonb;
begin
  perform memory._restart_jobs(u) from unnest(array[p_from, p_into]) as u;

  threads := memory._new_names(memory._thread_ids(p_from), memory._thread_ids(p_into));
  artifacts := memory._new_keys(p_from, p_into);
  -- This update runs the triggers, because words, hashes and embeddings of the changed texts must be made anew.
  if artifacts <> '{}' then
    update memory.memories as m
    set content = n.content, embedding_text = n.embedding_text, metadata = n.metadata
    from (
      select o.memory_id, memory._with_keys(o.content, artifacts) as content,
        memory._with_keys(o.embedding_text, artifacts) as embedding_text,
        memory._with_keys(o.metadata::text, artifacts)::jsonb as metadata
      from memory.memories as o
      where o.user_id = p_from and concat_ws(' ', o.content, o.embedding_text, o.metadata) like '%MemoryRef: %') as n
    where m.user_id = p_from and m.memory_id = n.memory_id
      and (n.content, n.embedding_text, n.metadata) is distinct from (m.content, m.embedding_text, m.metadata);
    update memory.documents as d set content = memory._with_keys(d.content, artifacts)
    where d.user_id = p_from and d.content like '%MemoryRef: %'
      and memory._with_keys(d.content, artifacts) <> d.content;
  end if;
  perform memory._settle_duplicates(p_from, p_into);
  secrets := memory._merge_secrets(p_from, p_into);
  left_out := (select count(*) from memory.messages as m where m.user_id = p_from)
    + (select count(*) from memory.memories as m where m.user_id = p_from);
  -- These deletions run the triggers, which remove everything that was made of the texts, such as embeddings.
  perform memory._leave_out_forgotten(p_from, p_threads, p_agents, p_into);
  left_out := left_out - (select count(*) from memory.messages as m where m.user_id = p_from)
    - (select count(*) from memory.memories as m where m.user_id = p_from);

  delete from memory.shown_rounds as s where s.user_id = p_from; -- they name threads by their old names
  perform memory._begin_whole_user_change();
  has_profile := exists (select from memory.summaries as s where s.user_id = p_into and s.kind = 'user');
  execute memory._merging_statement() into moved
  using p_from, p_threads, p_agents, p_documents, null, p_into, threads, artifacts, has_profile;
  -- Searches must not find an equal memory that is hidden now.
  update memory.texts as e set valid_until = '-infinity'
  from memory.memories as m
  where m.user_id = p_into and m.supersede_reason = 'duplicate' and m.superseded_at = statement_timestamp()
    and e.user_id = p_into and e.source = 'memory' and e.id = m.memory_id::text;
  perform memory._count_imported(p_into,
    array(select coalesce(threads ->> t, t) from unnest(p_threads) as t), p_agents);
  delete from memory.marks as k where k.user_id = p_from and (k.scope, k.kind) = ('', 'claims');
  -- Calls that still run for these jobs are entered in the ledger without a user. An earlier merge may have left such
  -- rows.
  delete from memory.gone_jobs as g
  where g.user_id = memory._pseudonym(p_from) and g.job_id in (
    select n.job_id from memory.gone_jobs as n where n.user_id = p_from);
  update memory.gone_jobs as g set user_id = memory._pseudonym(p_from) where g.user_id = p_from;
  update memory.audit as a set user_id = p_into where a.user_id = p_from;
  update memory.receipts as r set user_hash = memory._keyed_hash(memory._erasure_key(), p_into)
  from memory.erasure_keys as k where r.user_hash = memory._keyed_hash(k, p_from);
  insert into memory.merged_users (user_id, former_user_hash)
  select distinct p_into, t.user_hash
  from memory.erasure_keys as k
  join memory.tombstones as t on t.user_hash = memory._keyed_hash(k, p_from) and t.statement_hash <> ''
  on conflict do nothing;
  perform memory._end_whole_user_change();
  perform memory._settle(m) from memory.memories as m -- both users may have, say, a home
  where m.user_id = p_into and m.attribute is not null and memory._is_current(m);
  if has_profile and exists (select from memory.models as m where m.kind = 'chat' and m.is_active) then
    perform memory._enqueue(p_into, 'summarize_user', ''); -- of the messages of both users
  end if;
  if memory._language(p_from, null) <> memory._language(p_into, null) then
    perform memory._parse_anew_later(p_into, array[memory._language(p_from, null)]);
  end if;
  return jsonb_build_object('tables', moved, 'threads', threads, 'artifacts', artifacts, 'secrets', secrets,
    'left_out', left_out);
end;
$$;

-- The names of threads in all tables that have threads. A name may occur more than once.
create or replace function memory._thread_ids(p_user_id text)
returns text[]
language plpgsql stable parallel safe
as $$
declare
  name text;
  found text[];
  ids text[] := array[]::text[];
begin
  for name in select t.name from memory._tables_of_users() as t where t.has_thread loop
    execute format('select array(select distinct t.thread_id from memory.%I as t '
      'where t.user_id = $1 and t.thread_id <> '''')', name) into found using p_user_id;
    ids := ids || found;
  end loop;
  return ids;
end;
$$;

-- New names for the names that are in both lists. A new name has the first suffix (-2, -3, ...) with which it is in
-- neither list.
create or replace function memory._new_names(p_names text[], p_taken text[])
returns jsonb
language plpgsql immutable parallel safe
as $$
declare
  taken constant jsonb := (select coalesce(jsonb_object_agg(t, true), jsonb '{}') from unnest(p_names || p_taken) as t);
  renamed text[] := array[]::text[]; -- old and new names; a jsonb would be copied for each
  name text;
  stem text;
  stem_before text;
  suffix int;
begin
  for name, stem in
    select b.name, left(b.name, 250) as stem
    from (select n from unnest(p_names) as n intersect select t from unnest(p_taken) as t) as b (name)
    order by stem, b.name
  loop
    suffix := case when stem = stem_before then suffix + 1 else 2 end;
    while taken ? (stem || '-' || suffix) loop
      suffix := suffix + 1;
    end loop;
    renamed := renamed || name || (stem || '-' || suffix);
    stem_before := stem;
  end loop;
  return jsonb_object(renamed);
end;
$$;

-- A text with the new keys in its placeholders. The text may be that of a JSON value, because keys have no character
-- that JSON escapes.
create or replace function memory._with_keys(p_content text, p_keys jsonb)
returns text
language plpgsql immutable parallel safe
as $$
declare
  named record;
begin
  if strpos(p_content, 'MemoryRef: ') > 0 then
    for named in
      select distinct m.groups[1] as key, m.groups[2] as mark
      from regexp_matches(p_content, e'MemoryRef: ([A-Za-z0-9._:/@#=+-]+)( - |[])])', 'g') as m (groups)
      where p_keys ? m.groups[1]
    loop
      p_content := replace(p_content, 'MemoryRef: ' || named.key || named.mark,
        'MemoryRef: ' || (p_keys ->> named.key) || named.mark);
    end loop;
  end if;
  return p_content;
end;
$$;

-- Decides which of two equal memories of an agent stays current: that of the second user, unless it has expired, or was
-- extracted while that of the first user was stated. If both users have a memory or document of one id, its content
-- must be the same; otherwise the merge is refused.
create or replace function memory._settle_duplicates(p_from text, p_into text)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  same uuid;
begin
  delete from memory.memories as m
  using memory.memories as o
  where m.user_id = p_from and o.user_id = p_into and o.memory_id = m.memory_id
    and (o.agent_id, o.content_hash) = (m.agent_id, m.content_hash);
  select m.memory_id into same
  from memory.memories as m join memory.memories as o on o.user_id = p_into and o.memory_id = m.memory_id
  where m.user_id = p_from limit 1;
  if found then
    perform memory._refuse('from_user_id', format('both users have another memory %s', same),
      'memory.forget_memory() removes one of the two.', '23505');
  end if;
  delete from memory.documents as d
  using memory.documents as o
  where d.user_id = p_from and o.user_id = p_into and o.document_id = d.document_id
    and (o.doc_type, o.title, o.content) is not distinct from (d.doc_type, d.title, d.content);
  select d.document_id into same
  from memory.documents as d join memory.documents as o on o.user_id = p_into and o.document_id = d.document_id
  where d.user_id = p_from limit 1;
  if found then
    perform memory._refuse('from_user_id', format('both users have another document %s', same),
      'memory.delete_document() removes one of the two.', '23505');
  end if;
  delete from memory.memories as m
  using memory.memories as o
  where m.user_id = p_into and memory._is_current(m) and m.expires_at <= statement_timestamp()
    and o.user_id = p_from and memory._is_current(o) and (o.agent_id, o.content_hash) = (m.agent_id, m.content_hash);
  update memory.memories as m
  set superseded_by = o.memory_id, superseded_at = statement_timestamp(), supersede_reason = 'duplicate',
      operation = 'supersede'
  from memory.memories as o
  where m.user_id = p_into and memory._is_current(m) and not m.is_stated
    and o.user_id = p_from and memory._is_current(o) and o.is_stated
    and (o.agent_id, o.content_hash) = (m.agent_id, m.content_hash);
end;
$$;

create or replace function memory.import_user(
  user_id text, export jsonb, lift_tombstones boolean default false, is_last boolean default true
)
returns jsonb
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  kinds constant text[] := array(select k.kind from memory._export_kinds() as k order by k.place);
  kind text;
  given jsonb := jsonb '{}'; -- the rows of the export by kind, before forgotten ones are left out
  import memory.imports;
  stored jsonb;
  threads text[];
  agents text[];
  imported jsonb;
  left_out bigint;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_export(user_id, export, kinds);
  if is_last is null then
    perform memory._refuse('is_last', 'must not be null', 'Pass false with each part but the last.');
  elsif lift_tombstones and not has_schema_privilege(memory._caller(), 'memory', 'create') then
    perform memory._refuse('lift_tombstones', 'is for the owner of schema memory', 'Have the owner import the user.',
      '42501');
  end if;
  perform memory._begin_import(user_id, lift_tombstones);
  -- The constraint is deferred, because the earlier summary may come in a later part.
  set constraints memory.summaries_user_id_base_summary_id_fkey deferred;
  foreach kind in array kinds loop
    given := given || jsonb_build_object(kind, jsonb_array_length(coalesce(export -> kind, '[]')));
  end loop;
  if memory._user_forgotten_at(user_id) is not null then
    export := memory._since(export, memory._user_forgotten_at(user_id));
  end if;
  perform memory._begin_whole_user_change();
  foreach kind in array kinds loop
    perform memory._import_rows(user_id, kind, coalesce(export -> kind, '[]'));
  end loop;
  update memory.imports as i
  set rows_given = i.rows_given + (select sum(g.value::bigint) from jsonb_each(given) as g),
      rows_stored = i.rows_stored + (
        select coalesce(sum(jsonb_array_length(export -> k)), 0) from unnest(kinds) as k
        where export ? k and k <> 'memory_scopes')
  where i.transaction_id = pg_current_xact_id()
  returning i.* into import;
  if not is_last then
    perform memory._end_whole_user_change();
    return given;
  end if;

  -- Makes the counters that the export lacks. They must exist before the rows are counted: memories that another
  -- session stores under such a counter are then counted as well.
  insert into memory.memory_scopes (user_id, agent_id)
  select import_user.user_id, m.agent_id from memory.memories as m where m.user_id = import_user.user_id
  except
  select s.user_id, s.agent_id from memory.memory_scopes as s where s.user_id = import_user.user_id
  order by agent_id
  on conflict on constraint memory_scopes_pkey do nothing;
  -- One statement reads the counts, threads and agents, so that they belong to the same rows.
  select c.rows - 'memory_scopes',
    array(select t.thread_id from memory.threads as t where t.user_id = import_user.user_id),
    array(select distinct m.agent_id from memory.memories as m where m.user_id = import_user.user_id)
  into stored, threads, agents
  from memory._count_exported(user_id) as c (rows);
  if (select sum(s.value::bigint) from jsonb_each(stored) as s) <> import.rows_stored then
    perform memory._refuse('user_id', 'was written to while the export was imported',
      'Keep others from writing, have memory.forget_user() remove their rows, and import again.', '23505');
  end if;
  perform memory._leave_out_forgotten(user_id, threads, agents, user_id);
  imported := memory._count_exported(user_id);
  perform memory._count_imported(user_id, threads, agents);
  if import.rows_stored > 0 then
    perform memory._note_change(user_id, 'user', user_id, 'added');
  end if;
  perform memory._end_whole_user_change();
  perform memory._make_texts(user_id);
  delete from memory.imports as i where i.transaction_id = pg_current_xact_id();
  left_out := import.rows_given - (select sum(n.value::bigint) from jsonb_each(imported) as n);
  if imported @@ '$.* > 0' and exists (select from memory.models as m where m.kind = 'embedding' and m.is_active) then
    perform memory._enqueue_due(user_id, 'backfill', '');
  end if;
  -- An export has no jobs, so the job that summarises compressed messages is queued anew.
  perform memory._summarize_put_away(user_id, t) from unnest(threads) as t;
  if imported @@ '$.artifacts > 0' then
    perform memory._enqueue_due(user_id, 'parse_artifacts', '');
  end if;
  if left_out > 0 then
    raise notice '% rows of the export were forgotten here and stay out', left_out
      using hint = 'An administrator may pass lift_tombstones => true.';
  end if;
  -- The audit does not name a forgotten user again if nothing of the user was imported.
  perform memory._audit('import_user',
    jsonb_build_object('lift_tombstones', lift_tombstones, 'rows', imported, 'left_out', left_out),
    case when imported @@ '$.* > 0' or memory._user_forgotten_at(user_id) is null then user_id end);
  return imported || jsonb_build_object('left_out', left_out);
end;
$$;
comment on function memory.import_user(text, jsonb, boolean, boolean) is
'Stores an export of memory.export_user(), and returns the counts by kind. A user who has rows is refused (23505). '
'Forgotten texts stay out and are counted as left_out; with lift_tombstones, for the owner alone (42501), they come '
'back. Counters and words are made anew, embeddings by the queue. Parts of an export are passed in their order, in '
'one transaction, all but the last one with is_last => false; each call returns the counts of its part.';

-- Notes that this transaction imports a user, unless an earlier part has noted it. Refuses a user who already has rows.
create or replace function memory._begin_import(p_user_id text, p_lift_tombstones boolean)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  hash constant bytea := memory._keyed_hash(memory._erasure_key(), p_user_id);
  under_way bytea;
  name text;
begin
  select i.user_hash into under_way from memory.imports as i where i.transaction_id = pg_current_xact_id_if_assigned();
  if under_way = hash then
    return;
  elsif under_way is not null then
    perform memory._refuse('user_id', 'is not the user whom this transaction imports',
      'Pass the last part of the other user first.');
  end if;
  perform memory._lock_user(p_user_id);
  name := memory._table_with(p_user_id);
  if name is not null then
    perform memory._refuse('user_id', format('has rows in memory.%s already', name),
      'Only a user without rows can be imported; memory.forget_user() removes everything.', '23505');
  end if;
  if p_lift_tombstones then
    delete from memory.tombstones as t
    using memory.erasure_keys as k
    where t.user_hash = memory._keyed_hash(k, p_user_id);
  end if;
  insert into memory.imports (transaction_id, user_hash) values (pg_current_xact_id(), hash);
end;
$$;

-- The first table with rows of a user; null if there is none. Embeddings of queries and the mark of claims do not
-- count: a search or a worker may leave them for a user without other rows.
create or replace function memory._table_with(p_user_id text)
returns text
language plpgsql stable parallel safe
as $$
declare
  name text;
  is_there boolean;
begin
  for name in
    select t.name from memory._tables_of_users() as t
    where not t.ignored_by_import order by 1
  loop
    execute format('select exists (select from memory.%I as t where t.user_id = $1%s)', name,
                   case name when 'marks' then ' and (t.scope, t.kind) <> ('''', ''claims'')' end)
    into is_there using p_user_id;
    if is_there then
      return name;
    end if;
  end loop;
  return null;
end;
$$;

-- Refuses to commit a transaction that has not passed the last part, because counters are made only with the last part.
create or replace function memory._refuse_unfinished_import()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from memory.imports as i where i.transaction_id = new.transaction_id) then
    perform memory._refuse('is_last', 'was false in each part that this transaction has imported',
      'Pass the parts in one transaction, the last one with is_last => true.');
  end if;
  return null;
end;
$$;

-- The number of stored rows of each kind.
create or replace function memory._count_exported(p_user_id text)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  kind text;
  number bigint;
  counts jsonb := jsonb '{}';
begin
  for kind in select k.kind from memory._export_kinds() as k order by k.place loop
    execute 'select count(*) from (' || memory._export_query(format('memory.%I', kind), null, true) || ') as e'
    into number using p_user_id;
    counts := counts || jsonb_build_object(kind, number);
  end loop;
  return counts;
end;
$$;

-- Refuses a value that is no export of this user. The rows are checked when they are stored.
create or replace function memory._check_export(p_user_id text, p_export jsonb, p_kinds text[])
returns void
language plpgsql immutable parallel safe
as $$
declare
  hint constant text := 'Pass a result of memory.export_user(), see docs/export.schema.json.';
  kind text;
  place bigint;
begin
  if jsonb_typeof(p_export) is distinct from 'object' then
    perform memory._refuse('export', 'must be a JSON object', hint);
  elsif p_export ->> 'format' is distinct from memory._export_format() then
    perform memory._refuse('export', format('format is not "%s"', memory._export_format()), hint);
  elsif p_export -> 'format_version' is distinct from '1' then
    perform memory._refuse('export',
      format('format_version is %s', coalesce(left(p_export ->> 'format_version', 50), 'missing')),
      'This version of agent_memory reads 1. Install a newer one for a newer export.');
  elsif p_export -> 'user_id' is distinct from to_jsonb(p_user_id) then
    perform memory._refuse('export', 'user_id is not that of the call',
      'An export belongs to the user it was made of.');
  end if;
  for kind in select k from jsonb_object_keys(p_export) as k loop
    if kind = any (p_kinds) then
      if jsonb_typeof(p_export -> kind) <> 'array' then
        perform memory._refuse('export', kind || ' must be an array', hint);
      end if;
      select r.position - 1 into place
      from jsonb_array_elements(p_export -> kind) with ordinality as r (value, position)
      where jsonb_typeof(r.value) <> 'object' limit 1;
      if found then
        perform memory._refuse('export', format('%s[%s] must be an object', kind, place), hint);
      end if;
    elsif kind not in ('format', 'format_version', 'user_id', 'next') then
      perform memory._refuse('export', format('unknown member "%s"', left(kind, 50)),
        'Known members: format, format_version, user_id, ' || array_to_string(p_kinds, ', ') || '.');
    end if;
  end loop;
end;
$$;

-- Counts the rows of the imported threads and agents, because counters in an export may be wrong.
create or replace function memory._count_imported(p_user_id text, p_threads text[], p_agents text[])
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  place text;
begin
  select format('%s of thread "%s"', m.seq, m.thread_id) into place
  from memory.messages as m
  left join memory.threads as t on t.user_id = m.user_id and t.thread_id = m.thread_id
  where m.user_id = p_user_id and (m.seq < t.next_seq) is not true
  limit 1;
  if found then
    perform memory._refuse('export', format('messages: thread or next_seq is missing for message %s', place),
      'threads must have the thread, with a next_seq above the seq of each message.');
  end if;
  perform memory._recount_threads(p_user_id, p_threads);
  update memory.memory_scopes as s
  set memory_count = c.memories
  from (
    select m.agent_id, count(*) filter (where memory._is_current(m)) as memories
    from memory.memories as m where m.user_id = p_user_id and m.agent_id = any (p_agents)
    group by m.agent_id) as c
  where s.user_id = p_user_id and s.agent_id = c.agent_id;
end;
$$;

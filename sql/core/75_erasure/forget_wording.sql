-- Removes forgotten texts from rows that say something else and stay. A text that has it becomes '[forgotten]' as a
-- whole. Names stay, because applications find rows by them: ids of threads and agents, keys, sources, names of
-- secrets. So do settings, and documents of the application.
create or replace function memory._forget_wording(p_user_id text, p_wordings text[], p_agents text[], p_threads text[])
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  patterns constant text[] := memory._patterns_of(p_wordings);
  kept record;
begin
  -- The versions of memories come after memories, whose change adds one.
  for kept in
    select *
    from (values
      (regclass 'memory.memories', array['metadata'], array['tags'],
       array[
        'embedding_text', 'supersede_reason', 'quarantine_reason', 'subject', 'attribute']),
      ('memory.memory_history', array['metadata'], array['tags'], array['supersede_reason']),
      ('memory.summaries', array['metadata'], array[]::text[], array['quarantine_reason']),
      ('memory.artifacts', array['metadata'], array[]::text[], array['description', 'quarantine_reason']),
      ('memory.threads', array['metadata'], array[]::text[], array['title']),
      ('memory.quarantined_messages', array[]::text[], array[]::text[], array['reason']),
      ('memory.model_calls', array[]::text[], array[]::text[], array['error'])
    ) as k (relation, jsons, lists, texts)
  loop
    execute memory._forgetting_update(kept.relation, kept.jsons, kept.lists, kept.texts)
    using p_user_id, patterns, p_wordings, p_agents, p_threads;
  end loop;
  perform memory._forget_gone_keys(p_user_id);
  -- Reasons of earlier receipts, which stay for good.
  update memory.receipts as r set reason = '[forgotten]'
  from memory.erasure_keys as k
  where r.user_hash = memory._keyed_hash(k, p_user_id) and memory._states_any(r.reason, p_wordings);
end;
$$;

-- Removes the keys of artifacts that are gone from the list of changes: a key may be made of the first words of its
-- artifact. Rows that somebody is numbering are in the second table when the first statement ends.
create or replace function memory._forget_gone_keys(p_user_id text)
returns void
language plpgsql volatile parallel unsafe
set enable_seqscan = off -- a plan made while the tables were empty would read all artifacts for each change
as $$
begin
  delete from memory.new_changes as c
  where c.user_id = p_user_id and c.source = 'artifact' and c.id <> ''
    and (select a.key from memory.artifacts as a where a.user_id = p_user_id and a.key = c.id) is null;
  delete from memory.changes as c
  where c.user_id = p_user_id and c.source = 'artifact' and c.id <> ''
    and (select a.key from memory.artifacts as a where a.user_id = p_user_id and a.key = c.id) is null;
end;
$$;

-- The statement that does so in columns of a table: $1 is the user, $2 are the patterns, $3 are the wordings that were
-- forgotten, $4 are the agents whose memories are locked, $5 are the threads that are locked.
create or replace function memory._forgetting_update(
  p_table regclass, p_jsons text[], p_lists text[], p_texts text[]
)
returns text
language plpgsql stable parallel safe
as $$
declare
  plain_name constant text := (select c.relname from pg_class as c where c.oid = p_table);
  -- A deleted or superseded memory keeps its operation, because memory.sweep() reads it (evict).
  counted constant text := case when plain_name = 'memories' then ', version = t.version + 1, operation = '
    'case when num_nulls(t.deleted_at, t.superseded_at) = 2 then ''update'' else t.operation end' else '' end;
  locked constant text := case plain_name
    when 'memories' then ' and t.agent_id = any ($4)'
    when 'threads' then ' and t.thread_id = any ($5)' else '' end;
begin
  return format('update %s as t set %s%s where t.user_id = $1 and memory._may_state(concat_ws('' '', %s), $2) '
      'and memory._json_states_any(jsonb_build_array(%4$s), $3)%s', p_table,
      string_agg(format('%I = ', c.name) || format(c.change, format('t.%I', c.name)), ', '), counted,
      string_agg(format('t.%I', c.name), ', '), locked)
  from (
    select j, 'memory._json_forgetting(%s, $3)' from unnest(p_jsons) as j
    union all
    select l, 'memory._texts(memory._json_forgetting(to_jsonb(%s), $3))' from unnest(p_lists) as l
    union all
    select x, 'memory._json_forgetting(to_jsonb(%s), $3) #>> ''{}''' from unnest(p_texts) as x
  ) as c (name, change);
end;
$$;

-- A JSON value with '[forgotten]' in place of each text and key that has one of these wordings in it. A value deeper
-- than 100 levels is removed whole if it has a wording: at about 1,000 levels the stack of the server ends.
create or replace function memory._json_forgetting(p_value jsonb, p_wordings text[], p_depth int default 0)
returns jsonb
language plpgsql immutable parallel unsafe
as $$
declare
  mark constant text := '[forgotten]';
begin
  if not memory._json_states_any(p_value, p_wordings) then
    return p_value;
  elsif p_depth = 100 or jsonb_typeof(p_value) = 'string' then
    return to_jsonb(mark);
  elsif jsonb_typeof(p_value) = 'array' then
    return jsonb_agg(memory._json_forgetting(i.value, p_wordings, p_depth + 1) order by i.place)
    from jsonb_array_elements(p_value) with ordinality as i (value, place);
  end if;
  return jsonb_object_agg(case when memory._states_any(m.key, p_wordings) then mark else m.key end,
    memory._json_forgetting(m.value, p_wordings, p_depth + 1))
  from jsonb_each(p_value) as m;
end;
$$;

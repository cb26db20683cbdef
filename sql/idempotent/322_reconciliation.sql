-- Reconciliation of a user's facts: what its jobs read, and how their results are stored.

-- The n newest memories that state something lasting, newest first, under small numbers. A group is an agent: none of
-- its facts may give way to one that only another agent knows.
create or replace function memory._reconciliation_input(job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  newest bigint;
  facts jsonb;
  facts_input jsonb;
begin
  with pool as (
    select row_number() over (order by m.created_at desc, m.memory_id desc) as number, m.*
    from (select v.* from memory._visible_memories(job.user_id, null, false) as v
          where v.memory_type in ('fact', 'preference', 'context', 'procedural')
          order by v.created_at desc, v.memory_id desc limit coalesce((job.request ->> 'n')::int, 50)) as m
  )
  select jsonb_agg(jsonb_build_object(
      'number', p.number, 'content', left(p.content, 8000), 'memory_type', p.memory_type, 'subject', memory._subject(p.metadata),
      'confidence', round(p.confidence::numeric, 2), 'known_since', coalesce(p.valid_from, p.created_at),
      'group', (select count(distinct o.agent_id) from pool as o where o.agent_id <= p.agent_id)) order by p.number),
    jsonb_agg(jsonb_build_object('memory_id', p.memory_id, 'version', p.version) order by p.number),
    (extract(epoch from max(p.created_at)) * 1000000)::bigint, sum(memory._estimate_tokens(left(p.content, 8000)))
  into facts, facts_input, newest, tokens
  from pool as p;
  -- What was looked at before is not looked at again, unless someone asks.
  if (jsonb_array_length(facts) >= 2) is not true or not job.request ? 'n' and exists (
    select from memory.marks as k where k.user_id = job.user_id and k.scope = '' and k.kind = 'reconcile_memories' and k.position >= newest
  ) then
    return;
  end if;
  agent_id := null; -- of all agents
  payload := memory._chat_model(null, 'reconcile_memories') || jsonb_build_object('facts', facts);
  input := jsonb_build_object('facts', facts_input, 'newest', newest);
end;
$$;

-- Whom or what a memory is about; one that does not say is about the user.
create or replace function memory._subject(metadata jsonb)
returns text
language sql immutable parallel safe
begin atomic
  select coalesce(nullif(lower(btrim(metadata ->> 'subject')), ''), 'user');
end;

-- The model says which facts belong together. What may be done about it is decided here: both sides of one agent and about
-- one subject, unchanged since they were handed out; of two that contradict each other the newer stays, then the more
-- confident. Whatever breaks these rules is left alone and counted.
create or replace function memory._apply_reconciliation(job memory.jobs, result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  given int := jsonb_array_length(job.input -> 'facts');
  section text;
  item record;
  handed_out uuid[];
  ids uuid[];
  entry_ids uuid[];
  winner uuid;
  kept int;
  merged int;
  contradicted int := 0;
  refused int := 0;
begin
  foreach section in array array['duplicates', 'contradictions'] loop
    if jsonb_typeof(result -> section) is distinct from 'array' then
      perform memory._refuse_result(section, 'must be an array');
    elsif jsonb_array_length(result -> section) > given then
      perform memory._refuse_result(section, format('has %s entries for %s facts', jsonb_array_length(result -> section), given));
    end if;
    for item in select i.position - 1 as position, i.value from jsonb_array_elements(result -> section) with ordinality as i (value, position) loop
      perform memory._check_result_numbers(format('%s[%s].numbers', section, item.position), item.value -> 'numbers', given);
      if section = 'duplicates' then
        perform memory._check_result_text(format('duplicates[%s].content', item.position), item.value -> 'content');
      end if;
    end loop;
  end loop;

  ids := memory._lock_unchanged(job.user_id, job.input -> 'facts');
  handed_out := ids;

  for item in select i.value from jsonb_array_elements(result -> 'duplicates') as i loop
    entry_ids := array(select distinct ids[n::numeric::int] from jsonb_array_elements_text(item.value -> 'numbers') as n);
    winner := memory._merge_memories(job.user_id, entry_ids, item.value ->> 'content');
    if winner is null then
      refused := refused + 1;
    else
      -- What contradicts one of them contradicts what they have become.
      ids := array(select case when i.id = any (entry_ids) then winner else i.id end from unnest(ids) with ordinality as i (id, position) order by i.position);
    end if;
  end loop;
  for item in select i.value from jsonb_array_elements(result -> 'contradictions') as i loop
    entry_ids := array(select distinct ids[n::numeric::int] from jsonb_array_elements_text(item.value -> 'numbers') as n);
    winner := memory._resolve_contradiction(job.user_id, entry_ids);
    if winner is null then
      refused := refused + 1;
    else
      contradicted := contradicted + cardinality(array_remove(entry_ids, winner));
      ids := array(select case when i.id = any (array_remove(entry_ids, winner)) then null else i.id end
                   from unnest(ids) with ordinality as i (id, position) order by i.position);
    end if;
  end loop;
  if coalesce((job.request ->> 'n')::int, 50) >= 50 then -- else some may not have been looked at
    perform memory._set_mark(job.user_id, '', 'reconcile_memories', (job.input ->> 'newest')::bigint);
  end if;
  -- Of the facts that were handed out: what some of them became may have been merged again, or contradicted.
  select given - count(*), count(*) filter (where m.supersede_reason = 'duplicate') into kept, merged
  from memory.memories as m where m.user_id = job.user_id and m.memory_id = any (handed_out) and m.superseded_at is not null;
  return jsonb_build_object('kept', kept, 'merged', merged, 'contradicted', contradicted, 'refused', refused);
end;
$$;

-- The memories of a job that are still as the model saw them, by their numbers, null in place of the others. Locks their
-- scopes before any row, as everyone who changes memories.
create or replace function memory._lock_unchanged(user_id text, handed_out jsonb)
returns uuid[]
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._lock_scopes_of(user_id, array(select (h ->> 'memory_id')::uuid from jsonb_array_elements(handed_out) as h));
  return array(
    select m.memory_id from jsonb_array_elements(handed_out) with ordinality as h (value, position)
    left join memory._visible_memories(_lock_unchanged.user_id, null, false) as m
      on m.memory_id = (h.value ->> 'memory_id')::uuid and m.version = (h.value ->> 'version')::int
    order by h.position);
end;
$$;

-- Whether memories may give way to each other: all still there, at least two, of one agent and about one subject.
create or replace function memory._may_supersede(user_id text, memory_ids uuid[])
returns boolean
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return array_position(memory_ids, null) is null and count(*) >= 2 and count(*) = cardinality(memory_ids)
    and count(distinct m.agent_id) = 1 and count(distinct memory._subject(m.metadata)) = 1
  from memory.memories as m where m.user_id = _may_supersede.user_id and m.memory_id = any (memory_ids);
end;
$$;

create or replace function memory._supersede_all(user_id text, memory_ids uuid[], winner uuid, reason text)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  update memory.memories as m
  set superseded_by = winner, supersede_reason = reason, superseded_at = statement_timestamp(), operation = 'supersede'
  where m.user_id = _supersede_all.user_id and m.memory_id = any (memory_ids) and m.memory_id <> winner;
end;
$$;

-- Duplicates become one memory with the best of each, and as recent as the newest of them, so that it wins over what was
-- said before that one; the id of it, or null when they may not. Where the merged text is that of a memory which exists
-- already, that one stays.
create or replace function memory._merge_memories(user_id text, memory_ids uuid[], content text)
returns uuid
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  newest memory.memories;
  existing memory.memories;
  winner uuid;
begin
  if not memory._may_supersede(user_id, memory_ids) then
    return null;
  end if;
  select m.* into newest from memory.memories as m
  where m.user_id = _merge_memories.user_id and m.memory_id = any (memory_ids)
  order by coalesce(m.valid_from, m.created_at) desc, m.created_at desc, m.memory_id desc limit 1;
  select m.* into existing from memory._visible_memories(newest.user_id, null, false) as m
  where m.agent_id = newest.agent_id and m.memory_type = newest.memory_type and m.content_hash = memory._content_hash(_merge_memories.content);
  if existing.memory_id is not null and memory._subject(existing.metadata) <> memory._subject(newest.metadata) then
    return null;
  elsif existing.memory_id is not null then
    perform memory._supersede_all(user_id, memory_ids, existing.memory_id, 'duplicate');
    return existing.memory_id;
  end if;
  winner := memory._uuid_v7();
  perform memory._supersede_all(user_id, memory_ids, winner, 'duplicate');
  insert into memory.memories (user_id, memory_id, agent_id, memory_type, content, thread_id, source_seqs, source, metadata, tags, confidence,
                               importance, valid_from, valid_to, expires_at)
  select newest.user_id, winner, newest.agent_id, newest.memory_type, _merge_memories.content, newest.thread_id, newest.source_seqs, 'reconciliation',
    memory._merged_metadata(newest.metadata, memory_ids),
    memory._merged_tags(newest, memory_ids),
    max(m.confidence), max(m.importance), least(coalesce(newest.valid_from, newest.created_at), newest.valid_to), newest.valid_to,
    case when bool_or(m.expires_at is null) then null else max(m.expires_at) end
  from memory.memories as m where m.user_id = newest.user_id and m.memory_id = any (memory_ids);
  return winner;
end;
$$;

-- What a merged memory is made of must not make it a memory that is refused, or the job would fail again and again: as many
-- tags as a memory may have, those of the newest first. The others stay with the memories that gave way.
create or replace function memory._merged_tags(newest memory.memories, memory_ids uuid[])
returns text[]
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select k.tag
    from (select t.tag from memory.memories as m cross join lateral unnest(m.tags) as t (tag)
          where m.user_id = newest.user_id and m.memory_id = any (memory_ids) and length(t.tag) <= 255
          group by t.tag order by bool_or(m.memory_id = newest.memory_id) desc, t.tag limit 100) as k
    order by k.tag);
end;
$$;

-- The metadata of the newest, unless there is no room for the ids beside it; then only whom it is about.
create or replace function memory._merged_metadata(metadata jsonb, memory_ids uuid[])
returns jsonb
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  sources constant jsonb := jsonb_build_object('merged_from', to_jsonb(memory_ids));
begin
  return case when pg_column_size(metadata || sources) <= 1048576 then metadata
              else jsonb_strip_nulls(jsonb_build_object('subject', left(metadata ->> 'subject', 255))) end || sources;
end;
$$;

-- The id of the one that stays, or null when none may give way.
create or replace function memory._resolve_contradiction(user_id text, memory_ids uuid[])
returns uuid
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  winner uuid;
begin
  if not memory._may_supersede(user_id, memory_ids) then
    return null;
  end if;
  select m.memory_id into winner from memory.memories as m
  where m.user_id = _resolve_contradiction.user_id and m.memory_id = any (memory_ids)
  order by coalesce(m.valid_from, m.created_at) desc, m.confidence desc, m.created_at desc, m.memory_id desc limit 1;
  perform memory._supersede_all(user_id, memory_ids, winner, 'contradict');
  return winner;
end;
$$;

create or replace function memory.add_memories(
  user_id text, memories jsonb, agent_id text default 'default', on_conflict text default 'ignore'
)
returns setof memory.stored_memory
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  size int;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('agent_id', agent_id);
  if (on_conflict in ('ignore', 'replace', 'error')) is not true then
    perform memory._refuse('on_conflict', format('unknown value "%s"', on_conflict), 'Use ignore, replace or error.');
  end if;
  perform memory._check_memories(memories);
  size := greatest(jsonb_array_length(memories), 1);
  -- At the limit parts of 1,000 are stored one after the other, of which few hold a memory that goes again before the
  -- next one comes. Otherwise one part has all memories.
  if size > 1000 then
    begin
      if memory._lock_room_for(user_id, memories, agent_id) = 'at the limit' then
        size := 1000;
      end if;
    exception
      when data_exception then -- the part finds out which memory it is
    end;
  end if;
  for start in 0 .. jsonb_array_length(memories) - 1 by size loop
    return query
    select a.*
    from memory._add_part(
      user_id, jsonb_path_query_array(memories, '$[$first to $last]',
                                      jsonb_build_object('first', start, 'last', start + size - 1)),
      agent_id, on_conflict, start) as a;
  end loop;
end;
$$;
comment on function memory.add_memories(text, jsonb, text, text) is
'Stores an array of memories in one call and returns their ids, in order; all or none. Each is an object with the '
'arguments of memory.add_memory() except user_id and on_conflict; a member that is null or left out has its default, '
'and agent_id is then the argument. The result is that of memory.add_memory() called for one after the other: a '
'memory that the agent has already, or that stands earlier in the array, gets inserted = false. An error names the '
'place in the array, from 0.';

-- Refuses an array that is none, is too long, or has an element with an unknown member or a member of another type.
create or replace function memory._check_memories(p_memories jsonb)
returns void
language plpgsql immutable parallel safe
as $$
declare
  kinds constant jsonb := jsonb '{
    "content": "string", "memory_type": "string", "agent_id": "string", "thread_id": "string", "metadata": "object",
    "tags": "array", "confidence": "number", "importance": "number", "valid_from": "string", "valid_to": "string",
    "expires_at": "string", "embedding_text": "string", "source": "string", "memory_id": "string"
  }';
  wrong record;
begin
  if jsonb_typeof(p_memories) is distinct from 'array' then
    perform memory._refuse('memories',
      case when p_memories is null then 'must not be null' else 'is not a JSON array' end,
      'Pass an array of memories such as [{"content": "Prefers email over phone calls"}].');
  elsif jsonb_array_length(p_memories) > 100000 then
    perform memory._refuse('memories',
      format('has %s memories, at most 100000 are allowed', jsonb_array_length(p_memories)),
      'Call it several times, in one transaction where all or none are to be stored.', '54000');
  end if;
  select e.position - 1 as place, jsonb_typeof(e.value) as kind into wrong
  from jsonb_array_elements(p_memories) with ordinality as e (value, position)
  where jsonb_typeof(e.value) <> 'object' limit 1;
  if found then
    perform memory._refuse(format('memories[%s]', wrong.place), format('is a JSON %s', wrong.kind),
      'Each memory is an object with content.');
  end if;
  select e.position - 1 as place, left(m.key, 100) as key, kinds ->> m.key as kind, jsonb_typeof(m.value) as actual
  into wrong
  from jsonb_array_elements(p_memories) with ordinality as e (value, position)
  cross join jsonb_each(e.value) as m
  where (jsonb_typeof(m.value) in ('null', kinds ->> m.key)) is not true or kinds ->> m.key is null
    or m.key = 'tags' and jsonb_path_exists(m.value, '$[*] ? (@.type() != "string")')
  limit 1;
  if wrong.kind is null and wrong.key is not null then
    perform memory._refuse(format('memories[%s]', wrong.place), format('has an unknown member "%s"', wrong.key),
      format('Known members: %s.', (select string_agg(k, ', ' order by k) from jsonb_object_keys(kinds) as k)));
  elsif wrong.key is not null then
    perform memory._refuse(format('%s of memories[%s]', wrong.key, wrong.place), format('is a JSON %s', wrong.actual),
      case wrong.key when 'tags' then 'Pass an array of strings such as ["drinks", "travel"].'
                     else format('Pass a JSON %s.', wrong.kind) end);
  end if;
end;
$$;

-- Takes an array of memories apart, one row each. What a memory leaves out is its default, or as in add_memory() what
-- the metadata says.
create or replace function memory._parse_memories(p_memories jsonb, p_agent_id text)
returns table (
  place bigint, content text, memory_type text, agent_id text, thread_id text, metadata jsonb, tags text[],
  confidence double precision, importance double precision, valid_from timestamptz, valid_to timestamptz,
  expires_at timestamptz, embedding_text text, source text, memory_id uuid
)
language sql stable parallel safe
begin atomic
  select m.place - 1, m.content, coalesce(m.memory_type, 'fact'), coalesce(m.agent_id, p_agent_id), m.thread_id,
    coalesce(nullif(m.metadata, 'null'), '{}'),
    case when coalesce(m.tags, '{}') = '{}' and m.metadata ? 'tags'
      then coalesce(memory._tags_in(m.metadata), '{}') else coalesce(m.tags, '{}') end,
    case when coalesce(m.confidence, 1.0) = 1.0 and m.metadata ? 'confidence'
      then coalesce(memory._share_in(m.metadata, 'confidence'), 1.0) else coalesce(m.confidence, 1.0) end,
    coalesce(m.importance, memory._share_in(m.metadata, 'importance'), memory._default_importance()),
    m.valid_from, m.valid_to, m.expires_at, m.embedding_text, coalesce(m.source, 'user'), m.memory_id
  from rows from (
    jsonb_to_recordset(p_memories) as (
      content text, memory_type text, agent_id text, thread_id text, metadata jsonb, tags text[],
      confidence double precision, importance double precision, valid_from timestamptz, valid_to timestamptz,
      expires_at timestamptz, embedding_text text, source text, memory_id uuid)
  ) with ordinality as m (
    content, memory_type, agent_id, thread_id, metadata, tags, confidence, importance, valid_from, valid_to, expires_at,
    embedding_text, source, memory_id, place);
end;

-- Stores a part of an array of memories, in one statement if that makes no difference. p_first is the place of the
-- first memory in the array.
create or replace function memory._add_part(
  p_user_id text, p_memories jsonb, p_agent_id text, p_on_conflict text, p_first int
)
returns setof memory.stored_memory
language plpgsql volatile parallel unsafe
as $$
declare
  room text;
  are_stored_together boolean;
  ids uuid[]; -- null for a memory that the statement left out
  reasons text[];
  evicted uuid[] := array[]::uuid[];
begin
  -- In a block of its own: where the next one rolls back, the counters stay locked in the order of all functions.
  begin
    room := memory._lock_room_for(p_user_id, p_memories, p_agent_id);
  exception
    when data_exception or integrity_constraint_violation or insufficient_privilege or program_limit_exceeded then
      -- One by one the function finds out which memory it is.
  end;
  begin
    are_stored_together := room is not null;
    if are_stored_together then
      with parsed as materialized (
        select p.*, coalesce(p.memory_id, memory._uuid_v7()) as id
        from memory._parse_memories(p_memories, p_agent_id) as p
      ), inserted as (
        insert into memory.memories as m (
          user_id, memory_id, content, memory_type, agent_id, thread_id, metadata, tags, confidence, importance,
          valid_from, valid_to, expires_at, embedding_text, source)
        select p_user_id, p.id, p.content, p.memory_type, p.agent_id, p.thread_id, p.metadata, p.tags,
          memory._real(p.confidence), memory._real(p.importance), p.valid_from, p.valid_to, p.expires_at,
          p.embedding_text, p.source
        from parsed as p
        order by p.place
        on conflict do nothing
        returning m.memory_id, m.quarantine_reason
      )
      select coalesce(array_agg(i.memory_id order by p.place), '{}'),
        coalesce(array_agg(i.quarantine_reason order by p.place), '{}')
      into ids, reasons
      from parsed as p left join inserted as i on i.memory_id = p.id;
      if room = 'at the limit' then
        evicted := memory._evicted_at_once(p_user_id, ids);
      end if;
    end if;
  exception
    when data_exception or integrity_constraint_violation or insufficient_privilege or program_limit_exceeded then
      are_stored_together := false; -- one by one the function finds out which memory it is
  end;
  if not are_stored_together then
    return query select a.* from memory._add_in_turn(p_user_id, p_memories, p_agent_id, p_on_conflict, p_first) as a;
  elsif num_nulls(variadic ids) = 0 and num_nonnulls(variadic reasons) = 0 and evicted = '{}' then
    return query select i, true from unnest(ids) as i;
  else
    for place in 1 .. cardinality(ids) loop
      if ids[place] is null then
        return query
        select a.* from memory._add_in_turn(p_user_id, jsonb_build_array(p_memories -> place - 1), p_agent_id,
                                            p_on_conflict, p_first + place - 1) as a;
      else
        if reasons[place] is not null or ids[place] = any (evicted) then
          perform memory._note_unseen(ids[place], reasons[place]);
        end if;
        return query select ids[place], ids[place] <> all (evicted);
      end if;
    end loop;
  end if;
end;
$$;

-- Locks the counters of the agents of these memories, in the order of all functions, and returns whether one statement
-- may store them. It may ("free") if that leaves the same as one call for each memory. At the limit it may if
-- memory._evicted_at_once() agrees afterwards, unless the limit was lowered or a memory goes that hides others. It may
-- not (null) if a memory has expired, which gives way to its repetition, or has the memory_id of another one, or if an
-- agent lacks the resource memory.
create or replace function memory._lock_room_for(p_user_id text, p_memories jsonb, p_agent_id text)
returns text
language plpgsql volatile parallel unsafe
as $$
declare
  scope record;
  policy jsonb;
  counted bigint;
  most bigint;
  room text := (
    select case when count(p.memory_id) <> count(distinct p.memory_id) or min(p.expires_at) <= clock_timestamp()
                then null else 'free' end
    from memory._parse_memories(p_memories, p_agent_id) as p);
begin
  for scope in
    select p.agent_id, count(*) as added
    from memory._parse_memories(p_memories, p_agent_id) as p
    group by p.agent_id order by p.agent_id
  loop
    if not memory._is_id(scope.agent_id) then
      return null;
    end if;
    policy := memory._effective_policy(memory._lock_scope(p_user_id, scope.agent_id));
    most := (policy #>> '{memories,max_per_agent}')::bigint;
    counted := (
      select s.memory_count from memory.memory_scopes as s
      where s.user_id = p_user_id and s.agent_id = scope.agent_id);
    room := case
      when not (policy #>> '{resources,memory}')::boolean then null
      when counted + scope.added <= most then room
      when room is not null and counted <= most and not exists ( -- none of those that go hides another one
        select
        from unnest(memory._evictable(p_user_id, scope.agent_id, scope.added, policy #>> '{memories,eviction}'))
          as i (id)
        cross join lateral ( -- each by itself: a join is planned badly while the table has no statistics
          select from memory.memories as m
          where m.user_id = p_user_id and m.superseded_by = i.id and m.deleted_at is null offset 0) as h)
        then 'at the limit'
    end;
  end loop;
  return room;
end;
$$;

-- Which of these memories, that one statement has stored, are evicted again: of each agent none or all. One call for
-- each memory would have evicted the same in both cases. Otherwise, and if a memory was not stored because its content
-- is known, the order of evictions may matter, and the function raises an error.
create or replace function memory._evicted_at_once(p_user_id text, p_memory_ids uuid[])
returns uuid[]
language plpgsql stable parallel safe
as $$
declare
  evicted uuid[];
  is_mixed boolean;
begin
  select array_agg(a.id) filter (where a.is_evicted), bool_or(a.is_evicted <> a.are_evicted)
  into evicted, is_mixed
  from (
    select m.memory_id as id, m.deleted_at is not null and m.quarantined_at is null as is_evicted,
      bool_or(m.deleted_at is not null and m.quarantined_at is null) over (partition by m.agent_id) as are_evicted
    from memory._memories_by_ids(p_user_id, p_memory_ids) as m) as a;
  if is_mixed or array_position(p_memory_ids, null) is not null then
    raise data_exception;
  end if;
  return coalesce(evicted, '{}');
end;
$$;

-- Stores memories one after the other, as add_memory() does. p_first is the place of the first one for errors.
create or replace function memory._add_in_turn(
  p_user_id text, p_memories jsonb, p_agent_id text, p_on_conflict text, p_first int
)
returns setof memory.stored_memory
language plpgsql volatile parallel unsafe
as $$
declare
  place int := p_first - 1;
  one jsonb;
  code text;
  problem text;
  advice text;
begin
  for one in select e.value from jsonb_array_elements(p_memories) with ordinality as e (value, position)
             order by e.position loop
    place := place + 1;
    return query
    select a.*
    from memory._parse_memories(jsonb_build_array(one), p_agent_id) as p
    cross join lateral memory.add_memory(
      p_user_id, p.content, p.memory_type, p.agent_id, p.thread_id, p.metadata, p.tags, p.confidence, p.importance,
      p.valid_from, p.valid_to, p.expires_at, p.embedding_text, p.source, p_on_conflict, p.memory_id) as a;
  end loop;
exception
  when data_exception or integrity_constraint_violation or insufficient_privilege or program_limit_exceeded then
    get stacked diagnostics code = returned_sqlstate, problem = message_text, advice = pg_exception_hint;
    raise exception '%', case
        when problem ~ '^[a-z_]+: ' then regexp_replace(problem, ': ', format(' of memories[%s]: ', place))
        else format('memories[%s]: %s', place, problem) end
      using errcode = code, hint = advice;
end;
$$;

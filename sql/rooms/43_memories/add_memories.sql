create or replace function memory.add_memories(
  user_id text, memories jsonb, agent_id text default 'default', on_conflict text default 'ignore'
)
returns setof memory.stored_memory
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  are_stored_together boolean;
  ids uuid[]; -- null for a memory that the statement left out
  reasons text[];
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('agent_id', agent_id);
  if (on_conflict in ('ignore', 'replace', 'error')) is not true then
    perform memory._refuse('on_conflict', format('unknown value "%s"', on_conflict), 'Use ignore, replace or error.');
  end if;
  perform memory._check_memories(memories);
  begin
    are_stored_together := memory._lock_room_for(user_id, memories, agent_id);
    if are_stored_together then
      with parsed as materialized (
        select p.*, coalesce(p.memory_id, memory._uuid_v7()) as id
        from memory._parse_memories(add_memories.memories, add_memories.agent_id) as p
      ), inserted as (
        insert into memory.memories as m (
          user_id, memory_id, content, memory_type, agent_id, thread_id, metadata, tags, confidence, importance,
          valid_from, valid_to, expires_at, embedding_text, source)
        select add_memories.user_id, p.id, p.content, p.memory_type, p.agent_id, p.thread_id, p.metadata, p.tags,
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
    end if;
  exception
    when data_exception or integrity_constraint_violation or insufficient_privilege or program_limit_exceeded then
      are_stored_together := false; -- one by one the function finds out which memory it is
  end;
  if not are_stored_together then
    return query select a.* from memory._add_in_turn(user_id, memories, agent_id, on_conflict, 0) as a;
  elsif num_nulls(variadic ids) = 0 and num_nonnulls(variadic reasons) = 0 then
    return query select i, true from unnest(ids) as i;
  else
    for place in 1 .. cardinality(ids) loop
      if ids[place] is null then
        return query
        select a.* from memory._add_in_turn(user_id, jsonb_build_array(memories -> place - 1), agent_id, on_conflict,
                                            place - 1) as a;
      else
        if reasons[place] is not null then
          perform memory._note_quarantine(ids[place], reasons[place]);
        end if;
        return query select ids[place], true;
      end if;
    end loop;
  end if;
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

-- Locks the counters of the agents of these memories, in the order of all functions, and returns whether one statement
-- may store them. It may not if that would differ from one call for each memory: at the limit each memory may evict
-- another one, an expired memory gives way to its repetition, and the second memory of one memory_id is no new one. An
-- agent without the resource memory stores none.
create or replace function memory._lock_room_for(p_user_id text, p_memories jsonb, p_agent_id text)
returns boolean
language plpgsql volatile parallel unsafe
as $$
declare
  scope record;
  policy jsonb;
  has_room boolean := not exists (
    select
    from memory._parse_memories(p_memories, p_agent_id) as p
    having count(p.memory_id) <> count(distinct p.memory_id) or min(p.expires_at) <= clock_timestamp());
begin
  for scope in
    select p.agent_id, count(*) as added
    from memory._parse_memories(p_memories, p_agent_id) as p
    group by p.agent_id order by p.agent_id
  loop
    if not memory._is_id(scope.agent_id) then
      return false;
    end if;
    policy := memory._effective_policy(memory._lock_scope(p_user_id, scope.agent_id));
    has_room := has_room and (policy #>> '{resources,memory}')::boolean and (
      select s.memory_count + scope.added <= (policy #>> '{memories,max_per_agent}')::bigint
      from memory.memory_scopes as s where s.user_id = p_user_id and s.agent_id = scope.agent_id);
  end loop;
  return has_room;
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

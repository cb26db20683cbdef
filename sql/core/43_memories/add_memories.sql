create or replace function memory.add_memories(
  user_id text, memories jsonb, agent_id text default 'default', on_conflict text default 'ignore'
)
returns setof memory.stored_memory
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  given memory.new_memory[];
  code text;
  problem text;
  advice text;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('agent_id', agent_id);
  perform memory._check_on_conflict(on_conflict);
  perform memory._check_memories(memories);
  -- The first pass parses all memories. If it fails, each further pass parses one memory, to find the wrong one.
  for place in -1 .. jsonb_array_length(memories) - 1 loop
    begin
      given := memory._parse_memories(
        case when place < 0 then memories else jsonb_build_array(memories -> place) end, agent_id);
      return query select w.* from memory._write_memories(user_id, given, on_conflict) as w;
      exit when place < 0;
    exception
      when data_exception or integrity_constraint_violation or insufficient_privilege or program_limit_exceeded then
        continue when place < 0;
        get stacked diagnostics code = returned_sqlstate, problem = message_text, advice = pg_exception_hint;
        perform memory._refuse_times(
          'memories', jsonb_build_array(memories -> place), array['valid_from', 'valid_to', 'expires_at'], place);
        if code = '22P02' then
          perform memory._refuse(
            format('%s of memories[%s]', case when memories -> place ? 'replaces' then 'memory_id or replaces'
                                              else 'memory_id' end, place), problem, 'Pass a UUID, or leave it out.');
        end if;
        raise exception '%', case
            when problem ~ '^[a-z_]+: ' then regexp_replace(problem, ': ', format(' of memories[%s]: ', place))
            else format('memories[%s]: %s', place, problem) end
          using errcode = code, hint = advice;
    end;
  end loop;
end;
$$;
comment on function memory.add_memories(text, jsonb, text, text) is
'Stores an array of memories in one call and returns their ids, in order; all or none. Each is an object with the '
'arguments of memory.add_memory() except user_id and on_conflict; a member that is null or left out has its default, '
'and agent_id is then the argument. The result is that of memory.add_memory() called for one after the other: a '
'memory that the agent has already, that stands earlier in the array, or that the limit evicts in the same call gets '
'inserted = false. An error names the place in the array, from 0.';

-- Refuses a value that is no array, is too long, or has an element with an unknown member or a wrong type.
create or replace function memory._check_memories(p_memories jsonb)
returns void
language plpgsql immutable parallel safe
as $$
declare
  kinds constant jsonb := jsonb '{
    "content": "string", "memory_type": "string", "agent_id": "string", "thread_id": "string", "metadata": "object",
    "tags": "array", "confidence": "number", "importance": "number", "valid_from": "string", "valid_to": "string",
    "expires_at": "string", "embedding_text": "string", "source": "string", "memory_id": "string", "subject": "string",
    "attribute": "string", "replaces": "array"
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
  select e.position - 1 as place, jsonb_typeof(e.value) as kind, left(m.key, 100) as key, kinds ->> m.key as wanted,
    jsonb_typeof(m.value) as actual
  into wrong
  from jsonb_array_elements(p_memories) with ordinality as e (value, position)
  left join lateral jsonb_each(case when jsonb_typeof(e.value) = 'object' then e.value end) as m on true
  where jsonb_typeof(e.value) <> 'object'
    or m.key is not null and (kinds ->> m.key is null or jsonb_typeof(m.value) not in ('null', kinds ->> m.key)
      or m.key in ('tags', 'replaces') and jsonb_path_exists(m.value, '$[*] ? (@.type() != "string")'))
  limit 1;
  if wrong.kind <> 'object' then
    perform memory._refuse(format('memories[%s]', wrong.place), format('is a JSON %s', wrong.kind),
      'Each memory is an object with content.');
  elsif wrong.wanted is null and wrong.key is not null then
    perform memory._refuse(format('memories[%s]', wrong.place), format('has an unknown member "%s"', wrong.key),
      format('Known members: %s.', (select string_agg(k, ', ' order by k) from jsonb_object_keys(kinds) as k)));
  elsif wrong.key is not null then
    perform memory._refuse(format('%s of memories[%s]', wrong.key, wrong.place), format('is a JSON %s', wrong.actual),
      case wrong.key when 'tags' then 'Pass an array of strings such as ["drinks", "travel"].'
                     when 'replaces' then 'Pass an array of the ids of memories.'
                     else format('Pass a JSON %s.', wrong.wanted) end);
  end if;
end;
$$;

-- Makes rows of a JSON array of memories. A member that is missing or null gets its default.
create or replace function memory._parse_memories(p_memories jsonb, p_agent_id text)
returns memory.new_memory[]
language plpgsql stable parallel safe
as $$
declare
  defaults constant memory.new_memory := jsonb_populate_record(null::memory.new_memory, jsonb_build_object(
    'memory_type', 'fact', 'agent_id', p_agent_id, 'confidence', 1.0, 'source', 'user'));
begin
  return array(
    select jsonb_populate_record(
      defaults, e.value - array(select m.key from jsonb_each(e.value) as m where m.value = 'null'))
    from jsonb_array_elements(p_memories) with ordinality as e (value, place)
    order by e.place);
end;
$$;

-- What a reply states, as far as its evidence holds. A date without a time is the beginning of that day where the
-- speaker of the first message is (memory._zone_of()).

-- The memories of a reply that memory._readable_reply() returns; at most p_per_reply, and of each agent at most the
-- number in p_allowances. A plan, and what is over, is a memory without an attribute, so that
-- it takes no other memory's place; what was true from one time to another keeps its attribute. effect has what the
-- reply says of other memories.
create or replace function memory._evident_memories(
  p_job memory.jobs, p_result jsonb, p_per_reply bigint, p_allowances jsonb
)
returns table (place bigint, memory memory.memories, suspicion text, effect jsonb)
language plpgsql stable parallel unsafe
as $$
begin
  return query
  with evident as materialized (
    select i.position, i.value, coalesce(m.agent_id, p_job.input #>> '{agent_ids,0}') as agent_id, e.said_at,
      memory._zone_of(p_job.user_id, p_job.scope, (i.value #>> '{seqs,0}')::numeric::bigint) as zone
    from jsonb_array_elements(p_result -> 'memories') with ordinality as i (value, position)
    left join lateral memory._messages_by_seqs(
      p_job.user_id, p_job.scope, array[(i.value #>> '{seqs,0}')::numeric::bigint]) as m on true
    cross join lateral (
      select max(s.created_at) as said_at
      from memory._messages_by_seqs(p_job.user_id, p_job.scope, array(
        select n::numeric::bigint from jsonb_array_elements_text(i.value -> 'seqs') as n)) as s) as e
    -- A message that expired meanwhile no longer says which of several agents heard it.
    where m.agent_id is not null or jsonb_array_length(p_job.input -> 'agent_ids') = 1
  ), counted as (
    select e.*, row_number() over (order by e.position) as place_of_all,
      row_number() over (partition by e.agent_id order by e.position) as place_of_agent,
      memory._time_or_null(e.value ->> 'event_time', e.zone) as event_time,
      memory._time_or_null(e.value ->> 'valid_from', e.zone) as begins,
      memory._time_or_null(e.value ->> 'valid_to', e.zone) as ends,
      e.value ->> 'status' as status
    from evident as e
  )
  select c.position, jsonb_populate_record(null::memory.memories, jsonb_build_object(
      'user_id', p_job.user_id, 'agent_id', c.agent_id, 'memory_type', c.value ->> 'memory_type',
      'content', c.value ->> 'content', 'confidence', coalesce(memory._share(c.value ->> 'confidence'), 1.0),
      'importance', coalesce(memory._share(c.value ->> 'importance'), memory._default_importance()),
      'thread_id', p_job.scope, 'said_at', c.said_at, 'source', 'extraction', 'is_stated', false,
      'source_seqs', array(select s::numeric::bigint from jsonb_array_elements_text(c.value -> 'seqs') as s order by 1),
      -- From when on: as the text says, or since it happened, or since it was said. An imported conversation was said
      -- long before it is read.
      'valid_from', case when coalesce(c.begins, least(c.event_time, c.said_at)) <= coalesce(c.ends, 'infinity')
        then coalesce(c.begins, least(c.event_time, c.said_at)) end,
      'valid_to', c.ends,
      'subject', nullif(btrim(c.value ->> 'subject'), ''),
      'attribute', case when c.status = 'holds' or c.status = 'ended' and c.ends is not null
        then nullif(btrim(c.value ->> 'attribute'), '') end,
      'trust', memory._least_trust(p_job.user_id, p_job.scope, array(
        select s::numeric::bigint from jsonb_array_elements_text(c.value -> 'seqs') as s)),
      'metadata', jsonb_strip_nulls(jsonb_build_object(
        'event_time', c.value -> 'event_time', 'value', nullif(btrim(c.value ->> 'value'), ''),
        'fields', case when p_job.input #> array['types', c.value ->> 'memory_type'] is not null
          then nullif(jsonb_strip_nulls(nullif(c.value -> 'fields', 'null')), '{}') end)))),
    -- The model's reason why the memory is an attack, cut to 200 letters, digits and plain marks: the model may repeat
    -- an attack, so the reason must have no markup. Null where the model has nothing against it.
    case when c.value ->> 'suspicious' ~ e'\\S' then coalesce(nullif(left(btrim(regexp_replace(
      left(c.value ->> 'suspicious', 2000), '[^[:alnum:].,;()''-]+', ' ', 'g')), 200), ''), 'no reason given') end,
    jsonb_build_object(
      'status', c.status, 'attribute', nullif(btrim(c.value ->> 'attribute'), ''),
      'numbers', coalesce(nullif(c.value -> 'replaces', 'null'), '[]'),
      'corrects', coalesce(c.value -> 'corrects' = 'true', false),
      'has_one_value', coalesce(c.value -> 'many' = 'false', false),
      'at', case when c.status = 'ended' then coalesce(c.ends, c.event_time, c.said_at) end)
  from counted as c
  where c.place_of_all <= p_per_reply and c.place_of_agent <= (p_allowances ->> c.agent_id)::bigint;
end;
$$;

-- What a reply says has ended without a successor: for each entry a memory that has its evidence, and the effect.
create or replace function memory._evident_ends(p_job memory.jobs, p_result jsonb)
returns table (memory memory.memories, effect jsonb)
language plpgsql stable parallel unsafe
as $$
begin
  return query
  select jsonb_populate_record(null::memory.memories, jsonb_build_object(
      'user_id', p_job.user_id, 'agent_id', m.agent_id, 'thread_id', p_job.scope, 'said_at', m.said_at,
      'source_seqs', m.seqs, 'trust', m.trust, 'source', 'extraction', 'is_stated', false)),
    jsonb_build_object('status', 'ended', 'numbers', jsonb_build_array(e.value -> 'number'),
      'corrects', coalesce(e.value -> 'corrects' = 'true', false),
      'at', coalesce(memory._time_or_null(e.value ->> 'ended_at', memory._zone_of(
        p_job.user_id, p_job.scope, m.seqs[1])), m.said_at))
  from jsonb_array_elements(coalesce(nullif(p_result -> 'ends', 'null'), '[]')) with ordinality as e (value, position)
  cross join lateral (
    select array_agg(s.seq order by s.seq) as seqs, max(s.created_at) as said_at, min(s.agent_id) as agent_id,
      min(memory._message_trust(s.role, s.metadata)) as trust
    from memory._messages_by_seqs(p_job.user_id, p_job.scope, array(
      select n::numeric::bigint from jsonb_array_elements_text(e.value -> 'seqs') as n)) as s) as m
  where m.seqs is not null
  order by m.said_at, e.position;
end;
$$;

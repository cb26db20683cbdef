-- Makes rows of the entries that memory._readable_reply() returns. An entry without content only ends other memories.
-- The function takes at most p_allowances memories of each agent. A plan, or a statement that something is over,
-- becomes a memory without an attribute, so that it replaces no other memory; a statement with a beginning and an end
-- keeps its attribute. suspicion is the model's reason to take the memory for an attack, and effect is what the reply
-- says about other memories. A date without a time is the beginning of that day in the zone of the speaker of the first
-- message (memory._zone_of()).
create or replace function memory._evident_memories(p_job memory.jobs, p_items jsonb[], p_allowances jsonb)
returns table (place bigint, memory memory.memories, suspicion text, effect jsonb)
language plpgsql stable parallel unsafe
as $$
begin
  return query
  with evident as materialized (
    select i.place, i.item, n.seqs, coalesce(m.agent_id, p_job.input #>> '{agent_ids,0}') as agent_id, m.said_at,
      m.trust, memory._zone_of(p_job.user_id, p_job.scope, n.seqs[1]) as zone
    from unnest(p_items) with ordinality as i (item, place)
    cross join lateral (
      select array(select s::numeric::bigint from jsonb_array_elements_text(i.item -> 'seqs') as s) as seqs
    ) as n
    cross join lateral (
      select (array_agg(s.agent_id order by array_position(n.seqs, s.seq)))[1] as agent_id,
        max(s.created_at) as said_at, min(memory._message_trust(s.role, s.metadata)) as trust
      from memory._messages_by_seqs(p_job.user_id, p_job.scope, n.seqs) as s) as m
    -- Messages that have expired meanwhile no longer say which of several agents they belonged to.
    where m.agent_id is not null or jsonb_array_length(p_job.input -> 'agent_ids') = 1
  ), counted as (
    select e.*, e.item ->> 'status' as status,
      row_number() over (partition by e.agent_id, e.item ->> 'content' is null order by e.place) as place_of_agent,
      memory._time_or_null(e.item ->> 'event_time', e.zone) as event_time,
      memory._time_or_null(e.item ->> 'valid_from', e.zone) as begins,
      memory._time_or_null(e.item ->> 'valid_to', e.zone) as ends
    from evident as e
  )
  select c.place, jsonb_populate_record(null::memory.memories, jsonb_build_object(
      'user_id', p_job.user_id, 'agent_id', c.agent_id, 'memory_type', c.item -> 'memory_type',
      'content', c.item -> 'content', 'confidence', c.item -> 'confidence', 'importance', c.item -> 'importance',
      'thread_id', p_job.scope, 'said_at', c.said_at, 'source', 'extraction', 'is_stated', false,
      'source_seqs', array(select s from unnest(c.seqs) as s order by s), 'trust', c.trust,
      -- The memory holds from the time that the text names, or else from the event, or else from when it was said. An
      -- imported conversation was said long before it is read.
      'valid_from', case when coalesce(c.begins, least(c.event_time, c.said_at)) <= coalesce(c.ends, 'infinity')
        then coalesce(c.begins, least(c.event_time, c.said_at)) end,
      'valid_to', c.ends, 'subject', c.item -> 'subject',
      'attribute', case when c.status = 'holds' or c.status = 'ended' and c.ends is not null
        then c.item -> 'attribute' end,
      'metadata', jsonb_strip_nulls(jsonb_build_object(
        'event_time', c.item -> 'event_time', 'value', c.item -> 'value',
        'fields', nullif(jsonb_strip_nulls(c.item -> 'fields'), '{}'))))),
    -- The reason keeps 200 letters, digits and plain marks, and no markup: the model may repeat an attack.
    case when c.item ->> 'suspicious' ~ e'\\S' then coalesce(nullif(left(btrim(regexp_replace(
      left(c.item ->> 'suspicious', 2000), '[^[:alnum:].,;()''-]+', ' ', 'g')), 200), ''), 'no reason given') end,
    jsonb_build_object(
      'status', c.status, 'attribute', c.item -> 'attribute', 'numbers', c.item -> 'replaces',
      'corrects', coalesce(c.item -> 'corrects' = 'true', false),
      'has_one_value', coalesce(c.item -> 'has_one_value' = 'true', false),
      'at', case when c.status = 'ended' then coalesce(c.ends, c.event_time, c.said_at) end)
  from counted as c
  where c.item ->> 'content' is null or c.place_of_agent <= (p_allowances ->> c.agent_id)::bigint;
end;
$$;

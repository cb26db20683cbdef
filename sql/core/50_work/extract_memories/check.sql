-- Decides which entries of a model's reply are stored. A bad entry does not affect the others. An entry without text,
-- type or messages is left out, and so is an entry whose text does not rest on its messages. Any other unreadable field
-- of a memory becomes null or its default, and a share beyond 0 or 1 becomes the nearer of the two.

-- Whether a value of a reply is an array of at most 1,000 whole numbers.
create or replace function memory._are_numbers(p_value jsonb)
returns boolean
language plpgsql immutable parallel safe
as $$
begin
  return case when jsonb_typeof(p_value) = 'array' then jsonb_array_length(p_value) <= 1000 and not jsonb_path_exists(
    p_value, 'strict $[*] ? (@.type() != "number" || @.floor() != @ || @.abs() > 1000000000000000)') else false end;
end;
$$;

-- The memories and ends of a reply that may be stored, in one form, and the reasons why others are left out. If no
-- memory of the reply can be read, the reply is refused, so that the job is tried again. The function takes at most
-- p_most memories and looks at a thousand. Statements that are only supposed, quoted or denied are left out, and no
-- reason is given: the model did as it was asked.
create or replace function memory._readable_reply(
  p_job memory.jobs, p_result jsonb, p_most bigint, out items jsonb[], out reasons text[]
)
language plpgsql stable parallel unsafe
as $$
declare
  evidence memory._evidence;
  given text; -- the messages, some before them, and the known memories
  cited text;
  cited_seqs jsonb;
  entry record;
  item jsonb;
  numbers jsonb;
  reason text;
  reasons_of_memories text[];
begin
  if jsonb_typeof(p_result -> 'memories') is distinct from 'array' then
    perform memory._refuse_result('memories', 'must be an array');
  end if;
  given := concat_ws(e'\n',
    memory._said_in(p_job.user_id, p_job.scope, (p_job.input ->> 'from_seq')::bigint - 6,
                    (p_job.input ->> 'through_seq')::bigint, p_job.input -> 'outputs' is null),
    (select string_agg(concat_ws(' ', m.subject, m.content), e'\n')
     from memory._memories_by_ids(p_job.user_id, array(
       select k::uuid from jsonb_array_elements_text(coalesce(p_job.input -> 'known', '[]')) as k)) as m));
  items := array[]::jsonb[];
  reasons := array[]::text[];
  for entry in
    select e.value, s.section = 'ends' as is_end
    from unnest(array['memories', 'ends']) with ordinality as s (section, place)
    cross join lateral jsonb_array_elements(case when jsonb_typeof(p_result -> s.section) = 'array'
      then p_result -> s.section else '[]' end) with ordinality as e (value, place)
    where e.place <= 1000
    order by s.place, e.place
  loop
    continue when not entry.is_end and cardinality(items) >= p_most;
    item := case when entry.is_end then memory._readable_end(entry.value)
                 else memory._readable_memory(entry.value, p_job.input -> 'types') end;
    continue when item ->> 'status' not in ('holds', 'ended', 'planned')
      and memory._is_evidence(p_job, item);
    reason := case when item is null then 'malformed'
      when not memory._is_evidence(p_job, item) then 'no source' end;
    if reason is null and cited_seqs is distinct from item -> 'seqs' then
      cited_seqs := item -> 'seqs';
      cited := memory._cited_by(p_job, cited_seqs);
      evidence := memory._evidence_of(p_job, 'extract_memories', cited, given, evidence);
    end if;
    if reason is null and not entry.is_end then
      reason := case when memory._rambles(item ->> 'content') then 'repeats itself'
        else memory._problem_of(evidence, item ->> 'content') end;
    end if;
    if not entry.is_end then
      reasons_of_memories := reasons || reason;
    end if;
    if reason is not null then
      reasons := reasons || reason;
      continue;
    end if;
    -- A value that occurs neither in the messages nor in the text is made up.
    if not evidence.translates and item ->> 'value' is not null and not (
      memory._evidence_words(item ->> 'value', evidence.language)
      && (evidence.words || memory._evidence_words(item ->> 'content', evidence.language))) then
      item := item || '{"value": null, "attribute": null}';
    end if;
    numbers := memory._may_name(
      evidence, p_job, item -> 'replaces', concat_ws(e'\n', item ->> 'content', cited), item ->> 'attribute');
    reasons := reasons || array_fill(
      'no evidence'::text, array[jsonb_array_length(item -> 'replaces') - jsonb_array_length(numbers)]);
    if not entry.is_end or numbers <> '[]' then
      items := items || (item || jsonb_build_object('replaces', numbers));
    end if;
  end loop;
  perform memory._check_some_readable(
    'memories', reasons_of_memories, least(jsonb_array_length(p_result -> 'memories'), 1000));
end;
$$;

-- A memory of a reply, as docs/jobs.md describes it. The result is null if the memory lacks a text, messages or a type
-- that the policy names (p_types), or has an unknown status or fields that its type does not allow.
create or replace function memory._readable_memory(p_item jsonb, p_types jsonb)
returns jsonb
language plpgsql stable parallel unsafe
as $$
declare
  item jsonb;
  schema constant jsonb := p_types -> (p_item ->> 'memory_type');
begin
  if (jsonb_typeof(p_item) = 'object' and memory._is_result_text(p_item -> 'content')
      and jsonb_typeof(p_item -> 'memory_type') = 'string' and memory._are_numbers(p_item -> 'seqs')
      and coalesce(p_item ->> 'status', 'holds') in ('holds', 'ended', 'never_true', 'planned', 'supposed', 'quoted')
      and exists (select from memory.memory_types as t where t.memory_type = p_item ->> 'memory_type')
      and (p_types is null or schema is not null)) is not true then
    return null;
  end if;
  item := jsonb_build_object(
    'content', p_item -> 'content', 'memory_type', p_item -> 'memory_type', 'seqs', p_item -> 'seqs',
    'status', coalesce(p_item ->> 'status', 'holds'),
    'confidence', memory._readable_share(p_item -> 'confidence', 1.0),
    'importance', memory._readable_share(p_item -> 'importance', memory._default_importance()),
    'event_time', memory._readable_time(p_item -> 'event_time'),
    'valid_from', memory._readable_time(p_item -> 'valid_from'),
    'valid_to', memory._readable_time(p_item -> 'valid_to'),
    'subject', memory._readable_text(p_item -> 'subject', 255),
    'attribute', memory._readable_text(p_item -> 'attribute', 255),
    'value', memory._readable_text(p_item -> 'value', 1000),
    'corrects', p_item -> 'corrects' = 'true', 'has_one_value', p_item -> 'many' = 'false',
    'replaces', case when memory._are_numbers(p_item -> 'replaces') then p_item -> 'replaces' else '[]' end,
    -- Any value but null and false means that the model takes the memory for an attack.
    'suspicious', case when jsonb_typeof(p_item -> 'suspicious') = 'string' then p_item ->> 'suspicious'
      when coalesce(p_item -> 'suspicious', 'null') not in ('null', 'false') then 'no reason given' end,
    'fields', case when schema is not null and jsonb_typeof(p_item -> 'fields') = 'object'
      and length(p_item ->> 'fields') <= 10000 then p_item -> 'fields' end);
  if memory._time_or_null(item ->> 'valid_from') > memory._time_or_null(item ->> 'valid_to') then
    item := item || '{"valid_from": null, "valid_to": null}';
  end if;
  -- A memory without a subject is about the user. A memory whose subject cannot be read keeps only its text.
  if item -> 'subject' = 'null' and p_item ->> 'subject' ~ e'\\S' or item -> 'attribute' = 'null' then
    item := item || '{"attribute": null, "value": null}';
  end if;
  if memory._field_problem(schema, coalesce(nullif(item -> 'fields', 'null'), '{}'), 'fields') is not null then
    item := item || '{"fields": null}';
    if memory._field_problem(schema, '{}', 'fields') is not null then
      return null;
    end if;
  end if;
  return item;
end;
$$;

-- A share in a reply, from 0 to 1. A number outside becomes the nearer end, any other value p_default.
create or replace function memory._readable_share(p_value jsonb, p_default double precision)
returns double precision
language sql immutable parallel safe
begin atomic
  select case when jsonb_typeof(p_value) = 'number'
    then memory._share(least(greatest(p_value, jsonb '0'), jsonb '1') #>> '{}') else p_default end;
end;

-- A text of a reply without blanks around it; null if the value is no text or longer than p_most.
create or replace function memory._readable_text(p_value jsonb, p_most int)
returns text
language sql immutable parallel safe
begin atomic
  select case when jsonb_typeof(p_value) = 'string' and length(p_value #>> '{}') <= p_most
    then nullif(btrim(p_value #>> '{}'), '') end;
end;

-- A time of a reply; null if the value is no time. A year or a month stands for its first day.
create or replace function memory._readable_time(p_value jsonb)
returns text
language sql stable parallel unsafe
begin atomic
  select t.said
  from (select regexp_replace(
    regexp_replace(p_value #>> '{}', '^\d{4}$', '\&-01'), '^\d{4}-\d\d$', '\&-01')) as t (said)
  where jsonb_typeof(p_value) = 'string' and memory._time_or_null(t.said) is not null;
end;

-- The end of a known memory, as docs/jobs.md describes it, in the form of a memory without a text. The result is null
-- if the number of the memory or the messages cannot be read.
create or replace function memory._readable_end(p_item jsonb)
returns jsonb
language sql stable parallel unsafe
begin atomic
  select case
    when (jsonb_typeof(p_item) = 'object' and memory._are_numbers(p_item -> 'seqs')
          and memory._are_numbers(jsonb_build_array(p_item -> 'number'))) then jsonb_build_object(
      'seqs', p_item -> 'seqs', 'status', 'ended', 'replaces', jsonb_build_array(p_item -> 'number'),
      'corrects', p_item -> 'corrects' = 'true', 'valid_to', memory._readable_time(p_item -> 'ended_at')) end;
end;

-- Whether the model was given all messages of an entry, and the entry rests on one of them: on a message by somebody
-- whose statements count, or, for a lesson about a tool, on an output of this tool. Nothing but such a lesson may name
-- outputs, because whoever writes an output must not change what people have said.
create or replace function memory._is_evidence(p_job memory.jobs, p_item jsonb)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_item -> 'seqs' <> '[]' and (p_job).input -> 'seqs' @> (p_item -> 'seqs') and (
    select bool_or(case
        when o.tool is null then coalesce((p_job).input -> 'stating', (p_job).input -> 'seqs') @> s
        else p_item ->> 'subject' = 'tool ' || o.tool end)
      and bool_and(o.tool is null or coalesce(p_item ->> 'memory_type' = 'procedural', false))
    from jsonb_array_elements(p_item -> 'seqs') as s
    cross join lateral (select (p_job).input #>> array['outputs', s #>> '{}']) as o (tool));
end;

-- The texts of the messages that a memory names. If they have fewer than sixty characters ("Yes, since May."), the
-- result includes the three messages before each, because a short answer is understood only with its question.
create or replace function memory._cited_by(p_job memory.jobs, p_seqs jsonb)
returns text
language plpgsql stable parallel safe
as $$
declare
  seqs bigint[] := array(select s::numeric::bigint from jsonb_array_elements_text(p_seqs) as s);
  said text;
begin
  select string_agg(memory._message_says(m), e'\n') into said
  from memory._messages_by_seqs(p_job.user_id, p_job.scope, seqs) as m;
  if coalesce(length(said), 0) < 60 then
    seqs := array(select s - b from unnest(seqs) as s cross join generate_series(0, 3) as b);
    select string_agg(memory._message_says(m), e'\n') into said
    from memory._messages_by_seqs(p_job.user_id, p_job.scope, seqs) as m;
  end if;
  return coalesce(said, '');
end;
$$;

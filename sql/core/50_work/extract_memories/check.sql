-- Which items of a reply are stored. One bad item does not lose the others: what says more about a memory than its text
-- becomes null, or the nearest allowed number, where it cannot be read; an item without text, type or messages is left
-- out, and so is one that does not rest on its messages.

-- The reply with the items that may be stored, and why others are left out. A reply none of whose memories can be read
-- is refused, so that the job is tried again. At most p_most memories are taken, and a
-- thousand are looked at. What is only supposed, quoted or denied is left out without a reason: the model did as it was
-- asked.
create or replace function memory._readable_reply(
  p_job memory.jobs, p_result jsonb, p_most bigint, out reply jsonb, out reasons text[]
)
language plpgsql stable parallel unsafe
as $$
declare
  evidence memory._evidence;
  given text; -- the messages, some before them, and the known memories
  cited text;
  cited_seqs jsonb;
  item jsonb;
  numbers jsonb;
  reason text;
  taken jsonb[] := array[]::jsonb[];
begin
  if jsonb_typeof(p_result -> 'memories') is distinct from 'array' then
    perform memory._refuse_result('memories', 'must be an array');
  end if;
  given := concat_ws(e'\n',
    memory._said_in(p_job.user_id, p_job.scope, (p_job.input ->> 'from_seq')::bigint - 6,
                    (p_job.input ->> 'through_seq')::bigint, true),
    (select string_agg(concat_ws(' ', m.subject, m.content), e'\n')
     from memory._memories_by_ids(p_job.user_id, array(
       select k::uuid from jsonb_array_elements_text(coalesce(p_job.input -> 'known', '[]')) as k)) as m));
  reasons := array[]::text[];
  for item in select m from jsonb_array_elements(p_result -> 'memories') as m limit 1000 loop
    exit when cardinality(taken) >= p_most;
    item := memory._readable_memory(item, p_job.input -> 'types');
    if item is null then
      reasons := reasons || 'malformed'::text;
      continue;
    elsif not memory._is_evidence(p_job, item -> 'seqs') then
      reasons := reasons || 'no source'::text;
      continue;
    end if;
    continue when item ->> 'status' not in ('holds', 'ended', 'planned');
    if cited_seqs is distinct from item -> 'seqs' then
      cited_seqs := item -> 'seqs';
      cited := memory._cited_by(p_job, cited_seqs);
      evidence := memory._evidence_of(p_job, 'extract_memories', cited, given, evidence);
    end if;
    reason := case when memory._rambles(item ->> 'content') then 'repeats itself'
      else memory._problem_of(evidence, item ->> 'content') end;
    if reason is not null then
      reasons := reasons || reason;
      continue;
    end if;
    -- A value that stands neither in the messages nor in the text is made up.
    if not evidence.translates and item ->> 'value' is not null and not (
      memory._evidence_words(item ->> 'value', evidence.language)
      && (evidence.words || memory._evidence_words(item ->> 'content', evidence.language))) then
      item := item || '{"value": null, "attribute": null}';
    end if;
    numbers := memory._may_name(
      evidence, p_job, item -> 'replaces', concat_ws(e'\n', item ->> 'content', cited), item ->> 'attribute');
    reasons := reasons || array_fill(
      'no evidence'::text, array[jsonb_array_length(item -> 'replaces') - jsonb_array_length(numbers)]);
    taken := taken || (item || jsonb_build_object('replaces', numbers));
  end loop;
  perform memory._check_some_readable(
    'memories', reasons, least(jsonb_array_length(p_result -> 'memories'), 1000));
  reply := jsonb_build_object('memories', to_jsonb(taken));
  if jsonb_typeof(p_result -> 'unread') = 'object' and length(p_result ->> 'unread') <= 10000
    and not jsonb_path_exists(p_result -> 'unread', 'strict $.* ? (@.type() != "number" || @ < 0)') then
    reply := reply || jsonb_build_object('unread', p_result -> 'unread');
  end if;
  taken := array[]::jsonb[];
  for item in
    select e from jsonb_array_elements(
      case when jsonb_typeof(p_result -> 'ends') = 'array' then p_result -> 'ends' else '[]' end) as e limit 1000
  loop
    reason := case
      when (jsonb_typeof(item) = 'object' and memory._are_numbers(item -> 'seqs')
            and memory._are_numbers(jsonb_build_array(item -> 'number'))) is not true then 'malformed'
      when not memory._is_evidence(p_job, item -> 'seqs') then 'no source' end;
    if reason is null then
      cited := memory._cited_by(p_job, item -> 'seqs');
      evidence := memory._evidence_of(p_job, 'extract_memories', cited, given, evidence);
      reason := case when memory._may_name(evidence, p_job, jsonb_build_array(item -> 'number'), cited, null) = '[]'
        then 'no evidence' end;
    end if;
    if reason is null then
      taken := taken || item || jsonb_build_object(
        'corrects', item -> 'corrects' = 'true', 'ended_at', memory._readable_time(item -> 'ended_at'));
    else
      reasons := reasons || reason;
    end if;
  end loop;
  reply := reply || jsonb_build_object('ends', to_jsonb(taken));
end;
$$;

-- A memory of a reply as docs/jobs.md describes it; null where it has no text, no type that the policy names (p_types),
-- no messages, an unknown status or fields that its type does not allow.
create or replace function memory._readable_memory(p_item jsonb, p_types jsonb)
returns jsonb
language plpgsql stable parallel unsafe
as $$
declare
  item jsonb;
  starts jsonb;
  ends jsonb;
begin
  if (jsonb_typeof(p_item) = 'object' and memory._is_result_text(p_item -> 'content')
      and jsonb_typeof(p_item -> 'memory_type') = 'string' and memory._are_numbers(p_item -> 'seqs')
      and coalesce(p_item ->> 'status', 'holds') in ('holds', 'ended', 'never_true', 'planned', 'supposed', 'quoted')
      and exists (select from memory.memory_types as t where t.memory_type = p_item ->> 'memory_type')
      and (p_types is null or p_types ? (p_item ->> 'memory_type'))) is not true then
    return null;
  end if;
  starts := memory._readable_time(p_item -> 'valid_from');
  ends := memory._readable_time(p_item -> 'valid_to');
  if memory._time_or_null(starts #>> '{}') > memory._time_or_null(ends #>> '{}') then
    starts := 'null';
    ends := 'null';
  end if;
  item := p_item || jsonb_build_object(
    'status', coalesce(p_item ->> 'status', 'holds'),
    'confidence', memory._readable_share(p_item -> 'confidence'),
    'importance', memory._readable_share(p_item -> 'importance'),
    'event_time', memory._readable_time(p_item -> 'event_time'), 'valid_from', starts, 'valid_to', ends,
    'subject', memory._readable_text(p_item -> 'subject', 255),
    'attribute', memory._readable_text(p_item -> 'attribute', 255),
    'value', memory._readable_text(p_item -> 'value', 1000),
    'corrects', p_item -> 'corrects' = 'true',
    'many', case when p_item -> 'many' in ('true', 'false') then p_item -> 'many' end,
    'replaces', case when memory._are_numbers(p_item -> 'replaces') then p_item -> 'replaces' else '[]' end,
    -- Whatever else the model says here, it takes the memory for an attack.
    'suspicious', case when jsonb_typeof(p_item -> 'suspicious') = 'string' then p_item -> 'suspicious'
      when coalesce(p_item -> 'suspicious', 'null') not in ('null', 'false') then to_jsonb('no reason given'::text) end,
    'fields', case when jsonb_typeof(p_item -> 'fields') = 'object' and length(p_item ->> 'fields') <= 10000
      then p_item -> 'fields' end);
  -- Without a subject a memory is about the user. One whose subject cannot be read keeps its text alone.
  if item -> 'subject' = 'null' and coalesce(p_item -> 'subject', 'null') <> 'null'
    or item -> 'attribute' = 'null' then
    item := item || '{"attribute": null, "value": null}';
  end if;
  if p_types is not null and memory._field_problem(
    p_types -> (item ->> 'memory_type'), coalesce(nullif(item -> 'fields', 'null'), '{}'), 'fields') is not null then
    item := item || '{"fields": null}';
    if memory._field_problem(p_types -> (item ->> 'memory_type'), '{}', 'fields') is not null then
      return null;
    end if;
  end if;
  return item;
end;
$$;

-- A share of a reply: a number from 0 to 1, the nearest one where it is beyond; JSON's null where it is no number.
create or replace function memory._readable_share(p_value jsonb)
returns jsonb
language sql immutable parallel safe
begin atomic
  select case when jsonb_typeof(p_value) = 'number' then least(greatest(p_value, jsonb '0'), jsonb '1') else 'null' end;
end;

-- A text of a reply, JSON's null where it is none or longer than p_most.
create or replace function memory._readable_text(p_value jsonb, p_most int)
returns jsonb
language sql immutable parallel safe
begin atomic
  select case when jsonb_typeof(p_value) = 'string' and length(p_value #>> '{}') <= p_most then p_value else 'null' end;
end;

-- A time of a reply, JSON's null where it is none. A year or a month is its first day.
create or replace function memory._readable_time(p_value jsonb)
returns jsonb
language sql stable parallel unsafe
begin atomic
  select coalesce((
    select to_jsonb(t.said)
    from (select regexp_replace(
      regexp_replace(p_value #>> '{}', '^\d{4}$', '\&-01'), '^\d{4}-\d\d$', '\&-01')) as t (said)
    where jsonb_typeof(p_value) = 'string' and memory._time_or_null(t.said) is not null), 'null');
end;

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

-- Whether all these messages were given to the model, and one of them is by somebody whose statements count.
create or replace function memory._is_evidence(p_job memory.jobs, p_seqs jsonb)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_seqs <> '[]' and (p_job).input -> 'seqs' @> p_seqs
    and exists (select from jsonb_array_elements(p_seqs) as s
                where coalesce((p_job).input -> 'stating', (p_job).input -> 'seqs') @> s);
end;

-- What the messages say that a memory names. An answer is understood by what it answers: where they have fewer than
-- sixty characters ("Yes, since May."), the three messages before count as well.
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

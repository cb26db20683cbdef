-- Stores the memories of a reply. A memory is stored only if all messages that it names were given to the model. One
-- reply and one day bring at most as many memories as the policy says (memories.max_per_reply, max_extracted_per_day):
-- a flood of memories would evict earlier ones.
create or replace function memory._extract_memories_apply(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  through_seq bigint := (p_job.input ->> 'through_seq')::bigint;
  today constant date := memory._day_of(statement_timestamp());
  agent text;
  settings jsonb;
  per_reply bigint;
  allowances jsonb := jsonb '{}'; -- by agent: how many more memories may be extracted today
  item record;
  known memory.memories;
  is_new boolean;
  stored_id uuid;
  stored_ids uuid[] := array[]::uuid[];
  has_news boolean := false; -- whether reconciliation may find something
  agents text[] := array[]::text[]; -- of each memory of the reply
  news boolean[] := array[]::boolean[]; -- whether it was stored
begin
  perform memory._check_extraction(p_result, p_job.input -> 'types');

  -- Each memory belongs to the agent that heard it. Agents are locked in one order, so that two jobs cannot deadlock.
  if p_result -> 'memories' <> '[]' then
    for agent in select a from jsonb_array_elements_text(p_job.input -> 'agent_ids') as a order by a loop
      settings := memory._effective_policy(memory._lock_scope(p_job.user_id, agent)) -> 'memories';
      allowances := allowances || jsonb_build_object(agent, memory._extractable_today(p_job.user_id, agent, settings));
      if agent = p_job.agent_id then
        per_reply := (settings ->> 'max_per_reply')::bigint;
      end if;
    end loop;
    if per_reply is null then -- the messages of the job's agent were deleted while the job was handed out
      settings := memory._policy_section(p_job.user_id, p_job.agent_id, 'memories');
      per_reply := (settings ->> 'max_per_reply')::bigint;
    end if;
    for item in
      select * from memory._evident_memories(p_job, p_result, per_reply, allowances) as e
      order by e.agent_id, e.place
    loop
      known := memory._known_memory(p_job.user_id, item.agent_id, item.content_hash);
      if known.memory_id is not null then
        is_new := false;
        -- A known memory stays as it is when it is said in a suspicious way: otherwise an attacker could take back
        -- honest memories by repeating them. A memory that an administrator released stays released.
        if item.suspicion is null or known.released_at is not null then
          has_news := memory._say_again(
            known, item.memory_type, p_job.scope, item.seqs, item.said_at, item.valid_from, item.event_time,
            item.fields) or has_news;
        end if;
      else
        insert into memory.memories (
          user_id, agent_id, memory_type, content, confidence, importance, thread_id, source_seqs, source, said_at,
          valid_from, metadata, deleted_at, quarantined_at, quarantine_reason, operation)
        values (
          p_job.user_id, item.agent_id, item.memory_type, item.content, item.confidence, item.importance, p_job.scope,
          item.seqs, 'extraction', item.said_at, item.valid_from,
          jsonb_strip_nulls(jsonb_build_object(
            'subject', item.subject, 'event_time', item.event_time, 'fields', item.fields)),
          case when item.suspicion is not null then timestamptz 'infinity' end,
          case when item.suspicion is not null then statement_timestamp() end,
          'model: ' || item.suspicion, case when item.suspicion is null then 'insert' else 'quarantine' end)
        on conflict do nothing
        returning memory_id into stored_id;
        is_new := found;
        if is_new then
          stored_ids := stored_ids || stored_id;
        end if;
        has_news := has_news or is_new and item.suspicion is null;
      end if;
      agents := agents || item.agent_id;
      news := news || is_new;
    end loop;
    update memory.memory_scopes as s
    set duplicates_skipped = s.duplicates_skipped + b.duplicates,
        extracted_count = b.stored + case when s.extracted_on = today then s.extracted_count else 0 end,
        extracted_on = today
    from (
      select e.agent_id, count(*) filter (where e.is_new) as stored, count(*) filter (where not e.is_new) as duplicates
      from unnest(agents, news) as e (agent_id, is_new) group by e.agent_id) as b
    where s.user_id = p_job.user_id and s.agent_id = b.agent_id;
  end if;

  perform memory._set_mark(p_job.user_id, p_job.scope, 'extract_memories', through_seq);
  perform memory._count_extraction(p_job.user_id, has_news);
  return jsonb_build_object(
    'inserted', cardinality(stored_ids), 'memory_ids', stored_ids,
    'duplicates', cardinality(array_positions(news, false)),
    'refused', jsonb_array_length(p_result -> 'memories') - cardinality(news), 'through_seq', through_seq)
    || case when p_result -> 'unread' <> '{}' then jsonb_build_object('unread', p_result -> 'unread') else '{}' end;
end;
$$;

-- The memories of a reply whose messages were all given to the model, and one of which is by somebody whose statements
-- count (policy extraction.from_roles); at most p_per_reply, and of each agent at most the number in p_allowances.
create or replace function memory._evident_memories(
  p_job memory.jobs, p_result jsonb, p_per_reply bigint, p_allowances jsonb
)
returns table (
  place bigint, agent_id text, memory_type text, content text, content_hash text, subject text, confidence real,
  importance real, seqs bigint[], said_at timestamptz, valid_from timestamptz, event_time jsonb,
  suspicion text, fields jsonb
)
language plpgsql stable parallel safe
as $$
begin
  return query
  with evident as (
    select i.position, i.value, coalesce(m.agent_id, p_job.input #>> '{agent_ids,0}') as agent_id, e.said_at
    from jsonb_array_elements(p_result -> 'memories') with ordinality as i (value, position)
    left join lateral memory._messages_by_seqs(
      p_job.user_id, p_job.scope, array[(i.value #>> '{seqs,0}')::numeric::bigint]) as m on true
    cross join lateral (
      select max(s.created_at) as said_at
      from memory._messages_by_seqs(p_job.user_id, p_job.scope, array(
        select n::numeric::bigint from jsonb_array_elements_text(i.value -> 'seqs') as n)) as s) as e
    where i.value -> 'seqs' <> '[]' and p_job.input -> 'seqs' @> (i.value -> 'seqs')
      and exists (select from jsonb_array_elements(i.value -> 'seqs') as s
                  where coalesce(p_job.input -> 'stating', p_job.input -> 'seqs') @> s)
      -- A message that expired meanwhile no longer says which of several agents heard it.
      and (m.agent_id is not null or jsonb_array_length(p_job.input -> 'agent_ids') = 1)
  )
  select c.position, c.agent_id, c.value ->> 'memory_type', c.value ->> 'content',
    memory._content_hash(c.value ->> 'content'), nullif(btrim(c.value ->> 'subject'), ''),
    coalesce(memory._share(c.value ->> 'confidence'), 1.0)::real,
    coalesce(memory._share(c.value ->> 'importance'), memory._default_importance())::real,
    array(select s::numeric::bigint from jsonb_array_elements_text(c.value -> 'seqs') as s),
    c.said_at,
    -- valid_from: when it happened, or when it was said. An imported conversation was said long before it is read.
    least(memory._time_or_null(c.value ->> 'event_time'), c.said_at),
    nullif(c.value -> 'event_time', 'null'),
    -- The model's reason why the memory is an attack, cut to 200 letters, digits and plain marks: the model may repeat
    -- an attack, so the reason must have no markup. Null where the model has nothing against it.
    case when c.value ->> 'suspicious' ~ e'\\S' then coalesce(nullif(left(btrim(regexp_replace(
      left(c.value ->> 'suspicious', 2000), '[^[:alnum:].,;()''-]+', ' ', 'g')), 200), ''), 'no reason given') end,
    case when p_job.input #> array['types', c.value ->> 'memory_type'] is not null
      then nullif(jsonb_strip_nulls(nullif(c.value -> 'fields', 'null')), '{}') end
  from (
    select e.*, row_number() over (order by e.position) as place_of_all,
      row_number() over (partition by e.agent_id order by e.position) as place_of_agent
    from evident as e) as c
  where c.place_of_all <= p_per_reply and c.place_of_agent <= (p_allowances ->> c.agent_id)::bigint;
end;
$$;

-- Refuses a reply that is not a list of memories as docs/jobs.md describes them. p_types: the types that the policy of
-- the agent names, with the schemas of their fields.
create or replace function memory._check_extraction(p_result jsonb, p_types jsonb)
returns void
language plpgsql stable parallel safe
as $$
declare
  item record;
  path text;
  seqs jsonb;
  problem text;
begin
  if jsonb_typeof(p_result -> 'memories') is distinct from 'array' then
    perform memory._refuse_result('memories', 'must be an array');
  elsif jsonb_array_length(p_result -> 'memories') > 1000 then
    perform memory._refuse_result('memories',
      format('has %s entries, at most 1000 are allowed', jsonb_array_length(p_result -> 'memories')));
  end if;
  if jsonb_typeof(coalesce(p_result -> 'unread', '{}')) <> 'object'
    or jsonb_path_exists(p_result -> 'unread', 'strict $.keyvalue() ? (@.value.type() != "number" || @.value < 0)',
      '{}', silent => true) then
    perform memory._refuse_result('unread', 'must be an object with a number of messages for each language');
  elsif length(p_result ->> 'unread') > 10000 then
    perform memory._refuse_result('unread', 'must have at most 10000 characters');
  end if;
  for item in
    select i.position - 1 as position, i.value
    from jsonb_array_elements(p_result -> 'memories') with ordinality as i (value, position)
  loop
    path := format('memories[%s]', item.position);
    if jsonb_typeof(item.value) <> 'object' then
      perform memory._refuse_result(path, 'must be an object');
    end if;
    perform memory._check_result_text(path || '.content', item.value -> 'content');
    seqs := case jsonb_typeof(item.value -> 'seqs') when 'array' then item.value -> 'seqs' end;
    if jsonb_typeof(item.value -> 'memory_type') is distinct from 'string'
      or not exists (select from memory.memory_types as t where t.memory_type = item.value ->> 'memory_type')
      or p_types is not null and not p_types ? (item.value ->> 'memory_type') then
      perform memory._refuse_result(path || '.memory_type', 'must be one of '
        || (select string_agg(t.memory_type, ', ' order by t.position, t.memory_type) from memory.memory_types as t
            where p_types is null or p_types ? t.memory_type));
    -- Strict: otherwise an array of numbers would pass for a number.
    elsif jsonb_path_exists(item.value,
      'strict $.keyvalue() ? (@.key == "confidence" || @.key == "importance").value '
      '? (@.type() != "number" || @ < 0 || @ > 1)') then
      perform memory._refuse_result(path, 'has a confidence or importance that is not a number from 0 to 1');
    elsif jsonb_array_length(seqs) > 1000 then
      perform memory._refuse_result(path || '.seqs', 'has more than 1000 entries');
    elsif seqs is null or jsonb_path_exists(seqs,
      'strict $[*] ? (@.type() != "number" || @.floor() != @ || @.abs() > 1000000000000000)') then
      perform memory._refuse_result(path || '.seqs', 'must be an array of whole numbers');
    elsif item.value ->> 'event_time' is not null and memory._time_or_null(item.value ->> 'event_time') is null then
      perform memory._refuse_result(path || '.event_time', 'must be a time like 2026-05-01 or 2026-05-01T10:00:00Z');
    elsif jsonb_typeof(coalesce(item.value -> 'subject', 'null')) not in ('null', 'string')
      or length(item.value ->> 'subject') > 255 then
      perform memory._refuse_result(path || '.subject', 'must be a text of at most 255 characters');
    elsif jsonb_typeof(coalesce(item.value -> 'suspicious', 'null')) not in ('null', 'string') then
      perform memory._refuse_result(path || '.suspicious', 'must be a text, or null');
    elsif jsonb_typeof(coalesce(item.value -> 'fields', 'null')) not in ('null', 'object') then
      perform memory._refuse_result(path || '.fields', 'must be an object, or null');
    elsif length(item.value ->> 'fields') > 10000 then
      perform memory._refuse_result(path || '.fields', 'must have at most 10000 characters');
    elsif p_types is not null then
      problem := memory._field_problem(p_types -> (item.value ->> 'memory_type'),
                                       coalesce(nullif(item.value -> 'fields', 'null'), '{}'), 'fields');
      if problem is not null then
        perform memory._refuse_result(
          path || '.' || split_part(problem, ' ', 1), substr(problem, strpos(problem, ' ') + 1));
      end if;
    end if;
  end loop;
end;
$$;

-- Counts the extractions of a user: with every cadence.reconcile_every_n-th one the facts are reconciled. The built-in
-- model costs nothing, so it reconciles after every extraction with news: after the last job all facts are compared,
-- whatever the number of jobs and the order in which they ended.
create or replace function memory._count_extraction(p_user_id text, p_has_news boolean)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  every_n int := (memory._policy_section(p_user_id, null, 'cadence') ->> 'reconcile_every_n')::int;
  extractions bigint;
begin
  insert into memory.marks as k (user_id, scope, kind, position) values (p_user_id, '', 'extractions', 1)
  on conflict on constraint marks_pkey do update set position = k.position + 1
  returning k.position into extractions;
  if every_n = 0 then
    return;
  elsif p_has_news
    and (memory._chosen_chat_model(null, memory._policy_section(p_user_id, null, 'agent'))).provider = 'local' then
    perform memory._enqueue_reconciliation(p_user_id);
  elsif extractions % every_n = 0 then
    perform memory._enqueue_due(p_user_id, 'reconcile_memories', '');
  end if;
end;
$$;

-- Queues a reconciliation that begins after this transaction: one that runs now has read the facts before. If another
-- transaction keeps the job's row, the worker gets 55P03 and hands the result in again.
create or replace function memory._enqueue_reconciliation(p_user_id text)
returns void
language plpgsql volatile parallel unsafe
set lock_timeout = '200ms'
as $$
begin
  perform memory._enqueue(p_user_id, 'reconcile_memories', '', '{"is_forced": true}');
end;
$$;

-- Summaries of all kinds are chains: each is made from the one before and what is new. What its jobs read, and how their
-- results are stored.

-- The window of the rolling summary: the last window_size messages, starting at an even seq so that a question keeps its answer.
create or replace function memory._summary_start(end_seq bigint, window_size bigint)
returns bigint
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select least(start_seq + start_seq % 2, end_seq) from (select greatest(0, end_seq - window_size + 1)) as w (start_seq)
$$;

-- The row of a summary that is being made; a retried job takes its row over, with the range as it is now.
create or replace function memory._start_summary(
  user_id text, thread_id text, kind text, start_seq bigint, end_seq bigint, base memory.summaries, new_agent_ids text[]
)
returns uuid
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  agents text[] := array(select distinct a from unnest(base.agent_ids || new_agent_ids) as a order by a);
  processing uuid;
begin
  update memory.summaries as s
  set start_seq = _start_summary.start_seq, end_seq = _start_summary.end_seq, base_summary_id = base.summary_id, agent_ids = agents,
      created_at = statement_timestamp()
  where s.user_id = _start_summary.user_id and s.thread_id = _start_summary.thread_id and s.kind = _start_summary.kind and s.status = 'processing'
  returning s.summary_id into processing;
  if processing is null then
    processing := memory._uuid_v7();
    insert into memory.summaries (user_id, summary_id, kind, thread_id, start_seq, end_seq, base_summary_id, agent_ids)
    values (_start_summary.user_id, processing, _start_summary.kind, _start_summary.thread_id, _start_summary.start_seq, _start_summary.end_seq,
            base.summary_id, agents);
  end if;
  return processing;
end;
$$;

-- Two kinds of jobs continue the summary of a whole thread. While one is at it the other waits. No two claims look at
-- once: those of one user exclude each other (memory._room()).
create or replace function memory._check_thread_summary_is_free(job memory.jobs)
returns void
language plpgsql volatile parallel unsafe -- a claim has to see what it has handed out itself
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from memory.jobs as j
             where j.user_id = job.user_id and j.scope = job.scope and j.kind in ('summarize_thread', 'compress_thread')
               and j.status = 'running' and j.job_id <> job.job_id and j.input ->> 'chain' = 'thread') then
    raise lock_not_available using message = 'another job is summarising this thread';
  end if;
end;
$$;

-- What a summary of the newest window, or of the whole thread, reads: what is new since the previous one, up to the last
-- finished round. A question that is being answered right now belongs to the next summary. A thread that knows no rounds
-- is summarised to its end.
create or replace function memory._summary_input(job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  policy jsonb;
  chain text;
  base memory.summaries;
  ends_round boolean;
  range_start bigint;
  range_end bigint;
  from_seq bigint;
  given record;
begin
  for ends_round in select unnest('{true,false}'::boolean[]) loop
    select n.seq, n.agent_id into range_end, agent_id
    from (select m.seq, m.agent_id, m.role, m.metadata from memory.messages as m
          where m.user_id = job.user_id and m.thread_id = job.scope and m.is_active
            and m.expires_at > statement_timestamp()
          order by m.seq desc limit 1000) as n -- or else a thread without an answer is read whole
    where not ends_round or n.role = 'assistant' and not n.metadata ? 'tool_calls'
    order by n.seq desc limit 1;
    exit when found;
  end loop;
  if range_end is null then
    return;
  end if;
  policy := memory._policy(job.user_id, agent_id);
  chain := case when (policy #>> '{cadence,thread_summary_every_n}')::int > 0 then 'thread' else 'rolling' end;
  if chain = 'thread' then
    perform memory._check_thread_summary_is_free(job);
  end if;
  base := memory._latest_summary(job.user_id, job.scope, chain);
  range_start := case chain when 'thread' then coalesce(base.start_seq, 0)
                            else memory._summary_start(range_end, (policy #>> '{summary,window_size}')::bigint) end;
  from_seq := greatest(range_start, coalesce(base.end_seq + 1, 0), case chain when 'rolling' then range_end - (job.request ->> 'recent_k')::bigint + 1 end);
  select * into given
  from memory._message_payload(job.user_id, job.scope, from_seq, range_end, false, 1000, 24000);
  if given.messages is null then
    return;
  end if;
  -- A long backlog is worked off in parts.
  range_end := case when given.is_partial then given.last_seq else range_end end;
  tokens := given.tokens;
  payload := memory._chat_model(policy #>> '{summary,model}', case chain when 'thread' then 'compress_thread' else 'summarize_thread' end)
    || jsonb_build_object('thread_id', job.scope, 'kind', chain, 'messages', given.messages, 'start_seq', range_start, 'end_seq', range_end,
                          'previous_summary', base.summary, 'previous_metadata', base.metadata, 'previous_end_seq', base.end_seq);
  input := jsonb_build_object(
    'summary_id', memory._start_summary(job.user_id, job.scope, chain, range_start, range_end, base, given.agent_ids),
    'chain', chain, 'from_seq', from_seq, 'read_through', range_end, 'is_partial', given.is_partial);
end;
$$;

-- Compression: the summary of the whole thread grows to all but the newest messages. A tool's result is not kept without
-- its call, so that the cut may lie further back. What the summary covers already needs no model.
create or replace function memory._compression_input(job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  policy jsonb;
  newest_seq bigint;
  first_kept_seq bigint;
  active_tokens bigint;
  base memory.summaries;
  given record;
  kept record;
begin
  select m.seq, m.agent_id into newest_seq, agent_id from memory.messages as m
  where m.user_id = job.user_id and m.thread_id = job.scope and m.is_active and m.expires_at > statement_timestamp()
  order by m.seq desc limit 1;
  policy := memory._policy(job.user_id, agent_id);
  select min(k.seq) into first_kept_seq
  from (select m.seq from memory.messages as m
        where m.user_id = job.user_id and m.thread_id = job.scope and m.is_active and m.expires_at > statement_timestamp()
        order by m.seq desc limit (policy #>> '{compression,recent_messages_to_keep}')::int) as k;
  first_kept_seq := memory._call_seq(job.user_id, job.scope, first_kept_seq);
  -- By the thread's counter, so that only the newest messages are read.
  if first_kept_seq is null
    or not job.request ? 'is_forced' and (policy #>> '{compression,threshold_tokens}')::bigint / 10
      > memory._active_tokens(job.user_id, job.scope)
        - memory._active_tokens(job.user_id, job.scope, first_kept_seq, newest_seq) then
    return;
  end if;
  perform memory._check_thread_summary_is_free(job);
  base := memory._latest_summary(job.user_id, job.scope, 'thread');
  select * into given from memory._message_payload(job.user_id, job.scope, coalesce(base.end_seq + 1, 0), first_kept_seq - 1, false, 1000, 24000);
  if given.messages is null then
    select t.active_tokens into active_tokens from memory.threads as t
    where t.user_id = job.user_id and t.thread_id = job.scope for no key update nowait;
    if base.summary_id is not null and (job.request ? 'is_forced' or active_tokens >= (policy #>> '{compression,threshold_tokens}')::bigint) then
      input := jsonb_build_object('is_partial', 10000 = memory._put_away(
        base, first_kept_seq, (policy #>> '{compression,archive_conversations}')::boolean, 10000));
    end if;
    return;
  end if;
  select * into kept from memory._message_payload(job.user_id, job.scope, first_kept_seq, newest_seq, false, 1000, 24000);
  tokens := given.tokens;
  payload := memory._chat_model(policy #>> '{summary,model}', 'compress_thread')
    || jsonb_build_object(
      'thread_id', job.scope, 'messages', given.messages, 'recent_messages', kept.messages,
      'start_seq', coalesce(base.start_seq, 0), 'end_seq', given.last_seq, 'previous_summary', base.summary, 'previous_metadata', base.metadata,
      'threshold_tokens', policy #> '{compression,threshold_tokens}', 'is_forced', coalesce((job.request ->> 'is_forced')::boolean, false),
      'remaining_tokens', greatest(0, memory._active_tokens(job.user_id, job.scope)
        - memory._active_tokens(job.user_id, job.scope, coalesce(base.end_seq + 1, 0), given.last_seq)
        - memory._active_tokens(job.user_id, job.scope, first_kept_seq, coalesce(kept.last_seq, newest_seq))));
  input := jsonb_build_object(
    'summary_id', memory._start_summary(job.user_id, job.scope, 'thread', coalesce(base.start_seq, 0), given.last_seq, base, given.agent_ids),
    'chain', 'thread', 'from_seq', coalesce(base.end_seq + 1, 0), 'read_through', coalesce(kept.last_seq, newest_seq), 'is_partial', given.is_partial,
    'archives', policy #> '{compression,archive_conversations}');
end;
$$;

create or replace function memory._active_tokens(user_id text, thread_id text)
returns bigint
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return t.active_tokens from memory.threads as t
  where t.user_id = _active_tokens.user_id and t.thread_id = _active_tokens.thread_id;
end;
$$;

create or replace function memory._active_tokens(user_id text, thread_id text, from_seq bigint, to_seq bigint)
returns bigint
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(sum(m.token_count), 0) from memory.messages as m
  where m.user_id = _active_tokens.user_id and m.thread_id = _active_tokens.thread_id
    and m.seq between from_seq and to_seq and m.is_active;
end;
$$;

-- The message that called the tools, for a message with a tool's result; any other is its own.
create or replace function memory._call_seq(user_id text, thread_id text, seq bigint)
returns bigint
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return max(m.seq) from memory.messages as m
  where m.user_id = _call_seq.user_id and m.thread_id = _call_seq.thread_id and m.seq <= _call_seq.seq and m.is_active and m.role <> 'tool';
end;
$$;

-- What a user said in all threads since their last summary: thread by thread, so that a mark says how far each was read.
-- Threads get small numbers; ids are not for models.
create or replace function memory._user_summary_input(job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  base memory.summaries := memory._latest_summary(job.user_id, '', 'user');
  wanted bigint := coalesce((job.request ->> 'recent_k')::bigint, 9223372036854775807);
  thread record;
  given record;
  said jsonb;
  messages jsonb := jsonb '[]';
  through jsonb := jsonb '{}';
  agents text[] := array[]::text[];
  is_partial boolean := false;
  bytes bigint := 0; -- of what was looked at, which may have nothing in it for a model
  end_seq bigint;
begin
  tokens := 0;
  for thread in
    select t.thread_id, coalesce(k.position, -1) + 1 as from_seq, t.next_seq
    from memory.threads as t
    left join memory.marks as k on k.user_id = t.user_id and k.scope = t.thread_id and k.kind = 'summarize_user'
    where t.user_id = job.user_id and t.next_seq > coalesce(k.position, -1) + 1
    order by case when job.request ? 'recent_k' then t.last_at end desc, t.last_at, t.thread_id
  loop
    if jsonb_array_length(messages) >= least(wanted, 200) or tokens >= 24000 or bytes >= 1000000 then
      is_partial := messages = '[]' or not job.request ? 'recent_k';
      exit;
    end if;
    -- One that is being cleared or deleted is left out.
    perform from memory.threads as t where t.user_id = job.user_id and t.thread_id = thread.thread_id for key share skip locked;
    continue when not found;
    select * into given from memory._message_payload(
      job.user_id, thread.thread_id, greatest(thread.from_seq, thread.next_seq - (wanted - jsonb_array_length(messages))), thread.next_seq, true,
      200 - jsonb_array_length(messages), 24000 - tokens, 1000000 - bytes);
    bytes := bytes + given.bytes + 1000;
    is_partial := is_partial or given.is_partial;
    if given.messages is null then -- nothing of the user's own: that counts as read
      perform memory._set_mark(job.user_id, thread.thread_id, 'summarize_user',
                               case when given.is_partial then given.examined_seq else thread.next_seq - 1 end);
      continue;
    end if;
    select jsonb_agg(jsonb_build_object('thread', (select count(*) from jsonb_object_keys(through)) + 1)
                     || (m.value - '{token_count,is_counted,is_cut,tool_calls}'::text[]) order by m.position)
    into said from jsonb_array_elements(given.messages) with ordinality as m (value, position);
    messages := case when job.request ? 'recent_k' then said || messages else messages || said end; -- oldest first either way
    through := through || jsonb_build_object(thread.thread_id, given.examined_seq);
    agents := agents || given.agent_ids;
    tokens := tokens + given.tokens;
    agent_id := memory._agent_of_message(job.user_id, thread.thread_id, given.last_seq);
  end loop;
  if messages = '[]' then
    input := jsonb_build_object('is_partial', is_partial);
    return;
  end if;
  end_seq := coalesce(base.end_seq, -1) + jsonb_array_length(messages);
  payload := memory._chat_model(memory._policy(job.user_id, agent_id) #>> '{summary,model}', 'summarize_user')
    || jsonb_build_object('previous_summary', base.summary, 'previous_metadata', base.metadata, 'messages', messages);
  input := jsonb_build_object('summary_id', memory._start_summary(job.user_id, '', 'user', 0, end_seq, base, agents),
                              'chain', 'user', 'through', through, 'is_partial', is_partial);
end;
$$;

create or replace function memory._check_summary(result jsonb)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_result_text('summary', result -> 'summary');
  if jsonb_typeof(coalesce(result -> 'metadata', '{}')) <> 'object' then
    perform memory._refuse_result('metadata', 'must be an object');
  -- what an archive says besides, two ids for one, fits beside it
  elsif pg_column_size(result -> 'metadata') > 1000000 then
    perform memory._refuse_result('metadata', format('has %s bytes, at most 1000000 are allowed',
      pg_column_size(result -> 'metadata')));
  elsif jsonb_path_exists(result, 'strict $.keyvalue() ? (@.key == "token_count").value ? (@.type() != "number" || @ < 1 || @ > 10000000 || @ != @.floor())') then
    perform memory._refuse_result('token_count', 'must be a whole number of tokens');
  elsif jsonb_path_exists(result, 'strict $.keyvalue() ? (@.key == "generation_time_ms").value ? (@.type() != "number" || @ < 0 || @ > 2147483647)') then
    perform memory._refuse_result('generation_time_ms', 'must be a number of milliseconds');
  end if;
end;
$$;

create or replace function memory._store_summary(job memory.jobs, result jsonb)
returns memory.summaries
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  stored memory.summaries;
begin
  -- The job before its summary, in the order of delete_thread(); no append waits for either.
  perform from memory.jobs as j where j.user_id = job.user_id and j.job_id = job.job_id for update;
  update memory.summaries as s
  set status = 'completed', summary = result ->> 'summary', metadata = coalesce(result -> 'metadata', '{}'),
      search_vector = memory._text_vector((memory._policy(job.user_id, job.agent_id) #>> '{search,language}')::regconfig, result ->> 'summary'),
      token_count = (result ->> 'token_count')::int,
      generation_time_ms = (result ->> 'generation_time_ms')::numeric::int
  where s.user_id = job.user_id and s.summary_id = (job.input ->> 'summary_id')::uuid and s.status = 'processing'
  returning s.* into stored;
  if not found then -- cleared meanwhile, and the job with it
    perform memory._refuse_lease(job.job_id);
  end if;
  perform memory._drop_embedding(job.user_id, 'summary', stored.base_summary_id::text);
  perform memory._enqueue_embedding(job.user_id);
  return stored;
end;
$$;

create or replace function memory._apply_summary(job memory.jobs, result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  stored memory.summaries;
begin
  perform memory._check_summary(result);
  stored := memory._store_summary(job, result);
  return jsonb_build_object('summary_id', stored.summary_id, 'start_seq', stored.start_seq, 'end_seq', stored.end_seq);
end;
$$;

create or replace function memory._apply_user_summary(job memory.jobs, result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  stored memory.summaries;
  thread record;
begin
  perform memory._check_summary(result);
  for thread in select t.key as thread_id, t.value::bigint as seq from jsonb_each_text(job.input -> 'through') as t order by t.key loop
    perform memory._set_mark(job.user_id, thread.thread_id, 'summarize_user', thread.seq);
  end loop;
  stored := memory._store_summary(job, result);
  return jsonb_build_object('summary_id', stored.summary_id, 'messages', stored.end_seq + 1);
end;
$$;

-- The thread comes first, as for everyone who changes messages. A writer who keeps it does not hold up the worker's other
-- jobs: after two seconds the worker is told to hand its result in again.
create or replace function memory._apply_compression(job memory.jobs, result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
declare
  stored memory.summaries;
  first_kept_seq bigint;
  compressed bigint;
begin
  perform from memory.threads as t where t.user_id = job.user_id and t.thread_id = job.scope for no key update;
  if result ? 'skipped' then
    perform from memory.jobs as j where j.user_id = job.user_id and j.job_id = job.job_id for update;
    delete from memory.summaries as s
    where s.user_id = job.user_id and s.summary_id = (job.input ->> 'summary_id')::uuid and s.status = 'processing';
    return jsonb_build_object('skipped', left(result ->> 'skipped', 500));
  end if;
  perform memory._check_summary(result);
  stored := memory._store_summary(job, result);
  -- A part of a long backlog may end between a call and its results. Then the call stays until they have been read.
  first_kept_seq := memory._call_seq(job.user_id, job.scope, (
    select min(m.seq) from memory.messages as m
    where m.user_id = job.user_id and m.thread_id = job.scope and m.seq > stored.end_seq and m.is_active));
  compressed := memory._put_away(stored, coalesce(first_kept_seq, stored.end_seq + 1), (job.input ->> 'archives')::boolean);
  return jsonb_build_object('summary_id', stored.summary_id, 'start_seq', stored.start_seq, 'end_seq', stored.end_seq, 'compressed', compressed);
end;
$$;

-- Soft-deletes the messages that a summary of the whole thread covers, up to the first one to keep, and archives them
-- where the policy says so; the oldest row_limit of them. Jobs that did not read them yet still can.
create or replace function memory._put_away(
  summary memory.summaries, first_kept_seq bigint, archives boolean, row_limit int default null
)
returns bigint
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  put_away record;
begin
  with gone as (
    update memory.messages as m set is_active = false, summary_id = summary.summary_id
    where m.user_id = summary.user_id and m.thread_id = summary.thread_id and m.is_active
      and m.seq <= (select max(o.seq) from (
        select a.seq from memory.messages as a
        where a.user_id = summary.user_id and a.thread_id = summary.thread_id and a.seq <= summary.end_seq
          and a.seq < first_kept_seq and a.is_active
        order by a.seq limit row_limit) as o)
    returning m.created_at
  )
  select count(*) as messages, min(g.created_at) as first_at, max(g.created_at) as last_at into put_away from gone as g;
  if put_away.messages > 0 and archives then
    perform memory._archive(summary, put_away.messages, put_away.first_at, put_away.last_at);
  end if;
  return put_away.messages;
end;
$$;

-- A compressed conversation in the knowledge base: one document per thread, which grows as the thread is compressed again.
create or replace function memory._archive(summary memory.summaries, messages bigint, first_at timestamptz, last_at timestamptz)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  archived memory.documents;
  starts text;
  ends text;
begin
  select d.* into archived from memory.documents as d
  where d.user_id = summary.user_id and d.thread_id = summary.thread_id and d.source = 'archive';
  starts := least(archived.metadata #>> '{date_range,start}', memory._iso_time(first_at));
  ends := greatest(archived.metadata #>> '{date_range,end}', memory._iso_time(last_at));
  insert into memory.documents as d (user_id, namespace, doc_type, title, content, source, thread_id, agent_ids, metadata)
  values (
    summary.user_id, memory._archive_namespace(summary.user_id), 'conversation', 'Conversation ' || summary.thread_id,
    format(e'# Conversation Summary\n## Date Range: %s to %s\n## Summary: %s', starts, ends, summary.summary),
    'archive', summary.thread_id, summary.agent_ids,
    jsonb_build_object(
      'session_id', summary.thread_id, 'agent_id', coalesce(archived.metadata ->> 'agent_id', summary.agent_ids[1]),
      'conversation_topics', coalesce(summary.metadata -> 'topics', '[]'), 'entities_mentioned', coalesce(summary.metadata -> 'entities', '[]'),
      'decisions_made', coalesce(summary.metadata -> 'decisions', '[]'), 'open_questions', coalesce(summary.metadata -> 'questions', '[]'),
      'message_count', coalesce((archived.metadata ->> 'message_count')::bigint, 0) + messages,
      'date_range', jsonb_build_object('start', starts, 'end', ends), 'summary_id', summary.summary_id))
  on conflict (user_id, thread_id) where source = 'archive' do update
  set content = excluded.content, metadata = excluded.metadata, agent_ids = excluded.agent_ids;
end;
$$;

create or replace function memory._archive_namespace(user_id text)
returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return left('conversations:' || user_id, 255); -- as long as a namespace may be
end;
$$;

create or replace function memory._iso_time(moment timestamptz)
returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
end;
$$;

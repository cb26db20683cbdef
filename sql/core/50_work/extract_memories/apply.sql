-- Stores the memories of a reply, and ends the known memories that they replace. A memory is stored only if it rests on
-- messages that the model was given. The policy limits the memories of one reply and of one day
-- (memories.max_per_reply, max_extracted_per_day), because a flood of memories would evict earlier ones.
create or replace function memory._extract_memories_apply(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  through_seq bigint := (p_job.input ->> 'through_seq')::bigint;
  today constant date := memory._day_of(statement_timestamp());
  agent text;
  policy jsonb;
  items jsonb[]; -- the memories and ends of the reply
  reasons text[]; -- why some entries are left out
  allowances jsonb := jsonb '{}'; -- by agent: how many more memories may be extracted today
  item record;
  stored memory.memories;
  reviewed text[] := array[]::text[]; -- the agents whose memories somebody reviews before they count
  is_reviewed boolean;
  effect jsonb; -- the known memories that this memory ends
  is_new boolean;
  stored_ids uuid[] := array[]::uuid[];
  has_news boolean := false; -- whether reconciliation may find something
  agents text[] := array[]::text[]; -- the agent of each memory of the reply
  news boolean[] := array[]::boolean[]; -- whether each memory was stored
  ended bigint := 0;
begin
  select r.items, r.reasons into items, reasons
  from memory._readable_reply(p_job, p_result, (
    memory._policy_section(p_job.user_id, p_job.agent_id, 'memories') ->> 'max_per_reply')::bigint) as r;

  -- Each memory belongs to the agent that heard it. Agents are locked in one order, so that two jobs cannot deadlock.
  if items <> '{}' then
    for agent in select a from jsonb_array_elements_text(p_job.input -> 'agent_ids') as a order by a loop
      perform memory._lock_scope(p_job.user_id, agent);
      policy := memory._policy(p_job.user_id, agent);
      allowances := allowances || jsonb_build_object(
        agent, memory._extractable_today(p_job.user_id, agent, policy -> 'memories'));
      if (policy #>> '{extraction,review}')::boolean then
        reviewed := reviewed || agent;
      end if;
    end loop;
    for item in
      select e.* from memory._evident_memories(p_job, items, allowances) as e
      order by (e.memory).content is null, (e.memory).agent_id, (e.memory).said_at, (e.memory).source_seqs, e.place
    loop
      is_reviewed := (item.memory).agent_id = any (reviewed);
      stored := null;
      if (item.memory).content is not null then
        stored := memory._known_memory(item.memory);
        is_new := stored.memory_id is null;
        if is_new then
          insert into memory.memories (
            user_id, agent_id, memory_type, content, confidence, importance, thread_id, source_seqs, source, said_at,
            valid_from, valid_to, subject, attribute, metadata, deleted_at, quarantined_at, quarantine_reason,
            operation)
          values (
            p_job.user_id, (item.memory).agent_id, (item.memory).memory_type, (item.memory).content,
            (item.memory).confidence, (item.memory).importance, p_job.scope, (item.memory).source_seqs, 'extraction',
            (item.memory).said_at, (item.memory).valid_from, (item.memory).valid_to, (item.memory).subject,
            (item.memory).attribute, (item.memory).metadata || case when is_reviewed then jsonb_build_object(
              'awaits_review', memory._known_to_end(p_job, item.memory, null, item.effect)) else '{}' end,
            case when item.suspicion is not null then timestamptz 'infinity' end,
            case when item.suspicion is not null then statement_timestamp() end,
            'model: ' || item.suspicion, case when item.suspicion is null then 'insert' else 'quarantine' end)
          on conflict do nothing
          returning * into stored;
          is_new := found;
          if is_new then
            stored_ids := stored_ids || stored.memory_id;
          end if;
          has_news := has_news or is_new and stored.quarantined_at is null;
        elsif item.suspicion is null or stored.released_at is not null then
          -- A known memory stays unchanged if a suspicious memory says the same: otherwise an attacker could take back
          -- honest memories by repeating them. A memory that an administrator has released stays released.
          has_news := memory._say_again(stored, item.memory) or has_news;
        end if;
        agents := agents || (item.memory).agent_id;
        news := news || is_new;
        -- A memory that nobody sees ends no other memory.
        continue when item.suspicion is not null or stored.memory_id is null or stored.quarantined_at is not null;
      end if;
      effect := memory._known_to_end(p_job, item.memory, stored.memory_id, item.effect);
      if not is_reviewed then
        ended := ended + memory._end_as_noted(item.memory, stored.memory_id, effect);
      elsif effect <> '{}' then -- no new memory could carry the end until its review
        reasons := reasons || 'review'::text;
      end if;
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
    'duplicates', cardinality(array_positions(news, false)), 'ended', ended,
    'refused', jsonb_array_length(p_result -> 'memories') - cardinality(news),
    'refusals', memory._counted_refusals(reasons), 'through_seq', through_seq)
    -- The messages that the built-in model could not read.
    || case when jsonb_typeof(p_result -> 'unread') = 'object' and p_result -> 'unread' <> '{}'
        and length(p_result ->> 'unread') <= 10000
        and not jsonb_path_exists(p_result -> 'unread', 'strict $.* ? (@.type() != "number" || @ < 0)')
      then jsonb_build_object('unread', p_result -> 'unread') else '{}' end;
end;
$$;

-- Counts the extractions of a user, and queues a reconciliation of facts after every cadence.reconcile_every_n-th one.
-- The built-in model costs nothing, so it reconciles after every extraction with news: after the last job all facts are
-- compared, whatever the number of jobs and the order in which they ended. The reconciliation begins after this
-- transaction, because one that runs now has already read the facts. If another transaction keeps the row of the queued
-- job, the worker gets 55P03 and hands the result in again.
create or replace function memory._count_extraction(p_user_id text, p_has_news boolean)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  lock_timeout constant text := current_setting('lock_timeout');
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
    perform set_config('lock_timeout', '200ms', true);
    perform memory._enqueue(p_user_id, 'reconcile_memories', '', '{"is_forced": true}');
    perform set_config('lock_timeout', lock_timeout, true);
  elsif extractions % every_n = 0 then
    perform memory._enqueue_due(p_user_id, 'reconcile_memories', '');
  end if;
end;
$$;

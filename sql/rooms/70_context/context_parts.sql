-- needs pgvector on the search_path

-- The parts of a context. They are shown in the order of their places:
--   0  message         the instructions that begin the thread
--   1  memories        memories about the user
--   2  user_summary    the summary of the user
--   3  recalled        earlier messages about the query
--   4  cross_session   earlier conversations, where the policy allows them and the query asks for them
--   5  thread_summary  the summary of the whole thread
--   6  thread_summary  the rolling summary of the thread's older messages
--   7  message         the newest messages of the thread
-- The code gives out tokens in this order: first the newest message, whatever its tokens; then the instructions that
-- begin the thread (0); then the summary of the user (2); then earlier conversations (4), memories (1) and recalled
-- messages (3), each at most its share or the tokens that the other parts and the thread leave; and the rest to the
-- thread (thread.sql). The shares are shares of p_max_tokens without p_for_thread. The instructions have ordinals up to
-- 0, all other parts ordinals from 1 on. The function is stable, so it reads all parts from one snapshot: a message
-- that is summarised meanwhile is neither missing nor shown twice.
create or replace function memory._context_parts(
  p_user_id text, p_thread_id text, p_agent_id text, p_query text, p_model text, p_target halfvec, p_policy jsonb,
  p_max_tokens int, p_recalls boolean, p_for_thread int
)
returns setof memory.context_part
language plpgsql stable parallel unsafe
as $$
declare
  crosses constant boolean := (p_policy #>> '{knowledge_base,enable_cross_session_context}')::boolean;
  recalls constant boolean := p_recalls and num_nonnulls(p_query, p_target) > 0;
  replaces_covered constant boolean := p_policy #>> '{summary,when}' = 'each_round';
  parts memory.context_part[] := array[]::memory.context_part[]; -- the field ordinal holds the place
  profile constant memory.context_part := memory._summary_part(
    2, 'user_summary', 'What is known about the user:', memory._summary_for(p_user_id, '', 'user', p_agent_id));
  summaries memory.context_part[]; -- the summaries of the thread
  thread record; -- the columns oldest_seq, places and tokens of memory._fit_thread()
  candidates memory._recalled[] := array[]::memory._recalled[];
  recalled memory.context_part;
  part memory.context_part;
  found record;
  repeated text[] := array[]::text[]; -- messages that a memory repeats
  said text; -- the text of earlier conversations, later of the thread's summaries
  says_memories boolean := false; -- whether memories, or the messages that they come from, are shown
  units record; -- of memory._newest_units()
  remaining int;
  shared int; -- the tokens of which each part gets a share
  cross_tokens int := 0;
  memory_tokens int;
  recall_tokens int := 0;
begin
  select * into units from memory._newest_units(p_user_id, p_thread_id, p_agent_id, p_max_tokens);
  remaining := p_max_tokens - coalesce(units.tokens[1], 0);
  if units.beginning <> '{}' then
    remaining := remaining - units.beginning_tokens;
  elsif units.beginning_tokens > 0 then
    raise notice 'degraded: the instructions that begin the thread do not fit into max_tokens'
      using errcode = '01AM6', hint = 'Raise max_tokens, or the policy''s context.max_tokens.';
  end if;
  if profile.token_count <= remaining then
    parts := parts || profile;
    remaining := remaining - profile.token_count;
  elsif profile.token_count is not null then
    perform memory._summary_is_left_out(profile.source);
  end if;

  -- The shares. If a thread fits beside memories and earlier conversations, the context shows the whole thread, and
  -- recalled messages get the tokens that the thread leaves. If the thread is longer, recalled messages get their
  -- share, too.
  shared := greatest(least(remaining, p_max_tokens - p_for_thread), 0);
  memory_tokens := floor(shared * memory._share(p_policy #>> '{context,memories_share}'));
  if crosses then
    cross_tokens := floor(shared * memory._share(p_policy #>> '{context,cross_session_share}'));
  end if;
  if recalls then
    recall_tokens := floor(shared * memory._share(p_policy #>> '{context,recall_share}'));
  end if;
  summaries := memory._thread_summaries(p_user_id, p_thread_id, p_agent_id);
  select * into thread from memory._fit_thread(
    units.oldest, units.newest, units.tokens, units.is_more, summaries, replaces_covered, remaining,
    greatest(remaining - memory_tokens - cross_tokens, 0)) as f;
  if thread.is_cut and recalls then
    select * into thread from memory._fit_thread(
      units.oldest, units.newest, units.tokens, units.is_more, summaries, replaces_covered, remaining,
      greatest(remaining - memory_tokens - cross_tokens - recall_tokens, 0)) as f;
  end if;

  -- Part 4: earlier conversations.
  if crosses then
    select * into found
    from memory._cross_session_context(
      p_user_id, p_thread_id, p_agent_id, p_query, p_model, p_target, p_policy,
      least(cross_tokens, remaining - thread.tokens));
    if found.content is not null then
      parts := parts
        || row(4, 'system', found.content, 'cross_session', found.tokens, found.details)::memory.context_part;
      remaining := remaining - found.tokens;
      said := found.content;
    end if;
  end if;

  -- The candidates for part 3. The candidates that fit beside the memories will surely be shown, so memories that only
  -- repeat these messages are left out.
  if not thread.is_cut then
    recall_tokens := remaining;
  end if;
  recall_tokens := least(recall_tokens, remaining - thread.tokens);
  if recalls and recall_tokens > 0 then
    candidates := memory._recall_candidates(
      p_user_id, p_thread_id, p_agent_id, p_query, p_model, p_target, p_policy, thread.oldest_seq, recall_tokens);
    candidates := memory._without_said(candidates, said);
  end if;
  if not thread.is_cut then
    memory_tokens := greatest(memory_tokens, remaining - thread.tokens - coalesce((
      select memory._recall_tokens(sum(c.token_count), count(distinct c.said_on))
      from unnest(candidates) as c), 0));
  end if;
  memory_tokens := least(memory_tokens, remaining - thread.tokens);

  -- Part 1: memories.
  if memory_tokens > 0 then
    select * into found
    from memory._render_memories(
      p_user_id, p_agent_id, p_query, p_model, p_target, p_policy, (p_policy #>> '{context,max_memories}')::int,
      memory_tokens - memory._tokens_at_most(memory._fenced('')),
      memory._that_fit(candidates, least(recall_tokens, remaining - thread.tokens - memory_tokens)));
    repeated := found.repeated;
    says_memories := found.block <> '' or found.is_recalled;
    if found.block <> '' then
      found.block := memory._fenced(found.block);
      parts := parts || row(1, 'system', found.block, 'memories', memory._tokens_at_most(found.block),
                            jsonb_build_object('memories', found.chosen))::memory.context_part;
      remaining := remaining - parts[cardinality(parts)].token_count;
    end if;
  end if;
  if not says_memories and exists (select from memory._valid_memories(p_user_id, p_agent_id) as m) then
    raise notice 'degraded: no memories fit into max_tokens'
      using errcode = '01AM6', hint = 'Raise max_tokens, or the policy''s context.memories_share.';
  end if;

  -- Part 3, then the thread with all tokens that are left. The thread may now show messages that are also among the
  -- recalled ones, or a summary that says the same; then other candidates take their places.
  recalled := memory._recalled_part(
    candidates, least(recall_tokens, remaining - thread.tokens), p_thread_id, thread.oldest_seq, repeated);
  select * into thread from memory._fit_thread(
    units.oldest, units.newest, units.tokens, units.is_more, summaries, replaces_covered, remaining,
    remaining - coalesce(recalled.token_count, 0)) as f;
  said := (select string_agg(s.content, e'\n') from unnest(summaries) as s where s.ordinal = any (thread.places));
  if recalled.content is not null and said is not null
    or recalled.metadata -> 'messages' @? format('$[*] ? (@.thread_id == %s && @.seq >= %s)',
                                                 to_jsonb(p_thread_id), thread.oldest_seq)::jsonpath then
    recalled := memory._recalled_part(
      memory._without_said(candidates, said), recalled.token_count, p_thread_id, thread.oldest_seq, repeated);
  end if;
  if recalled.content is not null then
    parts := parts || recalled;
  end if;
  for part in select s.* from unnest(summaries) as s loop
    if part.ordinal = any (thread.places) then
      parts := parts || part;
    elsif part.token_count > remaining
      and (replaces_covered or (part.metadata ->> 'start_seq')::bigint < thread.oldest_seq) then
      perform memory._summary_is_left_out(part.source);
    end if;
  end loop;

  return query
  with shown as materialized (
    select m.seq, m.role, m.content, m.metadata, u.tokens,
      m.search_vector is null and (m.role in ('tool', 'assistant') or m.metadata ? 'trust') as is_unjudged
    from (
      select a.* from memory._active_messages(p_user_id, p_thread_id, p_agent_id) as a
      where a.seq >= thread.oldest_seq
      union all
      select a.* from memory._active_messages(p_user_id, p_thread_id, p_agent_id) as a
      where a.seq between units.beginning[1] and units.beginning[cardinality(units.beginning)]
    ) as m
    join unnest(units.message_seqs, units.message_tokens) as u (seq, tokens) on u.seq = m.seq
  ), held_back as (
    select memory._held_back(p_user_id, p_thread_id, array_agg(s.seq)) as seqs from shown as s
    where s.is_unjudged having count(*) > 0
  ), chosen as (
    select p.ordinal as place, 0 as seq, p.role, p.content, p.source, p.token_count, p.metadata
    from unnest(parts) as p
    union all
    select case when s.seq < thread.oldest_seq then 0 else 7 end, s.seq, s.role,
      case when s.is_unjudged and s.seq = any ((select h.seqs from held_back as h)::bigint[])
        then memory._quarantine_notice() else s.content end, 'message', s.tokens, s.metadata
    from shown as s
  )
  select (row_number() over (order by c.place, c.seq) - cardinality(units.beginning))::int, c.role, c.content, c.source,
    c.token_count, c.metadata
  from chosen as c
  order by 1;
end;
$$;

-- The number of tokens of all parts.
create or replace function memory._tokens_of(p_parts memory.context_part[])
returns int
language plpgsql immutable parallel safe
as $$
begin
  return coalesce(sum(p.token_count), 0)::int from unnest(p_parts) as p;
end;
$$;

-- Raises a notice that a summary does not fit.
create or replace function memory._summary_is_left_out(p_source text)
returns void
language plpgsql stable parallel safe
as $$
begin
  raise notice 'degraded: the % does not fit into max_tokens', replace(p_source, '_', ' ')
    using errcode = '01AM6', hint = 'Raise max_tokens, or the policy''s context.max_tokens.';
end;
$$;

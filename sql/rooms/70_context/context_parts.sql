-- needs pgvector on the search_path

-- The parts of a context in their order; ordinal holds the place of each:
--   0  message         the instructions that begin the thread
--   1  memories        memories about the user
--   2  user_summary    the summary of the user
--   3  recalled        earlier messages about the query
--   4  cross_session   earlier conversations, where the policy allows them and the query asks for them
--   5  recalled        what the query needs of artifacts that the thread names
--   6  thread_summary  the summary of the whole thread
--   7  thread_summary  the rolling summary of the thread's older messages
--   8  message         the newest messages of the thread
-- The code gives out tokens in this order: first the artifacts (5); then the newest message, whatever its tokens; then
-- the instructions that begin the thread (0); then the summary of the user (2); then earlier conversations (4),
-- memories (1) and recalled messages (3), each at most its share or the tokens that the other parts and the thread
-- leave; and the rest to the thread (thread.sql). The shares are shares of the tokens without p_for_thread. The
-- function is stable, so it reads all parts from one snapshot: a message that is summarised meanwhile is neither
-- missing nor shown twice. left_out: objects of memory._left_out(), complete if p_explains.
create or replace function memory._context_parts(
  p_user_id text, p_thread_id text, p_agent_id text, p_query text, p_model text, p_target halfvec, p_policy jsonb,
  p_max_tokens int, p_recalls boolean, p_for_thread int, p_explains boolean, p_spaces text[],
  out parts memory.context_part[], out left_out jsonb[]
)
language plpgsql stable parallel unsafe
as $$
declare
  crosses constant boolean := (p_policy #>> '{knowledge_base,enable_cross_session_context}')::boolean;
  recalls constant boolean := p_recalls and num_nonnulls(p_query, p_target) > 0;
  replaces_covered constant boolean := p_policy #>> '{summary,when}' = 'each_round';
  summaries memory.context_part[] := memory._summary_parts(p_user_id, p_thread_id, p_agent_id);
  profile memory.context_part; -- the summary of the user, which is no longer among summaries then
  thread record; -- the columns oldest_seq, places and tokens of memory._fit_thread()
  matches memory._recalled[]; -- the messages that may be recalled
  candidates memory._recalled[] := array[]::memory._recalled[]; -- those of them that earlier conversations do not say
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
  found := memory._kept_texts(
    p_user_id, p_thread_id, p_agent_id, p_query, p_model, p_target, p_policy, p_max_tokens - p_for_thread,
    p_explains);
  left_out := found.left_out;
  parts := array[]::memory.context_part[];
  remaining := p_max_tokens;
  if found.content is not null then
    parts := parts || row(5, 'system', found.content, 'recalled', found.tokens, found.details)::memory.context_part;
    remaining := remaining - found.tokens;
  end if;
  units := memory._newest_units(p_user_id, p_thread_id, p_agent_id, remaining);
  shared := remaining - p_for_thread;
  remaining := remaining - coalesce(units.tokens[1], 0);
  if units.beginning <> '{}' then
    remaining := remaining - units.beginning_tokens;
  elsif units.beginning_tokens > 0 then
    raise notice 'degraded: the instructions that begin the thread do not fit into max_tokens'
      using errcode = '01AM6', hint = 'Raise max_tokens, or the policy''s context.max_tokens.';
  end if;
  if (summaries[1]).source = 'user_summary' then
    profile := summaries[1];
    summaries := summaries[2:];
  end if;
  if profile.token_count <= remaining then
    parts := parts || profile;
    remaining := remaining - profile.token_count;
  elsif profile.token_count is not null then
    raise notice 'degraded: the user summary does not fit into max_tokens'
      using errcode = '01AM6', hint = 'Raise max_tokens, or the policy''s context.max_tokens.';
    left_out := left_out
      || memory._left_out(profile.source, 'does not fit', profile.token_count, profile.metadata ->> 'summary_id');
  end if;

  -- The shares. If a thread fits beside memories and earlier conversations, the context shows the whole thread, and
  -- recalled messages get the tokens that the thread leaves. If the thread is longer, recalled messages get their
  -- share, too.
  shared := greatest(least(remaining, shared), 0);
  memory_tokens := floor(shared * memory._share(p_policy #>> '{context,memories_share}'));
  if crosses then
    cross_tokens := floor(shared * memory._share(p_policy #>> '{context,cross_session_share}'));
  end if;
  if recalls then
    recall_tokens := floor(shared * memory._share(p_policy #>> '{context,recall_share}'));
  end if;
  thread := memory._fit_thread(
    units.oldest, units.newest, units.tokens, units.is_more, summaries, replaces_covered, remaining,
    greatest(remaining - memory_tokens - cross_tokens, 0));
  if thread.is_cut and recalls then
    thread := memory._fit_thread(
      units.oldest, units.newest, units.tokens, units.is_more, summaries, replaces_covered, remaining,
      greatest(remaining - memory_tokens - cross_tokens - recall_tokens, 0));
  end if;

  -- Part 4: earlier conversations.
  if crosses then
    found := memory._cross_session_context(
      p_user_id, p_thread_id, p_agent_id, p_query, p_model, p_target, p_policy,
      least(cross_tokens, remaining - thread.tokens));
    left_out := left_out || found.left_out;
    if found.content is not null then
      parts := parts
        || row(4, 'system', found.content, 'cross_session', found.tokens, found.details)::memory.context_part;
      remaining := remaining - found.tokens;
      said := found.content;
    end if;
  elsif p_explains then -- a condition of its own, so that other contexts plan no statement for it
    if exists (select from memory.threads as t where t.user_id = p_user_id and t.thread_id <> p_thread_id) then
      left_out := left_out || memory._left_out(
        'cross_session', 'the policy switches them off (knowledge_base.enable_cross_session_context)', 0);
    end if;
  end if;

  -- The candidates for part 3. The candidates that fit beside the memories will surely be shown, so memories that only
  -- repeat these messages are left out.
  if not thread.is_cut then
    recall_tokens := remaining;
  end if;
  recall_tokens := least(recall_tokens, remaining - thread.tokens);
  if recalls and recall_tokens > 0 then
    found := memory._recall_candidates(
      p_user_id, p_thread_id, p_agent_id, p_query, p_model, p_target, p_policy, thread.oldest_seq, recall_tokens,
      p_explains);
    matches := found.candidates;
    left_out := left_out || found.left_out;
    candidates := memory._without_said(matches, said);
  elsif recalls then
    left_out := left_out || memory._left_out('recalled', 'no tokens are left', 0);
  end if;
  if not thread.is_cut then
    memory_tokens := greatest(memory_tokens, remaining - thread.tokens - coalesce((
      select memory._recall_tokens(sum(c.token_count), count(distinct c.said_on))
      from unnest(candidates) as c), 0));
  end if;
  memory_tokens := least(memory_tokens, remaining - thread.tokens);

  -- Part 1: memories.
  if memory_tokens > 0 then
    found := memory._render_memories(
      p_user_id, p_agent_id, p_query, p_model, p_target, p_policy, (p_policy #>> '{context,max_memories}')::int,
      memory_tokens - memory._tokens_at_most(memory._fenced('')),
      memory._that_fit(candidates, least(recall_tokens, remaining - thread.tokens - memory_tokens)), p_spaces);
    repeated := found.repeated;
    left_out := left_out || found.left_out;
    says_memories := found.block <> '' or found.is_recalled;
    if found.block <> '' then
      found.block := memory._fenced(found.block);
      parts := parts || row(1, 'system', found.block, 'memories', memory._tokens_at_most(found.block),
                            jsonb_build_object('memories', found.chosen))::memory.context_part;
      remaining := remaining - parts[cardinality(parts)].token_count;
    end if;
  end if;
  -- says_memories is null for a user without memories.
  if says_memories is false then
    if exists (select from memory._valid_memories(p_user_id, p_agent_id) as m) then
      raise notice 'degraded: no memories fit into max_tokens'
        using errcode = '01AM6', hint = 'Raise max_tokens, or the policy''s context.memories_share.';
    end if;
  end if;

  -- Part 3, then the thread with all tokens that are left. The thread may now show messages that are also among the
  -- recalled ones, or a summary that says the same; then other candidates take their places.
  recalled := memory._recalled_part(
    candidates, least(recall_tokens, remaining - thread.tokens), p_thread_id, thread.oldest_seq, repeated);
  thread := memory._fit_thread(
    units.oldest, units.newest, units.tokens, units.is_more, summaries, replaces_covered, remaining,
    remaining - coalesce(recalled.token_count, 0));
  said := (select string_agg(s.content, e'\n') from unnest(summaries) as s where s.ordinal = any (thread.places));
  if recalled.content is not null and (
    said is not null
    or recalled.metadata -> 'messages' @? format('$[*] ? (@.thread_id == %s && @.seq >= %s)',
                                                 to_jsonb(p_thread_id), thread.oldest_seq)::jsonpath) then
    candidates := memory._without_said(candidates, said);
    recalled := memory._recalled_part(candidates, recalled.token_count, p_thread_id, thread.oldest_seq, repeated);
  end if;
  if recalled.content is not null then
    parts := parts || recalled;
  end if;
  foreach part in array summaries loop
    if part.ordinal = any (thread.places) then
      parts := parts || part;
    else
      if part.token_count > remaining
        and (replaces_covered or (part.metadata ->> 'start_seq')::bigint < thread.oldest_seq) then
        raise notice 'degraded: the thread summary does not fit into max_tokens'
          using errcode = '01AM6', hint = 'Raise max_tokens, or the policy''s context.max_tokens.';
      end if;
      left_out := left_out || memory._left_out(
        part.source, case when part.token_count > remaining then 'does not fit'
                          else 'messages of the thread, or the other summary, say it' end,
        part.token_count, part.metadata ->> 'summary_id');
    end if;
  end loop;

  if p_explains then
    left_out := left_out || memory._more_left_out(
      p_user_id, p_thread_id, p_agent_id, parts, left_out, matches, candidates, repeated, thread.oldest_seq,
      units.beginning, p_spaces);
  end if;
  parts := array(
    with shown as materialized (
      select m.seq, m.role, m.content, m.metadata, u.tokens,
        m.search_vector is null and memory._is_judged(m.role, m.metadata) as is_unjudged
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
      select case when s.seq < thread.oldest_seq then 0 else 8 end, s.seq, s.role,
        case when s.is_unjudged and s.seq = any ((select h.seqs from held_back as h)::bigint[])
          then memory._quarantine_notice() else s.content end, 'message', s.tokens, s.metadata
      from shown as s
    )
    select row(c.place, c.role, c.content, c.source, c.token_count, c.metadata)::memory.context_part
    from chosen as c
    order by c.place, c.seq);
end;
$$;

-- Something that a context leaves out, and why; p_id names it as search does, a message of the thread by its seq.
create or replace function memory._left_out(p_source text, p_reason text, p_tokens int, p_id text default null)
returns jsonb
language sql immutable parallel safe
begin atomic
  select jsonb_build_object('source', p_source, 'reason', p_reason, 'tokens', p_tokens, 'id', p_id);
end;

-- What a context leaves out besides what its steps have noted (p_left_out): messages of the thread; recalled messages
-- (p_matches) that are not shown; and memories that were not among the best. p_unsaid are the matches that no other
-- part says, p_repeated the ids of those that a memory repeats.
create or replace function memory._more_left_out(
  p_user_id text, p_thread_id text, p_agent_id text, p_parts memory.context_part[], p_left_out jsonb[],
  p_matches memory._recalled[], p_unsaid memory._recalled[], p_repeated text[], p_from_seq bigint,
  p_beginning bigint[], p_spaces text[]
)
returns jsonb[]
language plpgsql stable parallel safe
as $$
declare
  noted constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'memories', (select jsonb_agg(l ->> 'id') from unnest(p_left_out) as l where l ->> 'source' = 'memories'),
    'chosen', (select jsonb_path_query_array(p.metadata, '$.memories[*].memory_id') from unnest(p_parts) as p
               where p.source = 'memories'),
    'recalled', (select jsonb_agg((r ->> 'thread_id') || '/' || (r ->> 'seq'))
                 from unnest(p_parts) as p cross join jsonb_array_elements(p.metadata -> 'messages') as r
                 where p.source = 'recalled')));
  covered constant bigint := (
    select max((p.metadata ->> 'end_seq')::bigint) from unnest(p_parts) as p where p.source = 'thread_summary');
begin
  return array(
    select memory._left_out('message', case
        when not m.is_active then 'compressed: a summary took its place'
        when m.seq <= covered then 'does not fit; a summary stands for it'
        else 'does not fit' end, m.token_count, m.seq::text)
    from memory.messages as m
    where m.user_id = p_user_id and m.thread_id = p_thread_id and m.seq < p_from_seq
      and (m.seq between p_beginning[1] and p_beginning[cardinality(p_beginning)]) is not true
      and (p_agent_id is null or m.agent_id = p_agent_id)
      and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
    order by m.seq desc)
    || array(
    select memory._left_out('recalled', case
        when i.id = any (p_repeated) then 'a memory says it'
        when i.id not in (select u.thread_id || '/' || u.seq from unnest(p_unsaid) as u)
          then 'a summary or an earlier conversation says it'
        else 'does not fit' end, c.token_count, i.id)
    from unnest(p_matches) as c
    cross join lateral (select c.thread_id || '/' || c.seq as id) as i
    where (c.thread_id = p_thread_id and c.seq >= p_from_seq) is not true
      and (noted -> 'recalled' ? i.id) is not true)
    || array(
    select memory._left_out('memories', case
        when noted -> 'memories' is null and noted -> 'chosen' is null then 'does not fit'
        else 'others matter more' end, memory._estimate_tokens(m.content), m.memory_id::text)
    from unnest(p_user_id || p_spaces) as o (user_id)
    cross join lateral memory._valid_memories(o.user_id, case o.user_id when p_user_id then p_agent_id end) as m
    where (noted -> 'memories' ? m.memory_id::text) is not true
      and (noted -> 'chosen' ? m.memory_id::text) is not true
    order by m.created_at desc);
end;
$$;

-- needs pgvector on the search_path

-- What is offered for a context, and which of the offers are shown within p_max_tokens. The tokens go to the parts in
-- this order: the newest message, with the user's request (whatever their tokens); the instructions; the summary of the
-- user; the standing memories, at most their share; the thread, whole if it fits, otherwise without the shares of the
-- parts that follow; earlier conversations, at most their share; and all that is left to what the question asks for.
-- The shares are shares of the tokens without p_for_thread. The function is stable, so it reads all parts from one
-- snapshot: a message that is summarised meanwhile is neither missing nor shown twice.
--
-- While tools are called for a request, all parts are chosen as they were when the request came (p_as_asked), so that
-- they stay the same; if that leaves too few tokens for the calls, the thread begins later, and at last all is chosen
-- anew. request is the newest message of the user, from_seq the first message of the thread that is shown, recalled
-- what is recalled for the question, and most the tokens that all of that keeps to.
create or replace function memory._fitted(
  p_asking memory._asking, p_max_tokens int, p_for_thread int, p_history memory._recalled[],
  p_as_asked boolean default true,
  out offers memory._offer[], out request bigint, out from_seq bigint, out recalled memory._recalled[], out most int
)
language plpgsql stable parallel unsafe
as $$
declare
  settings constant jsonb := p_asking.policy -> 'context';
  is_cached constant boolean := p_asking.layout = 'cached';
  max_memories constant int := (settings ->> 'max_memories')::int;
  crosses constant boolean := (p_asking.policy #>> '{knowledge_base,enable_cross_session_context}')::boolean;
  recalls constant boolean :=
    p_asking.why_no_recall is null and num_nonnulls(p_asking.query, p_asking.target) > 0;
  replaces_covered constant boolean := p_asking.policy #>> '{summary,when}' = 'each_round';
  step constant double precision := case when is_cached then memory._share(settings ->> 'window_step') else 0 end;
  empty_fence constant int := memory._tokens_at_most(memory._fenced(''));
  rounds constant record := memory._shown_rounds(p_asking);
  named constant record := memory._named_artifacts(p_asking);
  summaries memory._offer[] := memory._summary_offers(p_asking);
  thread record; -- of memory._newest_units()
  place int; -- of the request among its units, while its round is open
  units memory._unit[]; -- those up to the request while its round is open, otherwise all
  fitted record; -- of memory._fit_thread()
  found memory._offer[]; -- of the functions that offer texts
  standing memory._offer[]; -- the memories that stand in every context
  asked memory._offer[] := array[]::memory._offer[]; -- those that the question asks for
  kept memory._recalled[] := array[]::memory._recalled[]; -- what stays recalled before earlier messages
  round bigint;
  made record; -- of memory._recall_candidates(), or of this function
  twice record; -- of memory._said_twice()
  why_nothing text; -- why there is nothing to recall
  since int := 0; -- the tokens of the round since the request
  remaining int;
  shared int; -- the tokens of which each part gets a share
  unstepped int; -- the same, not in steps
  memory_tokens int; -- of the memories that are not shown yet
  cross_tokens int := 0;
  for_question int := 0; -- what the question asks for gets so many tokens beside a thread that is cut
  are_more boolean := false; -- memories beside the standing ones
begin
  most := p_max_tokens - memory._tokens_for_placeholders(p_asking, p_max_tokens);
  thread := memory._newest_units(p_asking, most, rounds.seqs, rounds.tokens);
  request := thread.request;
  units := thread.units;
  place := (
    select u.place from unnest(units) with ordinality as u (oldest, newest, tokens, begins, place)
    where p_as_asked and thread.is_open and u.oldest = request);
  if place > 1 then
    since := (units[place]).tokens - thread.request_tokens;
    units := array(
      select row(u.oldest, u.newest, u.tokens - since, u.begins)::memory._unit from unnest(units[place:]) as u);
  end if;
  remaining := most - coalesce((units[1]).tokens, 0);
  if thread.beginning <> '{}' then
    remaining := remaining - thread.beginning_tokens;
  elsif thread.beginning_tokens > 0 then
    perform memory._does_not_fit('the instructions that begin the thread do not', 'context.max_tokens');
  end if;
  offers := memory._recalled_part(5, 0, p_history);
  remaining := remaining - memory._shown_tokens(offers);
  if (summaries[1]).source = 'user_summary' then
    found := array[memory._unless(
      summaries[1], case when (summaries[1]).token_count > remaining then 'does not fit' end)];
    if (found[1]).why_not is not null then
      perform memory._does_not_fit('the user summary does not', 'context.max_tokens');
    end if;
    offers := offers || found;
    summaries := summaries[2:];
    remaining := remaining - memory._shown_tokens(found);
  end if;
  -- In steps of an eighth, so that another length of the question changes nothing of what stands before it.
  unstepped := greatest(least(remaining, most - p_for_thread), 0);
  shared := unstepped;
  if is_cached then
    shared := shared - shared % greatest(most / 8, 1);
  end if;

  memory_tokens := floor(shared * memory._share(settings ->> 'memories_share'));
  if is_cached then
    standing := memory._memory_offers(p_asking, 'standing', 3, max_memories, memory_tokens - empty_fence, true);
    found := memory._memories_part(standing);
    offers := offers || found;
    remaining := remaining - memory._shown_tokens(found);
    are_more := memory_tokens > 0 and exists (select from unnest(standing) as o where o.why_not is not null);
    memory_tokens := 0;
  end if;

  if crosses then
    cross_tokens := floor(shared * memory._share(settings ->> 'cross_session_share'));
  end if;
  if recalls or are_more then
    for_question := floor(
      shared * memory._share(settings ->> case when recalls then 'recall_share' else 'memories_share' end));
  end if;
  if named.keys is not null then
    for_question := for_question + floor(shared * memory._share(settings ->> 'artifacts_share'))::int;
  end if;
  for attempt in 1 .. 2 loop -- the whole thread, or what fits beside all shares
    fitted := memory._fit_thread(
      units, thread.is_more, summaries, replaces_covered, remaining,
      greatest(remaining - memory_tokens - cross_tokens - case attempt when 2 then for_question else 0 end, 0),
      case attempt when 2 then step else 0 end);
    exit when not fitted.is_cut;
  end loop;
  remaining := remaining - fitted.tokens;
  -- What was answered is no longer needed where a summary says it.
  if replaces_covered and not thread.is_open and request < fitted.oldest_seq then
    request := null;
  end if;
  if crosses then
    found := memory._cross_session_context(p_asking, least(cross_tokens, remaining));
    offers := offers || found;
    remaining := remaining - memory._shown_tokens(found);
  elsif p_asking.explains then -- a condition of its own, so that other contexts plan no statement for it
    if exists (select from memory.threads as t
               where t.user_id = p_asking.user_id and t.thread_id <> p_asking.thread_id) then
      offers := offers || memory._left_out(
        'cross_session', 'the policy switches them off (knowledge_base.enable_cross_session_context)', 0);
    end if;
  end if;

  -- What the question asks for: artifacts, then memories and messages.
  if named.keys is not null then
    found := memory._kept_texts(p_asking, named.keys, named.seqs, (thread.units[1]).oldest, remaining,
      greatest(least(remaining, shared * memory._share(settings ->> 'artifacts_share')),
               case when not fitted.is_cut then remaining / 2 end)::int);
    offers := offers || found;
    remaining := remaining - memory._shown_tokens(found);
  end if;
  recalled := array[]::memory._recalled[];
  if rounds.seqs is not null then
    kept := memory._shown_before(p_asking, fitted.oldest_seq, request, fitted.oldest_seq);
    if request = rounds.seqs[1] and not p_asking.explains and memory._is_kept(p_asking, request, most) then
      recalled := memory._shown_before(p_asking, request, request + 1, fitted.oldest_seq); -- as before in this round
    end if;
  end if;
  if cardinality(recalled) = 0 and recalls and remaining > 0 then
    made := memory._recall_candidates(
      p_asking, fitted.oldest_seq, request, array(select k.thread_id || '/' || k.seq from unnest(kept) as k),
      -- What stays recalled must leave the thread room to grow.
      case when request is null or not is_cached or not (settings ->> 'keep_recalled')::boolean then remaining
        else least(remaining, floor(unstepped * memory._share(settings ->> 'recall_share'))::int) end
        - memory._fence_tokens());
    why_nothing := made.why_not;
    recalled := memory._without_said(made.candidates, nullif(concat_ws(e'\n', (
        select m.content from memory.messages as m
        where m.user_id = p_asking.user_id and m.thread_id = p_asking.thread_id and m.seq = request), (
        select string_agg(o.content, e'\n' order by o.place)
        from unnest(offers || summaries) as o
        where o.source = 'cross_session' or o.place = any (fitted.places))), ''));
  elsif cardinality(recalled) = 0 and recalls then
    why_nothing := 'no tokens are left';
  end if;
  if why_nothing is not null or p_asking.explains and p_asking.why_no_recall is not null then
    offers := offers || memory._left_out('recalled', coalesce(p_asking.why_no_recall, why_nothing), 0);
  end if;
  if are_more or memory_tokens > 0 and not fitted.is_cut then -- what recall leaves
    memory_tokens := greatest(memory_tokens, case when are_more then remaining / 2 end, remaining - (
      select memory._recall_tokens(coalesce(sum(c.token_count), 0), count(distinct c.said_on))
      from unnest(recalled) as c where c.why_not is null));
  end if;
  memory_tokens := least(memory_tokens, remaining);
  if memory_tokens > 0 or not is_cached then
    asked := memory._memory_offers(
      p_asking, case when is_cached then 'asked' else 'all' end, 9,
      max_memories - (select count(*) from unnest(standing) as o where o.why_not is null)::int,
      memory_tokens - empty_fence, true,
      array(select o.id::uuid from unnest(standing) as o where o.why_not is null));
  end if;
  twice := memory._said_twice(
    p_asking.user_id, standing || asked, memory._that_fit(recalled, remaining - memory_tokens));
  -- No other memory takes the place of one that the messages say, because they use its tokens.
  found := memory._memories_part(array(
    select memory._unless(o, case when o.id = any (twice.memories) then 'the recalled messages say it'
      else o.why_not end)
    from unnest(asked) as o));
  offers := offers || found;
  remaining := remaining - memory._shown_tokens(found);
  for place in 1 .. cardinality(recalled) loop
    if (recalled[place]).thread_id || '/' || (recalled[place]).seq = any (twice.messages) then
      recalled[place].why_not := coalesce((recalled[place]).why_not, 'a memory says it');
    end if;
  end loop;
  recalled := memory._that_fit(recalled, remaining);
  found := memory._recalled_part(10, 0, recalled);
  remaining := remaining - memory._shown_tokens(found);
  offers := offers || found || array(
    select memory._left_out('recalled', c.why_not, c.token_count, c.thread_id || '/' || c.seq)
    from unnest(recalled) as c where c.why_not is not null);
  recalled := array(select c from unnest(recalled) as c where c.why_not is null);

  if place > 1 and since > remaining then -- The calls since the request need tokens of the thread.
    remaining := remaining + fitted.tokens + (units[1]).tokens - (thread.units[1]).tokens;
    if remaining < 0 then
      made := memory._fitted(p_asking, p_max_tokens, p_for_thread, p_history, false);
      offers := made.offers;
      request := made.request;
      from_seq := made.from_seq;
      recalled := made.recalled;
      return;
    end if;
    fitted := memory._fit_thread(
      thread.units, thread.is_more, summaries, replaces_covered, remaining, remaining, step);
    remaining := remaining - fitted.tokens;
  end if;
  from_seq := fitted.oldest_seq;
  found := array(
    select memory._unless(s, case
      when s.place = any (fitted.places) then null
      when s.token_count > remaining + fitted.tokens
        and (replaces_covered or (s.metadata ->> 'start_seq')::bigint < from_seq) then 'does not fit'
      else 'messages of the thread, or the other summary, say it' end)
    from unnest(summaries) as s);
  offers := offers || found;
  if exists (select from unnest(found) as o where o.why_not = 'does not fit') then
    perform memory._does_not_fit('the thread summary does not', 'context.max_tokens');
  end if;
  for round in select distinct k.of_hit from unnest(kept) as k where k.of_hit >= from_seq loop
    offers := offers
      || memory._recalled_part(8, round, array(select k from unnest(kept) as k where k.of_hit = round));
  end loop;
  offers := offers || memory._message_offers(
    p_asking, thread.message_seqs, thread.message_tokens, from_seq, thread.beginning, request, (
      select max((s.metadata ->> 'end_seq')::bigint) from unnest(summaries) as s where s.place = any (fitted.places)));
  offers := offers || memory._placeholder_offer(p_asking, offers, p_max_tokens);
  if exists (select from unnest(offers) as o where o.source = 'memories' and o.why_not = 'does not fit')
    and not exists (select from unnest(offers) as o where o.source = 'memories' and o.why_not is null)
    and twice.memories = '{}' then
    perform memory._does_not_fit('no memories', 'context.memories_share');
  end if;
end;
$$;

create or replace function memory._does_not_fit(p_what text, p_setting text)
returns void
language plpgsql stable parallel safe
as $$
begin
  raise notice 'degraded: % fit into max_tokens', p_what
    using errcode = '01AM6', hint = format('Raise max_tokens, or the policy''s %s.', p_setting);
end;
$$;

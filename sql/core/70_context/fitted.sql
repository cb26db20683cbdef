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
-- what is recalled for the question (null: what was kept of it), and most the tokens that all of that keeps to.
create or replace function memory._fitted(
  p_asking memory._asking, p_max_tokens int, p_for_thread int, p_history memory._offer[],
  p_as_asked boolean default true,
  out offers memory._offer[], out request bigint, out from_seq bigint, out recalled memory._recalled[], out most int
)
language plpgsql stable parallel unsafe
as $$
declare
  settings constant jsonb := p_asking.policy -> 'context';
  is_cached constant boolean := p_asking.layout = 'cached';
  crosses constant boolean := (p_asking.policy #>> '{knowledge_base,enable_cross_session_context}')::boolean;
  recalls constant boolean :=
    p_asking.why_no_recall is null and num_nonnulls(p_asking.query, p_asking.target) > 0;
  replaces_covered constant boolean := p_asking.policy #>> '{summary,when}' = 'each_round';
  step constant double precision := case when is_cached then memory._share(settings ->> 'window_step') else 0 end;
  rounds constant record := memory._shown_rounds(p_asking);
  named constant record := memory._named_artifacts(p_asking);
  summaries memory._offer[] := memory._summary_offers(p_asking);
  thread record; -- of memory._newest_units()
  place int; -- of the request among its units, while its round is open
  units memory._unit[]; -- those up to the request while its round is open, otherwise all
  since int := 0; -- the tokens of the round since the request
  fitted record; -- of memory._fit_thread()
  found memory._offer[]; -- of the functions that offer texts
  standing memory._offer[] := array[]::memory._offer[]; -- the memories that stand in every context
  are_more boolean := false; -- memories beside the standing ones
  kept memory._recalled[] := array[]::memory._recalled[]; -- what stays recalled before earlier messages
  again memory._recalled[] := array[]::memory._recalled[]; -- what was recalled for this question before
  asked record; -- of memory._asked_for()
  anew record; -- of this function
  round bigint;
  remaining int;
  shared int; -- the tokens of which each part gets a share
  recall_room int; -- the most that is recalled; what stays recalled must leave the thread room to grow
  memory_tokens int; -- of the memories that are not shown yet
  cross_tokens int := 0;
  artifact_tokens int := 0;
  for_question int; -- what the question asks for gets so many tokens beside a thread that is cut
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
  offers := p_history;
  remaining := remaining - memory._shown_tokens(p_history);
  if (summaries[1]).source = 'user_summary' then
    if (summaries[1]).token_count > remaining then
      summaries[1].why_not := 'does not fit';
      perform memory._does_not_fit('the user summary does not', 'context.max_tokens');
    end if;
    offers := offers || summaries[1];
    remaining := remaining - memory._shown_tokens(summaries[:1]);
    summaries := summaries[2:];
  end if;

  shared := greatest(least(remaining, most - p_for_thread), 0);
  if is_cached then
    if (settings ->> 'keep_recalled')::boolean then
      recall_room := floor(shared * memory._share(settings ->> 'recall_share'));
    end if;
    -- In steps of an eighth, so that another length of the question changes nothing of what stands before it.
    shared := shared - shared % greatest(most / 8, 1);
  end if;
  memory_tokens := floor(shared * memory._share(settings ->> 'memories_share'));
  if is_cached then
    standing := memory._memory_offers(
      p_asking, 'standing', 3, (settings ->> 'max_memories')::int, memory_tokens - memory._fence_tokens(), true);
    found := memory._memories_part(standing);
    offers := offers || found;
    remaining := remaining - memory._shown_tokens(found);
    are_more := memory_tokens > 0 and exists (select from unnest(standing) as o where o.why_not is not null);
    memory_tokens := 0;
  end if;
  if crosses then
    cross_tokens := floor(shared * memory._share(settings ->> 'cross_session_share'));
  end if;
  if named.keys is not null then
    artifact_tokens := floor(shared * memory._share(settings ->> 'artifacts_share'));
  end if;
  for_question := artifact_tokens + case when recalls or are_more then floor(
    shared * memory._share(settings ->> case when recalls then 'recall_share' else 'memories_share' end)) else 0 end;
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

  if named.keys is not null then
    found := memory._kept_texts(p_asking, named.keys, named.seqs, (thread.units[1]).oldest, remaining,
      greatest(least(remaining, artifact_tokens), case when not fitted.is_cut then remaining / 2 end));
    offers := offers || found;
    remaining := remaining - memory._shown_tokens(found);
  end if;
  if rounds.seqs is not null then
    kept := memory._shown_before(p_asking, fitted.oldest_seq, request, fitted.oldest_seq);
    if request = rounds.seqs[1] and rounds.same_query and rounds.max_tokens = most and not p_asking.explains then
      again := memory._shown_before(p_asking, request, request + 1, fitted.oldest_seq);
    end if;
  end if;
  asked := memory._asked_for(
    p_asking, remaining, case when request is not null then recall_room end,
    case when are_more then remaining / 2 when not is_cached then memory_tokens end,
    are_more or memory_tokens > 0 and not fitted.is_cut, standing, again, fitted.oldest_seq, request, kept,
    (select string_agg(o.content, e'\n' order by o.place) from unnest(offers || summaries) as o
     where o.source = 'cross_session' or o.place = any (fitted.places)));
  offers := offers || asked.offers;
  remaining := remaining - memory._shown_tokens(asked.offers);
  recalled := case when again = '{}' then asked.recalled end;

  if place > 1 and since > remaining then -- The calls since the request need tokens of the thread.
    remaining := remaining + fitted.tokens + (units[1]).tokens - (thread.units[1]).tokens;
    if remaining < 0 then
      anew := memory._fitted(p_asking, p_max_tokens, p_for_thread, p_history, false);
      offers := anew.offers;
      request := anew.request;
      from_seq := anew.from_seq;
      recalled := anew.recalled;
      return;
    end if;
    fitted := memory._fit_thread(
      thread.units, thread.is_more, summaries, replaces_covered, remaining, remaining, step);
    remaining := remaining - fitted.tokens;
  end if;
  from_seq := fitted.oldest_seq;
  for place in 1 .. cardinality(summaries) loop
    if (summaries[place]).place = any (fitted.places) then
      continue;
    elsif (summaries[place]).token_count > remaining + fitted.tokens
      and (replaces_covered or ((summaries[place]).metadata ->> 'start_seq')::bigint < from_seq) then
      summaries[place].why_not := 'does not fit';
      perform memory._does_not_fit('the thread summary does not', 'context.max_tokens');
    else
      summaries[place].why_not := 'messages of the thread, or the other summary, say it';
    end if;
  end loop;
  offers := offers || summaries;
  for round in select distinct k.of_hit from unnest(kept) as k where k.of_hit >= from_seq loop
    offers := offers
      || memory._recalled_part(8, round, array(select k from unnest(kept) as k where k.of_hit = round));
  end loop;
  offers := offers || memory._message_offers(
    p_asking, thread.message_seqs, thread.message_tokens, from_seq, thread.beginning, request, (
      select max((s.metadata ->> 'end_seq')::bigint) from unnest(summaries) as s where s.why_not is null));
  offers := offers || memory._placeholder_offer(p_asking, offers, p_max_tokens);
  if (select bool_or(o.why_not = 'does not fit') and not bool_or(
        o.why_not is null or o.why_not = 'the recalled messages say it')
      from unnest(offers) as o where o.source = 'memories') then
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

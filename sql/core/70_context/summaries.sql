-- The summaries in a context, and which part of the thread they leave to be shown.

-- The current summaries: of the user (place 2), of the whole thread (6), and of the thread's older messages, the
-- rolling summary (7). An agent gets no summary that was also made from messages of other agents.
create or replace function memory._summary_offers(p_asking memory._asking)
returns memory._offer[]
language plpgsql stable parallel safe
as $$
begin
  -- Most users have no summaries. A session takes 1.5 ms to look for the three kinds of them for the first time, 0.3 ms
  -- later.
  if not exists (select from memory.summaries as s where s.user_id = p_asking.user_id) then
    return array[]::memory._offer[];
  end if;
  return array(
    select row(
      k.place, 0, k.source, s.summary_id, 'system', c.content,
      -- token_count counts the tokens of the stored summary.
      case when s.token_count is not null and strpos(c.content, s.summary) > 0
        then s.token_count + memory._fence_tokens() else memory._tokens_at_most(c.content) end,
      jsonb_strip_nulls(jsonb_build_object(
        'summary_id', s.summary_id, 'start_seq', s.start_seq, 'end_seq', s.end_seq)), null, null, null)::memory._offer
    from (values
      (2, '', 'user', 'user_summary'), (6, p_asking.thread_id, 'thread', 'thread_summary'),
      (7, p_asking.thread_id, 'rolling', 'thread_summary')
    ) as k (place, thread_id, kind, source)
    cross join lateral memory._latest_summary(p_asking.user_id, k.thread_id, k.kind) as s
    cross join lateral (
      select memory._fenced(memory._heading_of(k.kind) || e'\n' || memory._paragraph(s.summary)) as content
      offset 0) as c
    where s.summary is not null and (p_asking.agent_id is null or s.agent_ids <@ array[p_asking.agent_id])
    order by k.place);
end;
$$;

-- The part of a thread that a context shows beside the thread's newest unit: the messages from oldest_seq on, and the
-- summaries at these places, within p_room tokens. p_units and p_is_more are the results of memory._newest_units(). A
-- summary only replaces messages that do not fit or are compressed; a summary with more than p_most tokens is left out.
-- The context shows all messages after the summaries, as far as p_most allows, because no other part has them. Under
-- summary.when "each_round" (p_replaces_covered) a summary always replaces the messages that it covers.
--
-- If the thread is cut, that is, messages are left out, its part begins with a message of the user, and with p_step the
-- beginning moves in steps, so that the provider of the model finds the same prompt in its cache: the part has at least
-- 1 - p_step of its tokens, and begins with the request between whose number and that of the next request the greatest
-- power of two lies. This request stays the first one until it no longer fits, or until a greater power is passed. So
-- nothing has to be remembered, and the beginning stays where a job counts tokens anew, or where other parts grow a
-- little. A boundary at multiples of cumulated tokens would move each time.
create or replace function memory._fit_thread(
  p_units memory._unit[], p_is_more boolean, p_summaries memory._offer[], p_replaces_covered boolean, p_most int,
  p_room int, p_step double precision,
  out oldest_seq bigint, out places int[], out tokens int, out is_cut boolean
)
language plpgsql immutable parallel safe
as $$
declare
  running constant int[] := array(select u.tokens from unnest(p_units) as u);
  fitting memory._offer[] := array[]::memory._offer[];
  summary memory._offer;
  summary_tokens int := 0;
  covered_seq bigint := -1;
  room int;
  units int;
  fewest int;
  since int; -- the units since the summaries
  uncovered int; -- with p_replaces_covered the number of units with messages that no summary covers
  shown int[]; -- the places of the summaries for which an attempt makes room
  needed_before bigint; -- summaries are needed for messages before this one
  end_seq bigint; -- the last message that the needed summaries cover
begin
  foreach summary in array p_summaries loop
    if summary_tokens + summary.token_count <= p_most then
      fitting := fitting || summary;
      summary_tokens := summary_tokens + summary.token_count;
      covered_seq := greatest(covered_seq, (summary.metadata ->> 'end_seq')::bigint);
    end if;
  end loop;
  if p_replaces_covered then
    uncovered := (select count(*) from unnest(p_units) as u where u.newest > covered_seq);
  end if;
  -- The first attempt uses no summaries. Each further attempt, two at most, adds the summaries of messages that did not
  -- fit.
  places := array[]::int[];
  for attempt in 1..3 loop
    shown := places;
    room := p_room;
    if shown <> '{}' then
      summary_tokens := (select sum(f.token_count) from unnest(fitting) as f where f.place = any (shown));
      room := greatest(room, least(p_most, summary_tokens + coalesce((
        select max(u.tokens) - running[1] from unnest(p_units) as u where u.newest > covered_seq), 0)))
        - summary_tokens;
    end if;
    -- Tokens go up and seqs go down, so the units that fit are the first ones.
    units := greatest(
      least(width_bucket(least(room + running[1]::bigint, 2147483647)::int, running), uncovered),
      least(cardinality(p_units), 1));
    is_cut := case
      when units = cardinality(p_units) then p_is_more
      else (p_units[units + 1]).newest > covered_seq or not p_replaces_covered end;
    if is_cut then
      fewest := greatest(1, width_bucket(
        least(running[1] + room * (1 - p_step), 2147483647)::int - 1, running) + 1);
      -- Nothing may fall between the summaries and the messages.
      since := (select count(*) from unnest(p_units) as u where u.newest > covered_seq and covered_seq >= 0);
      fewest := greatest(fewest, since);
      units := coalesce((
        select b.place
        from (
          select u.place, u.oldest # lag(u.oldest) over (order by u.place) as passed
          from unnest(p_units) with ordinality as u (oldest, newest, tokens, begins, place) where u.begins) as b
        where b.place between least(since, units) and units
        order by case when p_step > 0 then b.place >= least(fewest, units) end desc,
          case when p_step > 0 and b.place >= fewest then b.passed end desc nulls last, b.place desc
        limit 1), units);
    end if;
    oldest_seq := coalesce((p_units[units]).oldest, 9223372036854775807); -- a thread without messages
    tokens := coalesce(running[units] - running[1], 0);
    -- Beside the summary of the whole thread, the rolling summary is needed only for messages after those which that
    -- summary covers.
    needed_before := case when p_replaces_covered then covered_seq + 1 else oldest_seq end;
    end_seq := -1;
    foreach summary in array fitting loop
      if (summary.metadata ->> 'start_seq')::bigint < needed_before and end_seq + 1 < needed_before
        and (summary.metadata ->> 'end_seq')::bigint > end_seq then
        end_seq := (summary.metadata ->> 'end_seq')::bigint;
        -- A summary with as many tokens as the messages that do not fit would only displace as many tokens of other
        -- messages.
        if summary.place <> all (shown) and (
          p_replaces_covered or p_is_more or cardinality(p_units) = 0
          or (summary.metadata ->> 'start_seq')::bigint < (p_units[cardinality(p_units)]).oldest
          or running[cardinality(running)] - running[1] - p_room > summary.token_count)
        then
          places := places || summary.place;
        end if;
      end if;
    end loop;
    exit when places = shown;
  end loop;
  if places <> '{}' then
    tokens := tokens + (select sum(f.token_count) from unnest(fitting) as f where f.place = any (places));
  end if;
end;
$$;

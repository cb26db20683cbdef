-- The thread in a context: its newest messages, and summaries of the messages that the context does not show.

-- The current summaries as parts of a context: of the user (place 2), of the whole thread (6), and of the thread's
-- older messages, the rolling summary (7). An agent gets no summary that was also made from messages of other agents.
create or replace function memory._summary_parts(p_user_id text, p_thread_id text, p_agent_id text)
returns memory.context_part[]
language plpgsql stable parallel safe
as $$
begin
  -- Most users have no summaries. A session takes 1.5 ms to look for the three kinds of them for the first time, 0.3 ms
  -- later.
  if not exists (select from memory.summaries as s where s.user_id = p_user_id) then
    return array[]::memory.context_part[];
  end if;
  return array(
    select row(
      k.place, 'system', c.content, k.source,
      -- token_count counts the tokens of the stored summary.
      case when s.token_count is not null and strpos(c.content, s.summary) > 0
        then s.token_count + memory._fence_tokens(false) else memory._tokens_at_most(c.content) end,
      jsonb_strip_nulls(jsonb_build_object(
        'summary_id', s.summary_id, 'start_seq', s.start_seq, 'end_seq', s.end_seq)))::memory.context_part
    from (values
      (2, '', 'user', 'user_summary'), (6, p_thread_id, 'thread', 'thread_summary'),
      (7, p_thread_id, 'rolling', 'thread_summary')
    ) as k (place, thread_id, kind, source)
    cross join lateral memory._latest_summary(p_user_id, k.thread_id, k.kind) as s
    cross join lateral (
      select memory._fenced(memory._heading_of(k.kind) || e'\n' || memory._paragraph(s.summary)) as content
      offset 0) as c
    where s.summary is not null and (p_agent_id is null or s.agent_ids <@ array[p_agent_id])
    order by k.place);
end;
$$;

-- The part of a thread that a context shows within p_room tokens beside the thread's newest unit: the messages from
-- oldest_seq on, and the summaries at these places. p_oldest, p_newest, p_tokens and p_is_more are the results of
-- memory._newest_units(). A summary only replaces messages that do not fit or are compressed; a summary with more than
-- p_most tokens is left out. The context shows all messages after the summaries, as far as p_most allows, because no
-- other part has them. Under summary.when "each_round" (p_replaces_covered) a summary always replaces the messages that
-- it covers. tokens: the tokens of the room that the thread takes. If the thread is cut, that is, messages are left
-- out, it takes all of them.
create or replace function memory._fit_thread(
  p_oldest bigint[], p_newest bigint[], p_tokens int[], p_is_more boolean, p_summaries memory.context_part[],
  p_replaces_covered boolean, p_most int, p_room int,
  out oldest_seq bigint, out places int[], out tokens int, out is_cut boolean
)
language plpgsql immutable parallel safe
as $$
declare
  fitting memory.context_part[] := array[]::memory.context_part[];
  summary memory.context_part;
  summary_tokens int := 0;
  covered_seq bigint := -1;
  room int;
  units int;
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
    uncovered := (select count(*) from unnest(p_newest) as n where n > covered_seq);
  end if;
  -- The first attempt uses no summaries. Each further attempt, two at most, adds the summaries of messages that did not
  -- fit.
  places := array[]::int[];
  for attempt in 1..3 loop
    shown := places;
    room := p_room;
    if shown <> '{}' then
      summary_tokens := (select sum(f.token_count) from unnest(fitting) as f where f.ordinal = any (shown));
      room := greatest(room, least(p_most, summary_tokens + coalesce((
        select max(u.tokens) - p_tokens[1] from unnest(p_newest, p_tokens) as u (newest, tokens)
        where u.newest > covered_seq), 0))) - summary_tokens;
    end if;
    -- p_tokens goes up and p_newest goes down, so the units that fit are the first ones.
    units := greatest(
      least(width_bucket(least(room + p_tokens[1]::bigint, 2147483647)::int, p_tokens), uncovered),
      least(cardinality(p_oldest), 1));
    oldest_seq := coalesce(p_oldest[units], 9223372036854775807); -- a thread without messages
    tokens := coalesce(p_tokens[units] - p_tokens[1], 0);
    is_cut := case
      when units = cardinality(p_oldest) then p_is_more
      else p_newest[units + 1] > covered_seq or not p_replaces_covered end;
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
        if summary.ordinal <> all (shown) and (
          p_replaces_covered or p_is_more or cardinality(p_oldest) = 0
          or (summary.metadata ->> 'start_seq')::bigint < p_oldest[cardinality(p_oldest)]
          or p_tokens[cardinality(p_tokens)] - p_tokens[1] - p_room > summary.token_count)
        then
          places := places || summary.ordinal;
        end if;
      end if;
    end loop;
    exit when places = shown;
  end loop;
  if places <> '{}' then
    tokens := tokens + (select sum(f.token_count) from unnest(fitting) as f where f.ordinal = any (places));
  end if;
  if is_cut then
    tokens := greatest(tokens, p_room);
  end if;
end;
$$;

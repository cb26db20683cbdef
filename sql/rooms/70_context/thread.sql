-- The thread in a context: its newest messages, and summaries of the messages that the context does not show.

-- The current summaries of a thread, at places 5 (the whole thread) and 6 (its older messages, the rolling summary).
create or replace function memory._thread_summaries(p_user_id text, p_thread_id text, p_agent_id text)
returns memory.context_part[]
language plpgsql stable parallel safe
as $$
begin
  return array(
    select p
    from (values (5, 'thread'), (6, 'rolling')) as k (place, kind)
    cross join lateral memory._summary_for(p_user_id, p_thread_id, k.kind, p_agent_id) as s
    cross join lateral memory._summary_part(k.place, 'thread_summary', 'Summary of the conversation so far:', s) as p
    where p.token_count is not null
    order by k.place);
end;
$$;

-- The current summary of a kind. The result is null for an agent if messages of other agents are also in the summary.
create or replace function memory._summary_for(p_user_id text, p_thread_id text, p_kind text, p_agent_id text)
returns memory.summaries
language plpgsql stable parallel safe
as $$
declare
  summary memory.summaries := memory._latest_summary(p_user_id, p_thread_id, p_kind);
begin
  return case when p_agent_id is null or summary.agent_ids <@ array[p_agent_id] then summary end;
end;
$$;

-- A summary as a part of a context; null when the thread has no summary of this kind.
create or replace function memory._summary_part(
  p_place int, p_source text, p_heading text, p_summary memory.summaries
)
returns memory.context_part
language plpgsql stable parallel safe
as $$
declare
  content text;
begin
  if p_summary.summary is null then
    return null;
  end if;
  content := memory._fenced(p_heading || e'\n' || memory._paragraph(p_summary.summary));
  return row(
    p_place, 'system', content, p_source,
    -- token_count counts the tokens of the stored summary. The fence and the heading add 30 tokens.
    case when p_summary.token_count is not null and strpos(content, p_summary.summary) > 0
      then p_summary.token_count + 40 else memory._tokens_at_most(content) end,
    jsonb_strip_nulls(jsonb_build_object(
      'summary_id', p_summary.summary_id, 'start_seq', p_summary.start_seq,
      'end_seq', p_summary.end_seq)))::memory.context_part;
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
  shown int[]; -- the places of the summaries for which an attempt makes room
begin
  foreach summary in array p_summaries loop
    if summary_tokens + summary.token_count <= p_most then
      fitting := fitting || summary;
      summary_tokens := summary_tokens + summary.token_count;
      covered_seq := greatest(covered_seq, (summary.metadata ->> 'end_seq')::bigint);
    end if;
  end loop;
  -- The first attempt uses no summaries. Each further attempt, two at most, adds the summaries of messages that did not
  -- fit.
  places := array[]::int[];
  for attempt in 1..3 loop
    shown := places;
    room := p_room;
    if shown <> '{}' then
      summary_tokens := memory._tokens_of(array(select f from unnest(fitting) as f where f.ordinal = any (shown)));
      room := greatest(room, least(p_most, summary_tokens + coalesce((
        select max(u.tokens) - p_tokens[1] from unnest(p_newest, p_tokens) as u (newest, tokens)
        where u.newest > covered_seq), 0))) - summary_tokens;
    end if;
    units := greatest((
      select max(u.number)::int
      from unnest(p_newest, p_tokens) with ordinality as u (newest, tokens, number)
      where (u.newest > covered_seq or not p_replaces_covered) and u.tokens - p_tokens[1] <= room
    ), least(cardinality(p_oldest), 1));
    oldest_seq := coalesce(p_oldest[units], 9223372036854775807); -- a thread without messages
    tokens := coalesce(p_tokens[units] - p_tokens[1], 0);
    is_cut := case
      when units = cardinality(p_oldest) then p_is_more
      else p_newest[units + 1] > covered_seq or not p_replaces_covered end;
    places := shown || array(
      select n
      from unnest(memory._places_needed(
        fitting, case when p_replaces_covered then covered_seq + 1 else oldest_seq end)) as n
      join unnest(fitting) as f on f.ordinal = n
      -- A summary with as many tokens as the messages that do not fit would only displace as many tokens of other
      -- messages.
      where n <> all (shown) and (
        p_replaces_covered or p_is_more or (f.metadata ->> 'start_seq')::bigint < p_oldest[cardinality(p_oldest)]
        or cardinality(p_oldest) = 0 or p_tokens[cardinality(p_tokens)] - p_tokens[1] - p_room > f.token_count)
      order by n);
    exit when places = shown;
  end loop;
  tokens := tokens + memory._tokens_of(array(select f from unnest(fitting) as f where f.ordinal = any (places)));
  if is_cut then
    tokens := greatest(tokens, p_room);
  end if;
end;
$$;

-- The places of the summaries that cover messages before p_oldest_seq. Beside the summary of the whole thread, the
-- rolling summary is needed only for messages after the messages which that summary covers.
create or replace function memory._places_needed(p_summaries memory.context_part[], p_oldest_seq bigint)
returns int[]
language plpgsql immutable parallel safe
as $$
declare
  summary memory.context_part;
  end_seq bigint := -1;
  places int[] := array[]::int[];
begin
  foreach summary in array p_summaries loop
    if (summary.metadata ->> 'start_seq')::bigint < p_oldest_seq and end_seq + 1 < p_oldest_seq
      and (summary.metadata ->> 'end_seq')::bigint > end_seq then
      places := places || summary.ordinal;
      end_seq := (summary.metadata ->> 'end_seq')::bigint;
    end if;
  end loop;
  return places;
end;
$$;

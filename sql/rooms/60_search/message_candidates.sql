-- needs pgvector on the search_path

-- Chooses the messages that enter the ranking when a user has too many messages to rank all of them: the messages whose
-- embeddings are nearest to the query's embedding, the messages with rare words of the query, and the neighbours of
-- both in their threads. The statement in memory._ranked() ranks the chosen messages as it ranks all messages of a user
-- with fewer.

-- The messages to rank, for a user with more than p_above messages. The result is null when the search ranks all
-- messages, because memory.sweep() has not yet filled the keys of messages that were stored before an upgrade. The
-- newest messages whose words are not parsed yet enter the ranking; memory._unkeyed_messages() limits their number.
-- With 1,100,000 messages of one user, 100,000 of them not parsed, a search that ranked all unparsed messages took
-- 77 s; with the limit it takes 2.6 s.
create or replace function memory._message_candidates(
  p_user_id text, p_agent_id text, p_words text[], p_model text, p_target halfvec, p_fusion text, p_above int,
  p_row_limit int, p_filters memory._search_filters
)
returns memory._message_candidates
language plpgsql stable parallel safe
as $$
declare
  -- The number of messages that each arm chooses; each of two arms finds half of p_row_limit. The neighbours of each
  -- arm's best 45 messages are added, and the neighbours at a distance of two of the best 15. Among 5,882 conversation
  -- turns this choice keeps 98 % of the best ten, and the share of evidence among the ten stays the same (192
  -- questions). Twice as many neighbours at a distance of two keep 99 % and take a fifth longer.
  wanted int := 40 + case when p_fusion in ('score', 'rrf') then p_row_limit / 2 else p_row_limit end;
  around_one constant int := case when p_fusion in ('score', 'keyword') then 45 else 0 end;
  around_two constant int := least(around_one, 15);
  compares_words constant boolean := p_fusion <> 'vector' and p_words is not null;
  unkeyed memory._message_candidates;
  few memory._message_candidates;
  nearest memory._message_candidates;
  worded memory._message_candidates;
begin
  if p_fusion <> 'keyword' and exists (
    select from memory.embeddings as e
    where e.user_id = p_user_id and e.model = p_model and e.source = 'message' and e.code is null) then
    return null;
  end if;
  few := memory._few_messages(p_user_id, p_agent_id, p_filters, p_above);
  if p_filters.thread_id is not null and cardinality(few.seqs) <= p_above then
    return few; -- the whole thread with its parsed and unparsed messages
  end if;
  -- A search by words, and a filter on the agent or on metadata, need messages with keys.
  if compares_words or p_agent_id is not null or p_filters.filter is not null then
    unkeyed := memory._unkeyed_messages(p_user_id, p_filters);
    if unkeyed.texts > 0 then
      if memory._were_parsed_without_keys(p_user_id) then
        return null;
      end if;
      if compares_words then
        raise notice
          'degraded: about % older messages are not parsed yet, so they are not found by their words', unkeyed.texts
          using errcode = '01AM7', hint = 'A worker or memory.sweep() parses them.';
      end if;
    end if;
  end if;
  if cardinality(few.seqs) <= p_above then
    -- The index has no other messages with keys. Messages without keys may pass the filters as well, so the search
    -- looks for the nearest of them.
    if unkeyed.texts > 0 and p_fusion <> 'keyword' then
      nearest := memory._nearest_messages(p_user_id, p_agent_id, p_model, p_target, p_row_limit, p_filters);
    end if;
    return (
      select row(coalesce(array_agg(c.thread_id), '{}'), coalesce(array_agg(c.seq), '{}'), null, null, null,
                 null)::memory._message_candidates
      from (
        select * from unnest(few.thread_ids, few.seqs)
        union
        select * from unnest(unkeyed.thread_ids, unkeyed.seqs)
        union
        select * from unnest(nearest.thread_ids, nearest.seqs)) as c (thread_id, seq));
  end if;

  if p_fusion <> 'vector' then
    worded := memory._worded_messages(
      p_user_id, p_agent_id, coalesce(p_words, '{}'), p_model, p_target, wanted, p_filters);
  end if;
  if p_fusion <> 'keyword' then
    -- Where few messages have a word of the query, the nearest messages fill the remaining places.
    wanted := greatest(wanted, p_row_limit - coalesce(cardinality(worded.seqs), 0));
    nearest := memory._nearest_messages(p_user_id, p_agent_id, p_model, p_target, wanted, p_filters);
    -- This seldom happens: the caller wants many results, and both arms have chosen the same messages.
    if wanted < p_row_limit and cardinality(nearest.seqs) = wanted
      and p_row_limit > (select count(*) from (select * from unnest(nearest.thread_ids, nearest.seqs)
                                               union select * from unnest(worded.thread_ids, worded.seqs)) as c) then
      nearest := memory._nearest_messages(p_user_id, p_agent_id, p_model, p_target, p_row_limit, p_filters);
    end if;
  end if;
  return (
    -- texts counts the parsed messages, the ranked messages without keys, and the messages that are left out.
    select row(coalesce(array_agg(c.thread_id), '{}'), coalesce(array_agg(c.seq), '{}'),
               coalesce(worded.texts, 0) + coalesce(cardinality(unkeyed.seqs), 0) + coalesce(unkeyed.texts, 0),
               worded.frequencies, worded.lowest, worded.deviation)::memory._message_candidates
    from (
      select n.thread_id, n.seq + o.step as seq
      from (select * from unnest(nearest.thread_ids, nearest.seqs) with ordinality
            union all
            select * from unnest(worded.thread_ids, worded.seqs) with ordinality) as n (thread_id, seq, place)
      cross join unnest(
        case when n.place <= around_two then '{-2,-1,0,1,2}'::int[]
             when n.place <= around_one then '{-1,0,1}' else '{0}' end
      ) as o (step)
      union
      select * from unnest(unkeyed.thread_ids, unkeyed.seqs)
    ) as c);
end;
$$;

-- The messages that messages_search_keys_idx does not have yet: the newest 1,000 of the threads that a search may see.
-- texts estimates how many older messages are left out. The function reads the newest 1,000 messages of each thread,
-- beginning with the threads that were written to last, and 4,000 messages in all. A search by words among 60,000
-- messages took 24 ms, and 333 ms when it also parsed 3,000 short messages; 1,000 messages take a third of that.
create or replace function memory._unkeyed_messages(p_user_id text, p_filters memory._search_filters)
returns memory._message_candidates
language plpgsql stable parallel safe
as $$
declare
  wanted constant int := 1000;
begin
  return (
    with threads as materialized (
      select t.thread_id, t.last_at, coalesce(k.position, -1) as position,
        t.next_seq - 1 - coalesce(k.position, -1) as unmarked
      from memory.threads as t
      left join memory.marks as k on k.user_id = p_user_id and k.scope = t.thread_id and k.kind = 'words'
      where t.user_id = p_user_id and t.settled_at is null and t.next_seq > coalesce(k.position, -1) + 1
        and (p_filters.thread_id is null or t.thread_id = p_filters.thread_id)
        and (p_filters.exclude_thread_id is null or t.thread_id <> p_filters.exclude_thread_id)
    ), read as materialized (
      select m.*
      from (select t.* from threads as t order by t.last_at desc, t.thread_id offset 0) as t
      cross join lateral (
        select m.thread_id, m.seq, m.created_at,
          m.search_keys is null and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at) as is_unkeyed
        from memory.messages as m
        where m.user_id = p_user_id and m.thread_id = t.thread_id and m.seq > t.position
        order by m.seq desc limit wanted
      ) as m
      limit 4 * wanted
    ), newest as (
      select r.thread_id, r.seq from read as r where r.is_unkeyed order by r.created_at desc, r.seq desc limit wanted
    )
    select row(array_agg(n.thread_id), array_agg(n.seq),
               (select sum(t.unmarked)::bigint from threads as t) - (select count(*) from read)
                 + (select greatest(count(*) - wanted, 0) from read as r where r.is_unkeyed),
               null, null, null)::memory._message_candidates
    from newest as n);
end;
$$;

-- Whether a version without keys has parsed messages of the user. The first message after the watermark of a thread
-- shows this. The function looks at the 1,000 threads that were written to longest ago, because 10,000 threads took 110
-- to 220 ms.
create or replace function memory._were_parsed_without_keys(p_user_id text)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return exists (
    select
    from (
      select t.thread_id, coalesce(k.position, -1) as position
      from memory.threads as t
      left join memory.marks as k on k.user_id = p_user_id and k.scope = t.thread_id and k.kind = 'words'
      where t.user_id = p_user_id and t.settled_at is null and t.next_seq > coalesce(k.position, -1) + 1
      order by t.last_at limit 1000
    ) as t
    cross join lateral (
      select m.search_vector is not null and m.search_keys is null as lacks_keys
      from memory.messages as m
      where m.user_id = p_user_id and m.thread_id = t.thread_id and m.seq > t.position
      order by m.seq limit 1
    ) as m
    where m.lacks_keys);
end;
$$;

-- The messages of a thread, of an agent, or with plain values in their metadata, at most p_limit + 1; null when the
-- search asks neither for a thread nor for an agent nor for metadata.
create or replace function memory._few_messages(
  p_user_id text, p_agent_id text, p_filters memory._search_filters, p_limit int
)
returns memory._message_candidates
language plpgsql stable parallel safe
set enable_bitmapscan = on -- for the index of search_keys
as $$
declare
  keys constant int[] := array(select memory._value_keys(p_user_id, p_filters.filter, p_agent_id));
begin
  if p_filters.thread_id is not null then
    return (
      select row(coalesce(array_agg(f.thread_id), '{}'), coalesce(array_agg(f.seq), '{}'), null, null, null,
                 null)::memory._message_candidates
      from (select m.thread_id, m.seq from memory.messages as m
            where m.user_id = p_user_id and m.thread_id = p_filters.thread_id limit p_limit + 1) as f);
  elsif keys <> '{}' then
    return (
      select row(coalesce(array_agg(f.thread_id), '{}'), coalesce(array_agg(f.seq), '{}'), null, null, null,
                 null)::memory._message_candidates
      from (
        select m.thread_id, m.seq
        from (
          select m.* from memory.messages as m
          where m.search_keys @> keys
          offset 0 -- so that the scan has no condition on the user, for which the planner would take another index
        ) as m
        where m.user_id = p_user_id and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
          and memory._message_passes(m.thread_id, m.agent_id, m.created_at, m.metadata, p_agent_id, p_filters)
        limit p_limit + 1) as f);
  end if;
  return null;
end;
$$;

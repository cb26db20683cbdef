-- needs pgvector on the search_path

-- The messages with most words of the query, weighed as memory._ranked() weighs words. A word that many messages have
-- says little about each of them and takes long to read, so the function only compares messages with one of the rarest
-- words, and of a user with more than 10,000 messages also those with two of the other words. A sample of the user's
-- messages shows which words are rare. For the rarest words the function counts all messages that have them.
create or replace function memory._worded_messages(
  p_user_id text, p_agent_id text, p_words text[], p_model text, p_target halfvec, p_wanted int,
  p_filters memory._search_filters
)
returns memory._message_candidates
language plpgsql stable parallel safe
set enable_bitmapscan = on
as $$
declare
  unfiltered constant boolean := p_agent_id is null and p_filters is null;
  as_queries constant tsquery[] := array(select quote_literal(w.word)::tsquery from unnest(p_words) as w (word));
  keys constant int[] := array(select memory._word_key(p_user_id, w.word) from unnest(p_words) as w (word));
  total bigint;
  lowest double precision;
  deviation double precision;
  estimates bigint[];
  compared int[];
  ones int[]; -- the pairs of other words
  others int[];
  worded memory._message_candidates;
begin
  select s.texts, s.frequencies, s.lowest, s.deviation into total, estimates, lowest, deviation
  from memory._sampled_messages(p_user_id, as_queries, p_model, p_target) as s;
  if total > 10000 then -- a word that no sampled message has may be in one message or in thousands
    estimates := array(
      select case
        when w.estimate > 0 then w.estimate
        else (select count(*) from memory.messages as m where m.search_keys @> array[w.key]) end
      from unnest(keys, estimates) with ordinality as w (key, estimate, number)
      order by w.number);
  end if;
  -- The rarest words: the first one, and each further one while the words so far are in at most 1,000 messages plus a
  -- fiftieth of the corpus, or of 10,000 messages. In larger corpora pairs find as much in less time: of the ten
  -- results of ranking all 294,100 messages, a fiftieth and pairs both find 70 %, in 53 and 30 ms (2026-11).
  select array_agg(w.key) into compared
  from (
    select k.key, row_number() over rarest_first as place, sum(k.estimate) over rarest_first as messages
    from unnest(keys, estimates) as k (key, estimate)
    window rarest_first as (order by k.estimate, k.key rows unbounded preceding)
  ) as w
  where w.place = 1 or w.messages <= 1000 + least(total, 10000) / 50;
  if total > 10000 then
    -- The rarest pairs, at most 40, that about 1,000 messages have.
    select array_agg(p.one), array_agg(p.other) into ones, others
    from (
      select a.key as one, b.key as other, row_number() over rarest_first as place,
        sum(a.estimate * b.estimate / total) over rarest_first as messages
      from unnest(keys, estimates::double precision[]) as a (key, estimate)
      join unnest(keys, estimates::double precision[]) as b (key, estimate) on a.key < b.key
      where a.key <> all (compared) and b.key <> all (compared)
      window rarest_first as (order by a.estimate * b.estimate, a.key, b.key rows unbounded preceding)
    ) as p
    where p.place <= 40 and p.messages <= 1000;
  end if;

  with found as materialized (
    select row_number() over () as place, m.thread_id, m.seq, m.search_vector
    from (
      select m.* from memory.messages as m where m.search_keys && compared
      union all
      select m.* from memory.messages as m
      where m.ctid = any (array(
          select f.ctid
          from unnest(ones, others) as p (one, other)
          cross join lateral (
            select h.ctid from memory.messages as h where h.search_keys @> array[p.one, p.other] offset 0) as f))
        and not m.search_keys && compared
      offset 0
    ) as m
    where m.user_id = p_user_id and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
      and (unfiltered
        or memory._message_passes(m.thread_id, m.agent_id, m.created_at, m.metadata, p_agent_id, p_filters))
  ), corpus as materialized (
    -- total is an estimate. texts is at least the number of found messages, because a word in more messages than texts
    -- would get a negative weight.
    select greatest(total, count(*)) as texts from found as f
  ), matches as materialized (
    select f.place, w.number, memory._word_weight(f.search_vector, w.as_query) as weight
    from found as f cross join unnest(as_queries) with ordinality as w (as_query, number)
    where f.search_vector @@ w.as_query
  ), weights as materialized (
    select w.number, case when w.key = any (compared) then coalesce(c.found, 0) else w.estimate end as frequency
    from unnest(keys, estimates) with ordinality as w (key, estimate, number)
    left join (select m.number, count(*) as found from matches as m group by m.number) as c on c.number = w.number
  ), best as (
    select f.thread_id, f.seq, k.score
    from (select m.place, sum(memory._idf(c.texts, w.frequency) * m.weight) as score
          from matches as m join weights as w on w.number = m.number cross join corpus as c
          group by m.place
          order by score desc limit p_wanted) as k
    join found as f on f.place = k.place
  )
  select (select array_agg(b.thread_id order by b.score desc, b.thread_id, b.seq) from best as b),
    (select array_agg(b.seq order by b.score desc, b.thread_id, b.seq) from best as b),
    (select c.texts from corpus as c),
    (select array_agg(w.frequency order by w.number) from weights as w), lowest, deviation
  into worded;
  return worded;
end;
$$;

-- Estimates from a sample of 100 messages, taken evenly from all stored messages of a user: the number of messages
-- (texts), the number of messages with each word (frequencies), the lowest similarity of a message to p_target, and the
-- standard deviation of these similarities. A sample of 200 finds as much: of 384 questions about 5,882 turns of one
-- user, 76.7 % of the evidence is among the first ten results with either sample, and also when all turns are ranked.
create or replace function memory._sampled_messages(
  p_user_id text, p_as_queries tsquery[], p_model text, p_target halfvec,
  out texts bigint, out frequencies bigint[], out lowest double precision, out deviation double precision
)
language plpgsql stable parallel safe
set enable_bitmapscan = off -- the index that gives the threads in order, and not all marks of the user sorted
set jit = off
as $$
declare
  wanted constant int := 100;
  vectors tsvector[];
  similarities double precision[];
  stored bigint;
  sampled bigint;
begin
  with threads as materialized (
    select h.thread_id, h.share, t.first_seq, t.next_seq - t.first_seq as messages
    from (
      -- The threads with parsed messages, at most 300 of them: those with the lowest hashes, which makes them a random
      -- sample. The share of all hashes that is below the 301st one is the share of all threads that is in the sample,
      -- to 6 % (standard deviation). To number all threads took 20 of 96 ms of a user with 6,000.
      select f.thread_id, row_number() over (order by f.hash) as place,
        case when count(*) over () > 300 then (max(f.hash) over () + 2 ^ 63) / 2 ^ 64 else 1 end as share
      from (
        select k.scope as thread_id, hashtextextended(k.scope, 0) as hash
        from memory.marks as k
        where k.user_id = p_user_id and k.kind || '' = 'words' -- as the index says
        order by hashtextextended(k.scope, 0) limit 301) as f
    ) as h
    cross join lateral (
      select t.next_seq, case when t.message_count < t.next_seq then (
        select min(m.seq) from memory.messages as m where m.user_id = p_user_id and m.thread_id = t.thread_id
      ) else 0 end as first_seq
      from memory.threads as t
      where t.user_id = p_user_id and t.thread_id = h.thread_id
      offset 0
    ) as t
    where h.place <= 300 and t.next_seq > t.first_seq
  ), counted as materialized (
    select t.*, sum(t.messages) over (order by t.thread_id rows unbounded preceding)::bigint as through,
      sum(t.messages) over ()::bigint as stored
    from threads as t
  ), places as materialized (
    select p.place, t.thread_id, (t.stored / t.share)::bigint as stored,
      t.first_seq + (p.place * t.stored + wanted - 1) / wanted - (t.through - t.messages) - 1 as seq
    from counted as t
    cross join lateral generate_series(
      (t.through - t.messages) * wanted / t.stored + 1, t.through * wanted / t.stored) as p (place)
  ), sample as materialized (
    select p.place, p.stored, m.*
    from places as p
    left join lateral (
      select m.thread_id, m.seq, m.search_vector from memory.messages as m
      where m.user_id = p_user_id and m.thread_id = p.thread_id and m.seq = p.seq
        and m.search_vector is not null and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
      offset 0
    ) as m on true
  )
  select max(s.stored), count(s.seq), array_agg(s.search_vector) filter (where s.seq is not null),
    array_agg((
      select memory._cosine_similarity(e.embedding, p_target)
      from memory.embeddings as e
      where e.user_id = p_user_id and e.model = p_model and e.source = 'message'
        and e.id = s.thread_id || '/' || s.seq and memory._dimensions(e.embedding) = memory._dimensions(p_target)))
  into stored, sampled, vectors, similarities
  from sample as s;
  texts := coalesce(stored * sampled / wanted, 0); -- null where none of the sampled threads has messages
  select array_agg(w.found * texts / greatest(sampled, 1) order by w.number) into frequencies
  from (select w.number, (select count(*) from unnest(vectors) as v (vector) where v.vector @@ w.as_query) as found
        from unnest(p_as_queries) with ordinality as w (as_query, number)) as w;
  select stddev_pop(s.similarity) into deviation from unnest(similarities) as s (similarity);
  -- The estimate assumes that the similarities below their mean are normally distributed. The factor 0.83 fits
  -- conversations: of 5,882 turns the estimate is off by 5 % of the span of similarities (200 questions, a hundred
  -- similarities each), and the lowest similarity of the sample itself by 10 %.
  select m.mean - 0.83 * sqrt(2 * ln(greatest(texts, 2))) * sqrt(avg(power(s.similarity - m.mean, 2)))
  into lowest
  from (select avg(s.similarity) as mean from unnest(similarities) as s (similarity)) as m
  join unnest(similarities) as s (similarity) on s.similarity <= m.mean
  group by m.mean;
end;
$$;

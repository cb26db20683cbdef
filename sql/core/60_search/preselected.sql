-- needs pgvector on the search_path

-- Chooses the messages that enter the ranking when a user has too many to rank all of them: those nearest to the query
-- by meaning, those with rare words of the query, and the neighbours of both in their threads. memory._candidates()
-- then reads the chosen messages as it reads all messages of a user with fewer.
create or replace function memory._preselected(
  p_user_id text, p_agent_id text, p_words text[], p_model text, p_target halfvec, p_fusion text, p_above int,
  p_row_limit int, p_filters memory._search_filters,
  out ids text[], out texts bigint, out frequencies bigint[], out lowest double precision
)
language plpgsql stable parallel safe
as $$
declare
  -- How many messages the choice by meaning and the choice by words each take: 40, and p_row_limit more, or half of
  -- p_row_limit more if there are both choices. Of each choice, the best 45 messages bring the messages beside them in
  -- the thread, and the best 15 also those at a distance of two. The choices keep 98 % of the best ten of 5,882
  -- conversation turns.
  wanted int := 40 + case when p_fusion in ('score', 'rrf') then p_row_limit / 2 else p_row_limit end;
  around_one constant int := case when p_fusion in ('score', 'keyword') then 45 else 0 end;
  around_two constant int := least(around_one, 15);
  passing constant text[] := case when p_filters.filter is not null
    then array(select p from memory._message_passing(p_user_id, p_filters) as p) end;
  sample record;
  nearest text[];
  worded text[];
begin
  if p_filters.thread_id is not null then
    ids := array(
      select m.thread_id || '/' || m.seq from memory.messages as m
      where m.user_id = p_user_id and m.thread_id = p_filters.thread_id limit p_above + 1);
    if cardinality(ids) <= p_above then
      return;
    end if;
  end if;
  sample := memory._sample(p_user_id, p_words, p_model, p_target, p_above);
  texts := sample.messages;
  lowest := sample.lowest;
  if p_fusion <> 'vector' then
    select w.ids, w.frequencies into worded, frequencies
    from memory._worded(p_user_id, p_agent_id, coalesce(p_words, '{}'), sample.frequencies, sample.messages,
                        wanted, p_filters, passing) as w;
  end if;
  if p_fusion <> 'keyword' then
    -- At least as many as the caller wants results, because few messages may have a word of the query, and these may be
    -- the nearest ones, too.
    nearest := memory._nearest(
      p_user_id, p_agent_id, p_model, p_target, greatest(wanted, p_row_limit), p_filters, passing);
  end if;
  ids := array(
    select memory._thread_of(n.id) || '/' || memory._seq_of(n.id) + o.step
    from (select * from unnest(nearest) with ordinality
          union all
          select * from unnest(worded) with ordinality) as n (id, place)
    cross join unnest(
      case when n.place <= around_two then '{-2,-1,0,1,2}'::int[]
           when n.place <= around_one then '{-1,0,1}' else '{0}' end) as o (step)
    group by 1);
end;
$$;

-- Estimates from some 200 messages, a few of each of at most 200 threads: how many messages the user has (at least
-- p_least), how many messages have each word of the query, and the lowest similarity of a message to p_target. The
-- threads are those whose ids have the lowest hashes, which makes them a random sample. The hash that follows the
-- sample shows which share of all threads is in the sample, to 7 % (standard deviation). The estimate of the similarity
-- assumes that the similarities below their mean are normally distributed, with a factor (0.83) that fits
-- conversations.
create or replace function memory._sample(
  p_user_id text, p_words text[], p_model text, p_target halfvec, p_least bigint,
  out messages bigint, out frequencies bigint[], out lowest double precision
)
language plpgsql stable parallel safe
as $$
declare
  vectors tsvector[];
  similarities double precision[];
  sampled bigint;
begin
  with threads as materialized (
    select h.thread_id, h.share, t.next_seq, 1 + 200 / count(*) over () as taken
    from (
      select f.thread_id, row_number() over (order by f.hash) as place,
        case when count(*) over () > 200 then (max(f.hash) over () + 2 ^ 63) / 2 ^ 64 else 1 end as share
      from (
        select k.scope as thread_id, hashtextextended(k.scope, 0) as hash
        from memory.marks as k
        where k.user_id = p_user_id and k.kind || '' = 'words' -- as in the index
        order by hashtextextended(k.scope, 0) limit 201) as f) as h
    cross join lateral (
      select t.next_seq from memory.threads as t
      where t.user_id = p_user_id and t.thread_id = h.thread_id offset 0) as t
    where h.place <= 200 and t.next_seq > 0
  )
  select (select greatest((sum(t.next_seq) / max(t.share))::bigint, p_least) from threads as t),
    count(*), array_agg(s.words), array_agg(memory._cosine_similarity(s.embedding, p_target))
  into messages, sampled, vectors, similarities
  from threads as t
  cross join lateral generate_series(t.next_seq / 2, t.next_seq / 2 + t.taken) as n (seq) -- the first may be greetings
  cross join lateral (
    select x.words, case when x.model = p_model then x.embedding end as embedding
    from memory.texts as x
    where x.user_id = p_user_id and x.source = 'message' and x.id = t.thread_id || '/' || n.seq offset 0) as s;
  frequencies := array(
    select (select count(*) from unnest(vectors) as v (words) where v.words @@ quote_literal(w.word)::tsquery)
      * messages / greatest(sampled, 1)
    from unnest(p_words) with ordinality as w (word, n) order by w.n);
  select m.mean - 0.83 * sqrt(2 * ln(greatest(messages, 2))) * sqrt(avg(power(s.similarity - m.mean, 2)))
  into lowest
  from (select avg(s.similarity) as mean from unnest(similarities) as s (similarity)) as m
  join unnest(similarities) as s (similarity) on s.similarity <= m.mean
  group by m.mean;
end;
$$;

-- The messages nearest to the query by meaning. The function first compares the binary codes of all messages that pass
-- the filters, from texts_codes_idx alone. Then it compares the embeddings of the 200 messages with the nearest codes,
-- or of 50 more than the caller wants if that is more. Of the nearest ten of 5,882 conversation turns, 99.7 % are among
-- the 190 messages with the nearest codes.
create or replace function memory._nearest(
  p_user_id text, p_agent_id text, p_model text, p_target halfvec, p_wanted int, p_filters memory._search_filters,
  p_passing text[]
)
returns text[]
language plpgsql stable parallel safe
as $$
declare
  is_free constant boolean := p_agent_id is null and p_filters is null;
  target_code constant bit varying := memory._code(p_target);
  compared constant int := greatest(200, 50 + p_wanted);
  ids text[];
begin
  ids := array(
    select e.id
    from memory.texts as e
    where e.user_id = p_user_id and e.model = p_model and e.code is not null
      and e.created_at >= coalesce(p_filters.created_after, '-infinity') -- as the index is sorted
      and e.created_at <= least(p_filters.created_before, p_filters.as_of, 'infinity')
      and e.valid_until > statement_timestamp()
      and (is_free or memory._is_asked_for('message', e.thread_id, e.agent_id, e.created_at, p_agent_id, p_filters)
             and (p_passing is null or e.id in (select p from unnest(p_passing) as p)))
    order by memory._bits_apart(e.code, target_code)
    limit compared);
  return array(
    select n.id
    from (
      select i.id, e.similarity
      from unnest(ids) as i (id)
      cross join lateral (
        select memory._cosine_similarity(t.embedding, p_target) as similarity from memory.texts as t
        where t.user_id = p_user_id and t.source = 'message' and t.id = i.id and t.model = p_model offset 0) as e
      union all -- another model is the active one, so these have no codes
      select b.id, memory._cosine_similarity(b.embedding, p_target)
      from memory.embeddings as b
      where b.user_id = p_user_id and b.model = p_model and b.source = 'message'
        and (p_passing is null or b.id in (select p from unnest(p_passing) as p))) as n
    order by n.similarity desc, n.id
    limit p_wanted);
end;
$$;

-- The messages with most words of the query. Words are weighed as memory._ranked() weighs them. A word that many
-- messages have says little about each of them and takes long to read. So the function compares only messages with one
-- of the rarest words, and of a user with more than 10,000 messages also messages with certain pairs of the other
-- words. frequencies says how many messages have each word: the function counts those with the rarest words, and
-- estimates the others (p_estimates).
create or replace function memory._worded(
  p_user_id text, p_agent_id text, p_words text[], p_estimates bigint[], p_messages bigint, p_wanted int,
  p_filters memory._search_filters, p_passing text[], out ids text[], out frequencies bigint[]
)
language plpgsql stable parallel safe
set enable_bitmapscan = on -- for texts_keys_idx
as $$
declare
  is_free constant boolean := p_agent_id is null and p_filters is null;
  as_queries constant tsquery[] := array(select quote_literal(w.word)::tsquery from unnest(p_words) as w (word));
  keys constant int[] := array(select memory._word_key(p_user_id, w.word) from unnest(p_words) as w (word));
  estimates bigint[];
  compared int[];
  ones int[]; -- the pairs of other words: a word from here, and its partner from others
  others int[];
begin
  -- A word that no message of the sample has may be in one message or in thousands, so the messages with the word are
  -- counted.
  estimates := array(
    select case
      when w.estimate > 0 then w.estimate
      else (select count(*) from memory.texts as t where t.keys @> array[w.key]) end
    from unnest(keys, p_estimates) with ordinality as w (key, estimate, n) order by w.n);
  -- The rarest words: the first one, and each further one while the words so far are in at most 1,000 messages plus a
  -- fiftieth of the messages (of 10,000 at most). For a user with more messages, pairs of words find as much in less
  -- time.
  select array_agg(w.key) into compared
  from (
    select k.key, row_number() over rarest_first as place, sum(k.estimate) over rarest_first as messages
    from unnest(keys, estimates) as k (key, estimate)
    window rarest_first as (order by k.estimate, k.key rows unbounded preceding)) as w
  where w.place = 1 or w.messages <= 1000 + least(p_messages, 10000) / 50;
  if p_messages > 10000 then
    -- The rarest pairs, at most 40, that about 1,000 messages have.
    select array_agg(p.one), array_agg(p.other) into ones, others
    from (
      select a.key as one, b.key as other, row_number() over rarest_first as place,
        sum(a.estimate * b.estimate / p_messages) over rarest_first as messages
      from unnest(keys, estimates::double precision[]) as a (key, estimate)
      join unnest(keys, estimates::double precision[]) as b (key, estimate) on a.key < b.key
      where a.key <> all (compared) and b.key <> all (compared)
      window rarest_first as (order by a.estimate * b.estimate, a.key, b.key rows unbounded preceding)) as p
    where p.place <= 40 and p.messages <= 1000;
  end if;

  with found as materialized (
    select t.id, t.words
    from (
      select t.* from memory.texts as t where t.keys && compared
      union all
      select t.* from memory.texts as t
      where t.ctid = any (array(
          select f.ctid
          from unnest(ones, others) as p (one, other)
          cross join lateral (
            select h.ctid from memory.texts as h where h.keys @> array[p.one, p.other] offset 0) as f))
        and not t.keys && compared
      offset 0 -- so that the scan has no condition on the user, for which the planner would take another index
    ) as t
    where t.user_id = p_user_id and t.valid_until > statement_timestamp()
      and (is_free or memory._is_asked_for('message', t.thread_id, t.agent_id, t.created_at, p_agent_id, p_filters)
             and (p_passing is null or t.id in (select p from unnest(p_passing) as p)))
  ), matches as materialized (
    select f.id, w.n, length(f.words) as lexemes
    from found as f cross join unnest(as_queries) with ordinality as w (as_query, n)
    where f.words @@ w.as_query
  ), weights as materialized (
    select w.n, case when w.key = any (compared) then coalesce(c.found, 0) else w.estimate end as frequency
    from unnest(keys, estimates) with ordinality as w (key, estimate, n)
    left join (select m.n, count(*) as found from matches as m group by m.n) as c on c.n = w.n
  ), best as (
    select m.id,
      {{weight words}} * sum(memory._idf(p_messages, w.frequency))
          / (select sum(memory._idf(p_messages, w.frequency)) from weights as w)
        + {{weight length}} * ln(1 + least(max(m.lexemes), 100)) as score
    from matches as m join weights as w on w.n = m.n
    group by m.id
    order by score desc, m.id limit p_wanted
  )
  select (select array_agg(b.id order by b.score desc, b.id) from best as b),
    (select array_agg(w.frequency order by w.n) from weights as w)
  into ids, frequencies;
end;
$$;

-- needs pgvector on the search_path

-- A memory and a message from which the memory was drawn say the same, so a search returns both as one result. This
-- concerns only texts of the user, because a search reads no messages of spaces. The text with the better rank is the
-- result; the explanation of that result names the other text in source_messages or memories. The next texts of the
-- ranking take the freed places.

-- The ranking of memory._ranked() with each such pair joined into one result. Only a search among memories and messages
-- of a user who has messages spends time on the joining. The function asks the ranking for twice as many texts as the
-- caller wants, and for four times as many if the joined results do not fill all places.
create or replace function memory._ranked_once(
  p_user_id text, p_agent_id text, p_query text, p_model text, p_target halfvec, p_mode text, p_settings jsonb,
  p_sources text[], p_row_limit int, p_filters memory._search_filters, p_min_score double precision, p_explain boolean,
  p_spaces text[], p_min_relevance real
)
returns setof memory.ranking
language plpgsql stable parallel unsafe
as $$
declare
  row_limit int := case
    when p_sources @> '{memory,message}' and exists (select from memory.messages as m where m.user_id = p_user_id)
      then 2 * p_row_limit
    else p_row_limit end;
  has_pairs boolean; -- whether there are memories and messages, so that there may be pairs
  is_whole boolean; -- whether the ranking has no more texts
  ranked memory.ranking[];
  stands_for int[]; -- by the rank of a text that is part of another result: the rank of that result
begin
  loop
    ranked := array(
      select r
      from memory._ranked(
        p_user_id => p_user_id, p_agent_id => p_agent_id, p_query => p_query, p_model => p_model, p_target => p_target,
        p_mode => p_mode, p_settings => p_settings, p_sources => p_sources, p_row_limit => row_limit,
        p_filters => p_filters, p_min_score => p_min_score, p_explain => p_explain, p_spaces => p_spaces,
        p_agent_of_spaces => p_agent_id, p_min_relevance => p_min_relevance) as r
      order by r.rank);
    is_whole := cardinality(ranked) < row_limit;
    ranked := memory._now_and_then(p_user_id, p_agent_id, p_query, ranked, p_filters, p_sources);
    has_pairs := '{memory,message}' <@ array(select r.source from unnest(ranked) as r);
    stands_for := case when has_pairs then memory._same_results(p_user_id, ranked, p_filters) end;
    exit when is_whole
      or row_limit - (select count(s) from unnest(stands_for) as s) >= p_row_limit;
    row_limit := 4 * row_limit;
  end loop;

  return query
  select row_number() over (order by r.rank), r.source, r.id, r.space, r.thread_id, r.number, r.created_at, r.score,
    coalesce(r.explanation, '{}')
      || case when p_spaces is null then '{}' else jsonb_build_object('space', memory._space_of(r.space)) end
      || case when r.rank = any (stands_for)
           then memory._parts_of_result(p_user_id, ranked, stands_for, r.rank, p_filters) else '{}' end,
    r.relevance
  from unnest(ranked) as r
  where stands_for[r.rank] is null
  order by r.rank
  limit p_row_limit;
end;
$$;

-- The ranked texts that are part of a better result, in the form of stands_for of memory._ranked_once(). A memory and a
-- message are one result if the memory names the message among its source_seqs or says the same words. A memory of more
-- than five messages is a summary of them and hides none of them.
create or replace function memory._same_results(
  p_user_id text, p_ranked memory.ranking[], p_filters memory._search_filters
)
returns int[]
language plpgsql stable parallel safe
as $$
declare
  stands_for int[] := array_fill(null::int, array[greatest(cardinality(p_ranked), 1)]);
  pair record;
begin
  for pair in
    with texts as materialized (
      select r.* from unnest(p_ranked) as r where r.source in ('memory', 'message') and r.space is null
    ), memories as materialized (
      select r.rank, m.thread_id, m.source_seqs, m.content_hash
      from texts as r
      cross join lateral (
        select v.thread_id, v.source_seqs, v.content_hash
        from memory.memories as v
        where v.user_id = p_user_id and v.memory_id = r.id::uuid
          and memory._is_shown(v, (p_filters).as_of, (p_filters).include_superseded)
        offset 0 -- so that each message is read by its key
      ) as m
      where r.source = 'memory'
    ), messages as materialized (
      select r.rank, r.thread_id, r.number, m.content_hash
      from texts as r
      cross join lateral (
        select case when octet_length(v.content) <= 2000 then memory._content_hash(v.content) end as content_hash
        from memory.messages as v
        where v.user_id = p_user_id and v.thread_id = r.thread_id and v.seq = r.number
        offset 0
      ) as m
      where r.source = 'message'
    )
    select greatest(e.rank, s.rank) as worse, least(e.rank, s.rank) as better
    from memories as e
    join messages as s on s.thread_id = e.thread_id and s.number = any (e.source_seqs)
    where cardinality(e.source_seqs) <= 5
    union
    select greatest(e.rank, s.rank), least(e.rank, s.rank)
    from memories as e
    join messages as s on s.content_hash = e.content_hash
    order by 1, 2
  loop
    -- Pairs come in the order of their worse texts, so the loop has already decided whether the better text is a
    -- result.
    if stands_for[pair.worse] is null and stands_for[pair.better] is null then
      stands_for[pair.worse] := pair.better;
    end if;
  end loop;
  return stands_for;
end;
$$;

-- The texts that are part of the result of this rank, best first: messages as source_messages, memories as memories.
create or replace function memory._parts_of_result(
  p_user_id text, p_ranked memory.ranking[], p_stands_for int[], p_rank bigint, p_filters memory._search_filters
)
returns jsonb
language plpgsql stable parallel unsafe
as $$
begin
  return jsonb_object_agg(p.name, p.parts)
  from (
    select case r.source when 'message' then 'source_messages' else 'memories' end as name,
      jsonb_agg(
        jsonb_build_object('id', x.id, 'content', x.content, 'score', r.score, 'valid_from', x.valid_from)
          || coalesce(r.explanation, '{}')
        order by r.rank) as parts
    from (
      -- At most twenty texts, because a thousand messages may say the same as one memory.
      select p.* from unnest(p_ranked) as p where p_stands_for[p.rank] = p_rank order by p.rank limit 20
    ) as r
    cross join lateral memory._search_row(p_user_id, r.source, r.id, r.thread_id, r.number, p_filters) as x
    where x.content is not null
    group by 1) as p;
end;
$$;

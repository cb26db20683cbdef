-- needs pgvector on the search_path

-- The texts of the sources that enter a ranking: those with a word of the query, and the p_kept most similar others of
-- each source; of the sources p_whole all texts with an embedding. texts, highest and lowest are about all texts that
-- the search may see; unparsed counts those whose words are not parsed yet. Each source has a statement of its own, so
-- that a session plans only those of the sources that it searches. These statements need the planner settings of
-- memory._ranked(), so only that function may call this function. They apply all filters, so no filter comes after a
-- limit. In chosen the messages of a thread stand next to each other, in their order. The row names each filter, so
-- that the planner puts its value into the conditions; the fields of p_filters itself would be looked up for every
-- text.
create or replace function memory._candidates(
  p_user_id text, p_agent_id text, p_sources text[], p_filters memory._search_filters, p_any_word tsquery,
  p_model text, p_target halfvec, p_preselected memory._message_candidates, p_whole text[], p_kept int,
  out chosen memory._candidate[], out texts bigint, out highest double precision, out lowest double precision,
  out unparsed bigint
)
language plpgsql stable parallel safe
as $$
declare
  unfiltered constant boolean := p_filters is null; -- also true for a row of nulls
  dims constant int := memory._dimensions(p_target);
  so_far record; -- the columns of the result
begin
  select null::memory._candidate[] as chosen, 0::bigint as texts, null::double precision as highest,
    null::double precision as lowest, 0::bigint as unparsed
  into so_far;
  {{each source:
  if '<source>' = any (p_sources) and ('<source>' <> 'message' or p_preselected.seqs is null) then
    select
      so_far.chosen || case
        when '<source>' <> all (p_whole) and cardinality(c.chosen) > p_kept
          then memory._most_similar(c.chosen, p_kept) else c.chosen end as chosen,
      so_far.texts + c.texts as texts, greatest(so_far.highest, c.highest) as highest,
      least(so_far.lowest, c.lowest) as lowest, so_far.unparsed + c.unparsed as unparsed
    into so_far
    from (
      select count(*) as texts, max(t.similarity) as highest, min(t.similarity) as lowest, count(t.content) as unparsed,
        array_agg(row(
            '<source>', t.id, t.thread_id, t.number, t.created_at, t.similarity, t.vector, t.content, t.metadata
          )::memory._candidate)
          filter (where num_nonnulls(t.similarity, t.vector, t.content) > 0) as chosen
      from (
        select t.*, e.similarity
        from (
          select v.id collate "C" as id, v.thread_id, v.number, v.created_at,
            case when v.vector @@ p_any_word then v.vector end as vector, v.content, v.metadata
          from memory._<source>_searchable(
            p_user_id, array['<source>'], p_agent_id,
            row(p_filters.thread_id, p_filters.exclude_thread_id, p_filters.memory_types, p_filters.tags_all,
                p_filters.tags_any, p_filters.exclude_tags, p_filters.filter, p_filters.min_confidence,
                p_filters.created_after, p_filters.created_before, p_filters.as_of, p_filters.include_superseded,
                p_filters.doc_types, p_filters.namespaces)::memory._search_filters,
            unfiltered, p_any_word is not null) as v
          where unfiltered
            or (p_filters.thread_id is null or v.thread_id = p_filters.thread_id)
              and (p_filters.exclude_thread_id is null or v.thread_id is distinct from p_filters.exclude_thread_id)
              and (p_filters.created_after is null or v.created_at > p_filters.created_after)
              and (p_filters.created_before is null or v.created_at < p_filters.created_before)
          offset 0 -- so that this subquery compares the words, and no vector without a match goes into the join
        ) as t
        left join (
          select e.id collate "C" as id, memory._cosine_similarity(e.embedding, p_target) as similarity
          from memory.embeddings as e
          where p_target is not null and e.user_id = p_user_id and e.model = p_model and e.source = '<source>'
            and memory._dimensions(e.embedding) = dims
        ) as e on e.id = t.id
        order by case '<source>' when 'message' then t.thread_id end, case '<source>' when 'message' then t.number end
      ) as t) as c;
  end if;}}

  if p_preselected.seqs is not null then
    select so_far.chosen || c.chosen as chosen,
      -- The number of all messages is an estimate.
      so_far.texts + greatest(c.texts, p_preselected.texts) as texts,
      greatest(so_far.highest, c.highest) as highest,
      least(so_far.lowest, c.lowest, p_preselected.lowest) as lowest, so_far.unparsed + c.unparsed as unparsed
    into so_far
    from (
      select count(*) as texts, max(t.similarity) as highest, min(t.similarity) as lowest, count(t.content) as unparsed,
        array_agg(row(
            'message', t.id, t.thread_id, t.seq, t.created_at, t.similarity, t.vector, t.content, t.metadata
          )::memory._candidate)
          filter (where num_nonnulls(t.similarity, t.vector, t.content) > 0) as chosen
      from (
        select m.thread_id || '/' || m.seq as id, m.thread_id, m.seq, m.created_at, e.similarity,
          case when m.search_vector @@ p_any_word then m.search_vector end as vector,
          case when m.search_vector is null and p_any_word is not null then m.content end as content,
          case when m.search_vector is null and p_any_word is not null then m.metadata end as metadata
        from unnest(p_preselected.thread_ids, p_preselected.seqs) as c (thread_id, seq)
        cross join lateral (
          select m.* from memory.messages as m
          where m.user_id = p_user_id and m.thread_id = c.thread_id and m.seq = c.seq
            and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
          offset 0 -- so that each message is looked up by its key
        ) as m
        left join lateral (
          select memory._cosine_similarity(e.embedding, p_target) as similarity
          from memory.embeddings as e
          where e.user_id = p_user_id and e.model = p_model and e.source = 'message'
            and e.id = c.thread_id || '/' || c.seq
            and memory._dimensions(e.embedding) = dims
          offset 0
        ) as e on true
        where unfiltered and p_agent_id is null
          or memory._message_passes(m.thread_id, m.agent_id, m.created_at, m.metadata, p_agent_id, p_filters)
        order by m.thread_id, m.seq
      ) as t) as c;
  end if;
  chosen := so_far.chosen;
  texts := so_far.texts;
  highest := so_far.highest;
  lowest := so_far.lowest;
  unparsed := so_far.unparsed;
end;
$$;

-- The candidates with a word of the query, and the p_kept most similar others.
create or replace function memory._most_similar(p_chosen memory._candidate[], p_kept int)
returns memory._candidate[]
language plpgsql stable parallel safe
as $$
begin
  return array(
    select c from unnest(p_chosen) as c where num_nonnulls(c.vector, c.content) > 0
    union all
    (select c
     from unnest(p_chosen) as c
     where num_nonnulls(c.vector, c.content) = 0
     order by c.similarity desc, c.created_at desc, c.id collate "C" limit p_kept));
end;
$$;

-- needs pgvector on the search_path

-- The messages nearest to the query by meaning. The function first compares the binary codes of all messages that pass
-- the filters, from embeddings_codes_idx alone. Then it compares the embeddings of the 200 messages with the nearest
-- codes, or of 50 more than the caller wants if that is more. Of the nearest ten of 5,882 conversation turns, 99.7 %
-- are among the 190 messages with the nearest codes and 99.9 % among 400 (all-MiniLM-L6-v2, 384 dimensions, 308
-- questions).
create or replace function memory._nearest_messages(
  p_user_id text, p_agent_id text, p_model text, p_target halfvec, p_wanted int, p_filters memory._search_filters
)
returns memory._message_candidates
language plpgsql stable parallel safe
as $$
declare
  unfiltered constant boolean := p_agent_id is null and p_filters is null;
  target_code constant bit varying := memory._code(p_target);
  dims constant int := memory._dimensions(p_target);
  compared int := greatest(200, 50 + p_wanted);
  read int := case when p_filters.filter is null then compared else 20 * compared end;
  is_all boolean;
  ids text[];
  thread_ids text[];
  seqs bigint[];
begin
  loop
    ids := array(
      select e.id
      from memory.embeddings as e
      where e.user_id = p_user_id and e.model = p_model and e.source = 'message' and e.code is not null
        and e.created_at >= coalesce(p_filters.created_after, '-infinity')
        and e.created_at <= least(p_filters.created_before, p_filters.as_of, 'infinity')
        and length(e.code) = dims
        and (unfiltered -- one test for each code instead of three
          or (p_agent_id is null or e.agent_id = p_agent_id)
            -- ^@ compares the beginning of an id first, because that takes a fifth of the time of memory._thread_of().
            and (p_filters.thread_id is null
                 or e.id ^@ (p_filters.thread_id || '/') and memory._thread_of(e.id) = p_filters.thread_id)
            and (p_filters.exclude_thread_id is null
                 or not e.id ^@ (p_filters.exclude_thread_id || '/')
                 or memory._thread_of(e.id) <> p_filters.exclude_thread_id))
      order by memory._bits_apart(e.code, target_code)
      limit read);
    is_all := cardinality(ids) < read;
    -- The index of the codes covers every filter except a filter on metadata. Of 100,000 messages, a tenth of which
    -- pass the filter, this branch takes a third of the time of comparing the embeddings of all messages first.
    if p_filters.filter is not null then
      ids := array(
        select i.id
        from unnest(ids) as i (id)
        cross join lateral (
          select m.thread_id, m.agent_id, m.created_at, m.metadata
          from memory.messages as m
          where m.user_id = p_user_id and m.thread_id = memory._thread_of(i.id) and m.seq = memory._seq_of(i.id)
          offset 0
        ) as m
        where memory._message_passes(m.thread_id, m.agent_id, m.created_at, m.metadata, p_agent_id, p_filters)
        limit compared);
    end if;
    select array_agg(n.thread_id), array_agg(n.seq) into thread_ids, seqs
    from (
      select m.thread_id, m.seq
      from (
        select i.id, e.similarity
        from unnest(ids) as i (id)
        cross join lateral (
          select memory._cosine_similarity(e.embedding, p_target) as similarity
          from memory.embeddings as e
          where e.user_id = p_user_id and e.model = p_model and e.source = 'message' and e.id = i.id
          offset 0
        ) as e
        order by e.similarity desc nulls last
        offset 0 -- so that only as many messages are looked up as the caller wants
      ) as e
      cross join lateral (
        select m.thread_id, m.seq, m.agent_id, m.created_at, m.metadata
        from memory.messages as m
        where m.user_id = p_user_id and m.thread_id = memory._thread_of(e.id) and m.seq = memory._seq_of(e.id)
          and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
        offset 0
      ) as m
      where unfiltered
        or memory._message_passes(m.thread_id, m.agent_id, m.created_at, m.metadata, p_agent_id, p_filters)
      limit p_wanted
    ) as n;
    exit when is_all or cardinality(seqs) = p_wanted;
    -- Most of the nearest messages have been cleared, or do not pass a filter on metadata.
    read := read * 20;
    compared := compared * 20;
  end loop;
  return row(thread_ids, seqs, null, null, null, null)::memory._message_candidates;
end;
$$;

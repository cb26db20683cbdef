-- needs pgvector on the search_path

-- The artifacts that a query needs, and the passages that say most about the query, without passages that score less
-- than half of the best. If no model can choose and all artifacts fit, all artifacts are relevant.
create or replace function memory._asked_about(
  p_user_id text, p_keys text[], p_query text, p_query_embedding vector, p_max_tokens int, p_fit boolean,
  out passages memory._passage[], out relevant text[]
)
language plpgsql volatile parallel unsafe
as $$
declare
  policy constant jsonb := memory._policy(p_user_id, null);
  judge memory.models; -- judges whether a query in words needs a text
  asking memory._asking;
  judged memory.search_result[];
begin
  relevant := p_keys;
  if p_query is not null and (policy #>> '{context,embed_query}')::boolean then -- a context may wait for a model
    judge := memory._rerank_model(policy);
    if judge.name is null then
      judge := memory._chosen_chat_model(null, policy -> 'agent');
      judge := case when judge.provider <> 'local' -- A local model finds facts in messages and answers no questions.
        then jsonb_populate_record(
          judge, jsonb_build_object('settings', judge.settings || jsonb '{"rerank_api": "chat"}')) end;
    end if;
  end if;
  if p_fit and judge.name is null and (memory._embedding_model()).name is null then
    return;
  end if;
  asking := memory._asking_of(p_user_id, null, null, p_query, p_query_embedding, policy);
  passages := array(
    select row(p.key, p.content_id, p.first_byte, p.end_byte, p.score)::memory._passage
    from (
      select a.*, max(a.score) over () as best
      from memory._passages_about(
        asking, p_keys, 10000,
        -- A passage has at least 20 tokens, and seldom fewer than 100 with the lines around it.
        least(12 + p_max_tokens / 100, 200)) as a) as p
    where p.score >= p.best / 2
    order by p.score desc);
  if judge.name is not null then
    -- The model gets the placeholder of each artifact and the passages that say most about the query, or else the
    -- beginning. If there are more than 50 artifacts, the model judges the 50 with the best passages.
    judged := array(
      select r from memory._rerank(p_user_id, null, judge, p_query, false, array(
        select row('artifact', a.key, a.thread_id, concat_ws(e'\n',
            memory._memory_ref(a.key, a.description, a.token_count),
            coalesce(s.said, memory._content_slice(p_user_id, a.content_id, 0, 2000))),
          null, null, null, '{}', null, null)::memory.search_result
        from (select k.key, max(p.score) as score
              from unnest(p_keys) as k (key) left join unnest(passages) as p on p.key = k.key
              group by k.key order by 2 desc nulls last, 1 limit 50) as k
        join memory._current_artifacts(p_user_id) as a on a.key = k.key
        left join memory._passages_shown(p_user_id, passages, 200) as s on s.key = k.key
        where not memory._is_held_back_artifact(p_user_id, k.key, memory._bytes_shown(passages, k.key, 200))
      )) as r);
    if judged = '{}' or (judged[1]).score is not null then
      -- Rerank models use the scale from 0 to 1 differently, so an artifact's score is also compared with the best one.
      relevant := array(
        select j.id from (select u.*, max(u.score) over () as best from unnest(judged) as u) as j
        where j.score >= 0.2 and j.score > j.best / 2);
      return;
    end if; -- The server does not ask a model, or the model does not answer.
  end if;
  relevant := memory._relevant_by_meaning(p_user_id, p_keys, asking.model, asking.target, passages);
end;
$$;

-- The artifacts that are relevant by their embeddings or their words. An artifact is relevant if one of its parts is
-- about as near to the query as the nearest part of all, or if it has a passage. An artifact without an embedding
-- counts as relevant; without an embedding of the query all artifacts do.
create or replace function memory._relevant_by_meaning(
  p_user_id text, p_keys text[], p_model text, p_target halfvec, p_passages memory._passage[]
)
returns text[]
language plpgsql stable parallel safe
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  if p_target is null then
    return p_keys;
  end if;
  return array(
    select n.key
    from (
      select k.key, s.similarity, max(s.similarity) over () as nearest
      from unnest(p_keys) as k (key)
      cross join lateral (
        select max(p.similarity) as similarity
        from memory._current_artifacts(p_user_id) as a
        cross join lateral memory._part_texts(p_user_id, a.key, a.content_id, p_model, p_target, null) as p
        where a.key between k.key and k.key) as s
    ) as n
    where n.similarity is null or n.similarity >= greatest(0.25, 0.6 * n.nearest)
      or exists (select from unnest(p_passages) as p where p.key = n.key and p.score >= 0.15));
end;
$$;

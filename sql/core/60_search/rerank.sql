-- Whether a policy asks for reranked results: the policy names a rerank model, as an agent's configuration file does.
create or replace function memory._reranks(p_policy jsonb)
returns boolean
language sql immutable parallel safe
begin atomic
  select num_nonnulls(p_policy #>> '{knowledge_base,rerank_provider}',
                      p_policy #>> '{knowledge_base,rerank_model}') > 0;
end;

-- The rerank model that the policy names, or else the active rerank model; null when neither exists.
create or replace function memory._rerank_model(p_policy jsonb)
returns memory.models
language plpgsql stable parallel safe
as $$
declare
  model memory.models := memory._named_model(
    'rerank', p_policy #>> '{knowledge_base,rerank_provider}', p_policy #>> '{knowledge_base,rerank_model}');
begin
  if model.name is null then
    select m.* into model from memory.models as m where m.kind = 'rerank' and m.is_active;
  end if;
  return model;
end;
$$;

-- The search results in the order of a rerank model. Without a model, over budget, or when the model fails, the results
-- keep their order and a notice says so.
create or replace function memory._rerank(
  p_user_id text, p_agent_id text, p_model memory.models, p_query text, p_explain boolean,
  p_results memory.search_result[]
)
returns setof memory.search_result
language plpgsql volatile parallel unsafe
as $$
declare
  reply jsonb;
begin
  if cardinality(p_results) = 0 then
    return;
  end if;
  begin
    if p_model.name is null then
      reply := '{"problem": "no rerank model is active"}';
    else
      perform memory._check_budget(
        p_user_id, p_agent_id, memory._model_json(p_model),
        (select sum(memory._estimate_tokens(left(f.content, 8000)))::int from unnest(p_results) as f), false);
      reply := memory._ask_model('rerank', p_user_id, p_agent_id, p_model, jsonb_build_object(
        'prompt', case p_model.settings ->> 'rerank_api' when 'chat' then memory._prompt('rerank') end,
        'query', left(p_query, 8000),
        'texts', (
          select jsonb_agg(jsonb_build_object('number', f.place, 'text', left(f.content, 8000)) order by f.place)
          from unnest(p_results) with ordinality
            as f (source, id, thread_id, content, score, metadata, created_at,
                details, valid_from, relevance, place))));
    end if;
  exception when sqlstate 'AM002' then
    reply := jsonb_build_object('problem', sqlerrm);
  end;
  if jsonb_array_length(reply -> 'scores') <> cardinality(p_results) then
    reply := '{"problem": "the reply has another number of scores than there are results"}';
  end if;
  if reply ? 'problem' then
    raise notice 'degraded: results are not reranked, %', reply ->> 'problem'
      using errcode = '01AM5', hint = 'Register and activate a rerank model that answers, or pass rerank => false.';
    return query select f.* from unnest(p_results) as f;
    return;
  end if;
  return query
  select f.source, f.id, f.thread_id, f.content, memory._real(s.score), f.metadata, f.created_at,
    case when p_explain
      then f.details || jsonb_build_object('rerank', jsonb_build_object(
        'rank', row_number() over (order by s.score desc, f.place), 'score', s.score, 'model', p_model.name))
      else f.details end,
    f.valid_from, f.relevance
  from unnest(p_results) with ordinality
    as f (source, id, thread_id, content, score, metadata, created_at, details, valid_from, relevance, place)
  join jsonb_to_recordset(reply -> 'scores') as s (number int, score double precision) on s.number = f.place
  order by s.score desc, f.place;
end;
$$;

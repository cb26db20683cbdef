-- needs pgvector on the search_path

-- A search gets the embedding of its query in three steps. One statement calls these steps and the ranking. The first
-- two steps and the ranking are stable functions. So they see the same models and embeddings, even if another session
-- activates or drops a model meanwhile.

-- Step 1, the model: for an embedding that the caller gives (p_given) a model whose embeddings are as long, or else the
-- active model; for a query the model that serves the user.
create or replace function memory._query_model(p_user_id text, p_query text, p_given vector)
returns memory.models
language plpgsql stable parallel safe
as $$
declare
  dims constant int := memory._dimensions(p_given);
begin
  return case
    when p_given is not null then
      (select m from memory.models as m
       where m.kind = 'embedding' and not m.is_off and (m.is_active or memory._known_dimensions(m) = dims)
       order by memory._known_dimensions(m) = dims desc nulls last, m.is_active desc, m.created_at desc limit 1)
    when p_query is not null then memory._serving_model(p_user_id) end;
end;
$$;

-- The model whose embeddings of this user a search compares. This is the active model, or, while a backfill of the
-- active model runs, another model with an embedding that the active model lacks. Every search compares with one model
-- only.
create or replace function memory._serving_model(p_user_id text)
returns memory.models
language plpgsql stable parallel safe
set enable_nestloop = off -- as in memory._unembedded(): without statistics a nested loop takes seconds
set enable_mergejoin = off
as $$
declare
  active memory.models := memory._embedding_model();
  ahead memory.models;
begin
  -- The function considers other models only while a backfill is open or has failed, because it then reads all texts of
  -- the user.
  if active.name is not null
    and exists (select from memory.models as m
                where m.kind = 'embedding' and m.name <> active.name and not m.is_off)
    and exists (select from memory.jobs as j
                where j.user_id = p_user_id and j.kind = 'backfill' and j.scope = ''
                  and j.status in ('pending', 'running', 'dead')) then
    select m.* into ahead
    from memory.models as m
    where m.kind = 'embedding' and m.name <> active.name and not m.is_off and exists (
      select from memory._embeddings_of(p_user_id, m.name) as t
      join memory.texts as v on v.user_id = p_user_id and v.source = t.source and v.id = t.id
        and v.valid_until > statement_timestamp()
      left join memory._embeddings_of(p_user_id, active.name) as a on a.source = t.source and a.id = t.id
      where a.id is null)
    order by (select count(*) from memory._embeddings_of(p_user_id, m.name)) desc, m.created_at
    limit 1;
  end if;
  return case when ahead.name is null then active else ahead end;
end;
$$;

-- Step 2, the known embedding: the given embedding, or an embedding kept from an earlier search. problem says why the
-- query can have no embedding.
create or replace function memory._query_embedding(
  p_user_id text, p_query text, p_given vector, p_model memory.models, out embedding halfvec, out problem text
)
language plpgsql stable parallel safe
as $$
begin
  if p_query is null and p_given is null then
    return;
  elsif p_model.name is null then
    problem := 'no embedding model is active';
  elsif p_given is not null and memory._known_dimensions(p_model) is null then
    problem := format('model "%s" has not embedded anything yet', p_model.name);
  elsif p_given is not null then
    embedding := memory._to_halfvec(p_given);
    if memory._dimensions(embedding) <> memory._known_dimensions(p_model) then
      perform memory._refuse('query_embedding',
        format('has %s dimensions, model "%s" has %s', memory._dimensions(embedding), p_model.name,
               memory._known_dimensions(p_model)),
        'Embed the query with that model.');
    elsif memory._norm(embedding) = 0 then
      perform memory._refuse('query_embedding', 'has no direction: all its numbers are 0',
        'Embed the query with the model that embedded the memories.');
    end if;
  else
    if not exists (select from memory._embeddings_of(p_user_id, p_model.name))
      and exists (select from memory.jobs as j
                  where j.user_id = p_user_id and j.kind in ('embed', 'backfill')
                    and j.status in ('pending', 'running', 'dead')) then
      problem := format('model "%s" has not embedded anything of this user yet', p_model.name);
      return;
    end if;
    select k.embedding into embedding
    from memory.query_embeddings as k
    where k.user_id = p_user_id and k.model = p_model.name and k.query_hash = memory._query_hash(p_model, p_query)
      and memory._dimensions(k.embedding)
        = coalesce(memory._known_dimensions(p_model), memory._dimensions(k.embedding));
  end if;
end;
$$;

-- The key of a kept embedding. The table keeps this hash and not the words of the query. Models embed a query without
-- its credentials, so the hash is made without them, too. The hash includes the registration of the model. If an
-- administrator registers another model under the same name, the new model never finds embeddings of the old one, so
-- the registration need not wait for transactions that keep embeddings.
create or replace function memory._query_hash(p_model memory.models, p_query text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return encode(sha256(convert_to(
    jsonb_build_array(p_model.model, p_model.settings ->> 'dimensions', p_model.settings ->> 'query_prefix',
                      p_model.settings -> 'input_type', p_model.settings -> 'request',
                      memory._without_credentials(p_query))::text, 'UTF8')), 'hex');
end;
$$;

-- Step 3, the model's answer: if step 2 found no embedding, the model embeds the query. Without an embedding the search
-- is by keyword (mode), and a notice says so. p_policy is the policy of a context, and null for a search. A context
-- neither asks a model nor raises the notice if its policy forbids to ask (context.embed_query), or if no model is
-- active, because each context would raise the notice. If the caller of the context gave an embedding (p_is_given), the
-- notice is raised all the same. A hybrid search for words in a script that the model does not read is by keyword,
-- because cosines say nothing there: with all-MiniLM-L6-v2 the ten best messages hold 29 % of the evidence of Chinese
-- questions, and 38 % by keyword (bench/results/languages.md).
create or replace function memory._query_target(
  p_user_id text, p_agent_id text, p_query text, p_policy jsonb, p_is_given boolean, p_model memory.models,
  p_known halfvec, p_problem text, inout mode text, out embedding halfvec
)
language plpgsql volatile parallel unsafe
as $$
declare
  compares_meaning boolean;
  is_waited_for boolean;
begin
  if mode = 'hybrid' and octet_length(p_query) > 1.5 * length(p_query)
    and not memory._reads_language(p_model.name, coalesce(memory._language_of_script(p_query), 'simple')) then
    mode := 'keyword';
    return;
  end if;
  embedding := p_known;
  if embedding is not null then
    return;
  end if;
  compares_meaning := p_policy is null or p_is_given
    or p_model.name is not null and (p_policy #>> '{context,embed_query}')::boolean;
  if p_problem is null and p_query is not null and compares_meaning then
    select c.embedding, c.problem into embedding, p_problem
    from memory._embed_query(p_user_id, p_agent_id, p_query, p_model) as c;
  end if;
  if embedding is null and mode = 'vector' and p_query is null then
    perform memory._refuse('query_embedding', p_problem,
      'Register and activate the embedding model that made it and let it embed the texts, or pass query with words.');
  elsif embedding is null and mode = 'vector' then
    perform memory._refuse('mode', p_problem,
      'Use mode keyword, or activate an embedding model that has embedded the texts and answers.');
  elsif embedding is null then
    if p_problem is not null and compares_meaning then
      is_waited_for := p_known is null and p_problem like 'model "%" has not embedded anything%';
      raise notice 'degraded: searching by keyword only, %', p_problem using
        errcode = case when p_model.name is null then '01AM1' when is_waited_for then '01AM3' else '01AM2' end,
        hint = case
          when p_model.name is null then memory._help_without_model() || '.'
          when is_waited_for
            then 'Run a worker or call memory.run_jobs(); memory.backfill_status() shows how far it is.'
          else format('It is model "%s" that was asked: see that it can be reached, or switch it off with '
                      'memory.deactivate_model().', p_model.name) end;
    end if;
    mode := 'keyword';
  end if;
end;
$$;

-- The embedding of a query from the model, within the budget. The function keeps the embedding unless the transaction
-- is read-only.
create or replace function memory._embed_query(
  p_user_id text, p_agent_id text, p_query text, p_model memory.models, out embedding halfvec, out problem text
)
language plpgsql volatile parallel unsafe
as $$
declare
  asked text := left(p_query, 24000);
  reply jsonb;
  dims int;
begin
  begin
    perform memory._check_budget(p_user_id, p_agent_id, memory._model_json(p_model), memory._estimate_tokens(asked),
                                 false);
  exception when sqlstate 'AM002' then
    problem := sqlerrm;
    return;
  end;
  reply := memory._ask_model('embed', p_user_id, p_agent_id, p_model, jsonb_build_object(
    'prompt', null, 'is_query', true,
    'texts', jsonb_build_array(jsonb_build_object('number', 1, 'text', asked))));
  problem := reply ->> 'problem';
  if problem is not null then
    return;
  end if;

  embedding := memory._halfvec(reply #> '{embeddings,0}');
  dims := memory._dimensions(embedding);
  if dims <> coalesce(memory._known_dimensions(p_model), dims) or dims > 4000 then
    problem := format('the reply of model "%s" has %s dimensions instead of %s', p_model.name, dims,
                      coalesce(memory._known_dimensions(p_model)::text, '4000 at most'));
    embedding := null;
  elsif memory._norm(embedding) = 0 then
    problem := format('the reply of model "%s" has no direction', p_model.name);
    embedding := null;
  elsif current_setting('transaction_read_only') = 'off' then
    perform memory._keep_query_embedding(p_user_id, p_model, p_query, _embed_query.embedding);
  end if;
end;
$$;

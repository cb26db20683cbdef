-- Functions that the kinds embed and backfill share.

-- The job for the model to embed these texts, as far as they are there and have no embedding of it: at most 256, or
-- about 60,000 tokens; a later job takes the rest. Without such a text the payload is null.
create or replace function memory._embedding_input(
  p_user_id text, p_sources text[], p_ids text[], p_model memory.models,
  out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql stable parallel safe
set enable_seqscan = off -- a session keeps its first plan, and the plan for small tables would read all texts
set jit = off
as $$
declare
  texts jsonb;
  rows_input jsonb;
begin
  select jsonb_agg(jsonb_build_object('number', n.number, 'text', n.text) order by n.number),
    jsonb_agg(jsonb_build_object('source', n.source, 'id', n.id, 'hash', md5(n.text)) order by n.number),
    max(n.tokens)
  into texts, rows_input, tokens
  from (
    select row_number() over so_far as number, sum(memory._estimate_tokens(w.text)) over so_far as tokens, w.*
    from (
      select t.*, row_number() over () as place
      from memory._embeddable_texts(p_user_id, p_sources, p_ids) as t
      where not exists ( -- as in memory._embed_input()
        select from memory.embeddings as e
        where e.user_id = p_user_id and e.model = p_model.name and e.source = t.source and e.id = t.id offset 0)
      limit 256) as w
    window so_far as (order by w.place)
  ) as n
  where n.number = 1 or n.tokens <= 60000;
  if texts is null then
    return;
  end if;
  agent_id := null; -- the texts belong to several agents, so only the user's budget pays
  payload := jsonb_build_object('model', memory._model_json(p_model), 'prompt', null, 'texts', texts);
  input := jsonb_build_object(
    'rows', rows_input, 'embedder', p_model.model, 'dimensions', p_model.settings -> 'dimensions');
end;
$$;

-- Stores the embeddings of texts that have not changed since they were handed out, and hides near-duplicates of
-- memories. The runners hand in "vectors", the texts of such arrays: to read their numbers one by one as JSON took a
-- third of the time of the job.
create or replace function memory._store_embeddings(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
set enable_seqscan = off -- as in memory._embedding_input()
set jit = off
set plan_cache_mode = force_generic_plan -- planning for the texts of a job took longer than finding them by their keys
as $$
declare
  model memory.models;
  form constant text := case when p_result ? 'vectors' then 'string' else 'array' end;
  embeddings constant jsonb := p_result -> case form when 'string' then 'vectors' else 'embeddings' end;
  expected constant int := jsonb_array_length(p_job.input -> 'rows');
  dims int;
  are_good boolean;
  sources text[];
  ids text[];
  folded int := 0;
begin
  if jsonb_typeof(embeddings) is distinct from 'array' or jsonb_array_length(embeddings) <> expected then
    perform memory._refuse_result('embeddings', format('must be an array of %s embeddings, one per text', expected));
  end if;
  select m.* into model from memory.models as m
  where m.name = p_job.input ->> 'model' and m.model = coalesce(p_job.input ->> 'embedder', m.model)
    and m.settings ->> 'dimensions' is not distinct from p_job.input ->> 'dimensions'
  for key share; -- so that nobody drops or replaces the model meanwhile
  if not found then
    return jsonb_build_object('skipped', 'the model was dropped or replaced meanwhile');
  end if;
  dims := coalesce(memory._known_dimensions(model), case when jsonb_typeof(embeddings -> 0) = form then
    case form when 'array' then jsonb_array_length(embeddings -> 0)
              else cardinality(string_to_array(embeddings ->> 0, ',')) end end);
  if model.dimensions is null then -- the first embedding of a model sets its dimensions
    update memory.models as m set dimensions = dims where m.name = model.name and m.dimensions is null;
    if not found
      and exists (select from memory.models as m where m.name = model.name and m.dimensions <> dims) then
      perform memory._refuse_result('embeddings',
        format('have %s dimensions, the first ones of the model have others', dims));
    end if;
  end if;

  perform memory._lock_embeddable(p_job);
  select array_agg(r ->> 'source'), array_agg(r ->> 'id') into sources, ids
  from jsonb_array_elements(p_job.input -> 'rows') as r;
  begin
    with vectors as materialized (
      select g.value ->> 'source' as source, g.value ->> 'id' as id, g.value ->> 'hash' as hash,
        memory._halfvec(g.embedding) as embedding, jsonb_typeof(g.embedding) = form as is_vector
      from rows from (jsonb_array_elements(p_job.input -> 'rows'), jsonb_array_elements(embeddings))
        as g (value, embedding)
    ), new_rows as (
      insert into memory.embeddings (user_id, model, source, id, embedding)
      select p_job.user_id, model.name, v.source, v.id, v.embedding
      from vectors as v
      join memory._embeddable_texts(p_job.user_id, sources, ids) as t
        on t.source = v.source and t.id = v.id and md5(t.text) = v.hash
      order by v.source, v.id
      on conflict do nothing
      returning source, id
    )
    select array_agg(n.source), array_agg(n.id), (
      select bool_and(v.is_vector and memory._dimensions(v.embedding) = dims
                      and memory._norm(v.embedding) > 0 and memory._norm(v.embedding) <= 65000)
      from vectors as v)
    into sources, ids, are_good from new_rows as n;
  exception
    when data_exception or integrity_constraint_violation or program_limit_exceeded then
      perform memory._check_embeddings(embeddings, form, dims); -- which says what is wrong
      raise;
  end;
  if are_good is not true or dims > 4000 then -- looking before took a third of the time of storing
    perform memory._check_embeddings(embeddings, form, dims);
  end if;
  if ids is not null and model.is_active then -- a text that has changed meanwhile keeps its entries
    delete from memory.texts_to_embed as l
    where l.ctid = any (array(
      select w.place
      from unnest(sources, ids) as g (source, id)
      cross join lateral ( -- each text by its key, and not all that wait
        select e.ctid as place from memory.texts_to_embed as e
        where e.user_id = p_job.user_id and e.source = g.source and e.id = g.id offset 0) as w));
    if 'memory' = any (sources) then
      folded := memory._fold_near_duplicates(p_job.user_id, model.name, array(
        select g.id::uuid from unnest(sources, ids) as g (source, id) where g.source = 'memory'));
    end if;
  end if;
  return jsonb_build_object('model', model.name, 'embedded', coalesce(cardinality(ids), 0), 'folded', folded);
end;
$$;

-- Refuses embeddings that are not arrays of p_dimensions numbers (or the texts of such arrays, where that is their
-- form), or whose numbers are all 0, because these have no cosine.
create or replace function memory._check_embeddings(p_embeddings jsonb, p_form text, p_dimensions int)
returns void
language plpgsql stable parallel safe
as $$
declare
  wrong bigint;
begin
  if (p_dimensions between 1 and 4000) is not true then
    perform memory._refuse_result('embeddings',
      format('have %s dimensions, 1 to 4000 are possible', coalesce(p_dimensions::text, 'no')));
  end if;
  if p_form = 'string' then
    begin
      p_embeddings := (
        select jsonb_agg(case jsonb_typeof(e.value) when 'string' then (e.value #>> '{}')::jsonb end
                         order by e.position)
        from jsonb_array_elements(p_embeddings) with ordinality as e (value, position));
    exception
      when data_exception then
        perform memory._refuse_result('vectors', 'have a text that is no array of numbers');
    end;
  end if;
  select e.position - 1 into wrong
  from jsonb_array_elements(p_embeddings) with ordinality as e (value, position)
  where case jsonb_typeof(e.value)
        when 'array' then jsonb_array_length(e.value) <> p_dimensions
          or jsonb_path_exists(e.value, 'strict $[*] ? (@.type() != "number" || @ > 65000 || @ < -65000)')
        else true end
  limit 1;
  if found then
    perform memory._refuse_result(format('embeddings[%s]', wrong),
      format('must be an array of %s numbers', p_dimensions));
  end if;
  select e.position - 1 into wrong
  from jsonb_array_elements(p_embeddings) with ordinality as e (value, position)
  -- 2^-25: halfvec stores this and every smaller number as 0.
  where not jsonb_path_exists(e.value, '$[*] ? (@ > 2.98023223876953125e-8 || @ < -2.98023223876953125e-8)')
  limit 1;
  if found then
    perform memory._refuse_result(format('embeddings[%s]', wrong), 'has no direction: all its numbers are 0');
  end if;
end;
$$;

-- Locks the rows whose texts were embedded, so that nobody deletes or changes one before the embeddings are stored:
-- such a transaction would not see the new embedding, which it must drop. The counters of agents and the job are waited
-- for, in the order that all writers keep. Then each source locks its rows and waits for none, because a transaction
-- that holds a row may wait for a lock of this job. The worker gets 55P03 and hands the result in again.
create or replace function memory._lock_embeddable(p_job memory.jobs)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  ids constant jsonb := (
    select jsonb_object_agg(r.source, r.ids)
    from (
      select r.value ->> 'source' as source, jsonb_agg(r.value -> 'id') as ids
      from jsonb_array_elements(p_job.input -> 'rows') as r group by 1) as r);
  memory_ids constant uuid[] := array(select jsonb_array_elements_text(ids -> 'memory')::uuid);
begin
  perform memory._lock_scopes_of(p_job.user_id, memory_ids);
  -- An update that changes nothing: it makes a transaction under repeatable read, which cannot see the new embeddings,
  -- fail with 40001.
  update memory.memory_scopes as s set memory_count = s.memory_count
  where s.user_id = p_job.user_id and s.agent_id in (
    select f.agent_id
    from unnest(memory_ids) as i (id) -- as in memory._lock_scopes_of()
    cross join lateral (
      select m.agent_id from memory.memories as m
      where m.user_id = p_job.user_id and m.memory_id = i.id offset 0) as f);
  perform from memory.jobs as j where j.user_id = p_job.user_id and j.job_id = p_job.job_id for update;
  {{each source:
  if ids ? '<source>' then
    perform memory._<source>_lock(p_job.user_id, array(select jsonb_array_elements_text(ids -> '<source>')));
  end if;}}
end;
$$;

-- Embeddings: what their jobs read, and how their results are stored. Anything without an embedding of the active model
-- is to be embedded, so that nothing needs to be remembered and a lost job loses nothing.

create or replace function memory._embedding_model()
returns memory.models
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return m from memory.models as m where m.kind = 'embedding' and m.is_active;
end;
$$;

-- How long its embeddings are: those it has made, or else those it is asked for. Inlined by the planner, hence no SET clause.
create or replace function memory._known_dimensions(model memory.models)
returns int
language sql immutable parallel safe
begin atomic
  select coalesce((model).dimensions, ((model).settings ->> 'dimensions')::numeric::int);
end;

-- Queues the embedding of a thread's messages, or of what a user has besides, where a model is there to do it.
create or replace function memory._enqueue_embedding(user_id text, scope text default '')
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from memory.models as m where m.kind = 'embedding' and m.is_active) then
    perform memory._enqueue_due(user_id, 'embed', scope);
  end if;
end;
$$;

-- Under all models: one that is being filled has embeddings too.
create or replace function memory._drop_embedding(user_id text, source text, id text)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from memory.embeddings as e
  where e.user_id = _drop_embedding.user_id and e.model = any (array(select m.name from memory.models as m where m.kind = 'embedding'))
    and e.source = _drop_embedding.source and e.id = _drop_embedding.id;
end;
$$;

-- An embedding knows of its memory what a search without filters asks, which then need not join the two.
create or replace function memory._embedding_before_insert()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may write need not have rights on memories
set search_path = pg_catalog, pg_temp
as $$
declare
  found_one memory.memories;
begin
  select m.* into found_one from memory.memories as m where m.user_id = new.user_id and m.memory_id = new.id::uuid
  for share; -- whoever is changing it would not see the embedding
  if found then -- else it keeps what it comes with, as from a copy that brings embeddings first
    new.agent_id := found_one.agent_id;
    new.created_at := found_one.created_at;
    new.valid_until := memory._valid_until(found_one);
  end if;
  return new;
end;
$$;

-- Keeps that true when a memory changes; under all models, as above.
create or replace function memory._update_embedding(changed memory.memories)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  update memory.embeddings as e set created_at = changed.created_at, valid_until = memory._valid_until(changed)
  where e.user_id = changed.user_id and e.model = any (array(select m.name from memory.models as m where m.kind = 'embedding'))
    and e.source = 'memory' and e.id = changed.memory_id::text;
end;
$$;

-- A message is found far better with its date and speaker than by its bare text. Models read 8,192 tokens, so this and all
-- other texts are cut at 24,000 characters.
create or replace function memory._embedded_text(said_at timestamptz, speaker text, content text)
returns text
language sql stable parallel safe
begin atomic
  -- Cut before as well: of 10 MiB that are stored compressed, only the beginning is then fetched.
  select left(format('[%s] %s: %s', to_char(said_at at time zone 'UTC', 'YYYY-MM-DD'), speaker, left(content, 24000)),
              24000);
end;

-- What a scope holds for search, as it is embedded: messages of one thread, everything else of a user (''), or all of a
-- user (null). Inlined by the planner, hence no SET clause.
create or replace function memory._embeddable(user_id text, scope text, from_seq bigint default 0, to_seq bigint default 9223372036854775807)
returns table (source text, id text, text text)
language sql stable parallel safe
begin atomic
  select 'message', m.thread_id || '/' || m.seq, memory._embedded_text(m.created_at, coalesce(m.metadata ->> 'name', m.role), m.content)
  from memory.messages as m
  where _embeddable.scope <> '' and m.user_id = _embeddable.user_id and m.thread_id = _embeddable.scope and m.seq between from_seq and to_seq
    and m.is_active and m.expires_at > statement_timestamp() and m.content <> ''
  union all
  select 'message', m.thread_id || '/' || m.seq, memory._embedded_text(m.created_at, coalesce(m.metadata ->> 'name', m.role), m.content)
  from memory.messages as m
  where _embeddable.scope is null and m.user_id = _embeddable.user_id and (memory._policy(_embeddable.user_id, null) #>> '{search,embed_messages}')::boolean
    and m.is_active and m.expires_at > statement_timestamp() and m.content <> ''
  union all
  select 'memory', m.memory_id::text, left(case when m.embedding_text ~ e'\\S' then m.embedding_text else m.content end, 24000)
  from memory._visible_memories(_embeddable.user_id, null, false) as m where coalesce(_embeddable.scope, '') = ''
  union all
  select 'summary', s.summary_id::text, left(s.summary, 24000)
  from memory._current_summaries(_embeddable.user_id, null) as s
  where coalesce(_embeddable.scope, '') = ''
  union all
  select 'document', d.document_id || '/' || c.number, left(concat_ws(e'\n', d.title, left(c.content, 24000)), 24000)
  from memory.documents as d join memory.document_chunks as c on c.user_id = d.user_id and c.document_id = d.document_id
  where coalesce(_embeddable.scope, '') = '' and d.user_id = _embeddable.user_id and c.user_id = _embeddable.user_id
    and c.token_count is not null -- not before it is cut
  union all
  select 'artifact', a.key, left(concat_ws(e'\n', a.description, left(a.content, 24000)), 24000)
  from memory._current_artifacts(_embeddable.user_id) as a where coalesce(_embeddable.scope, '') = '';
end;

-- Who may have any of it.
create or replace function memory._users_with_texts()
returns setof text
language sql stable parallel safe
begin atomic
  select t.user_id from memory.threads as t where t.message_count > 0
  union select s.user_id from memory.memory_scopes as s where s.memory_count > 0
  union select s.user_id from memory.summaries as s where s.status = 'completed'
  union select d.user_id from memory.documents as d
  union select a.user_id from memory.artifacts as a;
end;

create or replace function memory._has_unembedded(user_id text, scope text, model text)
returns boolean
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
set enable_nestloop = off -- hash joins it shall be: the planner takes thousands of texts for a few and would compare each with each
set enable_mergejoin = off
set jit = off -- a plan with what is forbidden counts as so dear that it would be compiled, which takes half a second
as $$
begin
  return exists (
    select from memory._embeddable(_has_unembedded.user_id, _has_unembedded.scope) as t
    where not exists (select from memory.embeddings as e
                      where e.user_id = _has_unembedded.user_id and e.model = _has_unembedded.model and e.source = t.source and e.id = t.id));
end;
$$;

-- The model that a job embeds for: the active one, or of a backfill the first that lacks something of this user.
create or replace function memory._model_to_fill(job memory.jobs)
returns memory.models
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if job.kind = 'embed' then
    return memory._embedding_model();
  end if;
  return (select m from memory.models as m where m.kind = 'embedding' and not m.is_off
    and memory._has_unembedded(job.user_id, null, m.name)
          order by m.is_active desc, m.created_at, m.name limit 1);
end;
$$;

-- At most 256 texts or about 60,000 tokens at a time; the rest follows in the next job.
create or replace function memory._embedding_input(job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
set enable_nestloop = off -- as in memory._has_unembedded()
set enable_mergejoin = off
set jit = off
as $$
declare
  model memory.models := memory._model_to_fill(job);
  texts jsonb;
  rows_input jsonb;
begin
  if model.name is null then
    return;
  end if;
  select jsonb_agg(jsonb_build_object('number', n.number, 'text', n.text) order by n.number),
    jsonb_agg(jsonb_build_object('source', n.source, 'id', n.id, 'hash', md5(n.text)) order by n.number), max(n.tokens)
  into texts, rows_input, tokens
  from (
    select row_number() over so_far as number, sum(memory._estimate_tokens(w.text)) over so_far as tokens, w.*
    from (select t.*, row_number() over () as place
          from memory._embeddable(job.user_id, memory._embedding_scope(job)) as t
          where not exists (select from memory.embeddings as e
                            where e.user_id = job.user_id and e.model = model.name and e.source = t.source and e.id = t.id)
          limit 256) as w
    window so_far as (order by w.place)
  ) as n
  where n.number = 1 or n.tokens <= 60000;
  if texts is null then
    return;
  end if;
  agent_id := null; -- of all agents
  payload := jsonb_build_object('model', memory._model_json(model), 'prompt', null, 'texts', texts);
  input := jsonb_build_object('rows', rows_input, 'embedder', model.model, 'dimensions', model.settings -> 'dimensions');
end;
$$;

create or replace function memory._embedding_scope(job memory.jobs)
returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return case job.kind when 'embed' then job.scope end;
end;
$$;

create or replace function memory._apply_embeddings(job memory.jobs, result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
set enable_nestloop = off -- as in memory._has_unembedded()
set enable_mergejoin = off
set jit = off
as $$
declare
  model memory.models;
  expected int := jsonb_array_length(job.input -> 'rows');
  dims int;
  wrong bigint;
  embedded int;
  stored text[];
  folded int := 0;
begin
  if jsonb_typeof(result -> 'embeddings') is distinct from 'array' or jsonb_array_length(result -> 'embeddings') <> expected then
    perform memory._refuse_result('embeddings', format('must be an array of %s embeddings, one per text', expected));
  end if;
  select m.* into model from memory.models as m
  where m.name = job.input ->> 'model' and m.model = coalesce(job.input ->> 'embedder', m.model)
    and m.settings ->> 'dimensions' is not distinct from job.input ->> 'dimensions'
  for key share; -- not while it is being dropped or becomes another
  if not found then
    return jsonb_build_object('skipped', 'the model was dropped or replaced meanwhile');
  end if;
  dims := coalesce(memory._known_dimensions(model),
                   case jsonb_typeof(result #> '{embeddings,0}') when 'array' then jsonb_array_length(result #> '{embeddings,0}') end);
  if (dims between 1 and 4000) is not true then
    perform memory._refuse_result('embeddings', format('have %s dimensions, 1 to 4000 are possible', coalesce(dims::text, 'no')));
  end if;
  select e.position - 1 into wrong
  from jsonb_array_elements(result -> 'embeddings') with ordinality as e (value, position)
  where case jsonb_typeof(e.value)
        when 'array' then jsonb_array_length(e.value) <> dims
          or jsonb_path_exists(e.value, 'strict $[*] ? (@.type() != "number" || @ > 65000 || @ < -65000)')
        else true end
  limit 1;
  if found then
    perform memory._refuse_result(format('embeddings[%s]', wrong), format('must be an array of %s numbers', dims));
  end if;
  select e.position - 1 into wrong
  from jsonb_array_elements(result -> 'embeddings') with ordinality as e (value, position)
  -- which 2-byte floats hold
  where not jsonb_path_exists(e.value, '$[*] ? (@ > 2.98023223876953125e-8 || @ < -2.98023223876953125e-8)')
  limit 1;
  if found then
    perform memory._refuse_result(format('embeddings[%s]', wrong), 'has no direction: all its numbers are 0');
  end if;
  if model.dimensions is null then -- the first embedding decides
    update memory.models as m set dimensions = dims where m.name = model.name and m.dimensions is null;
    if not found and exists (select from memory.models as m where m.name = model.name and m.dimensions <> dims) then
      perform memory._refuse_result('embeddings', format('have %s dimensions, the first ones of the model have others', dims));
    end if;
  end if;

  perform memory._lock_embeddable(job);
  -- Only where the text is still what was embedded.
  with given as (
    select r.value ->> 'source' as source, r.value ->> 'id' as id, r.value ->> 'hash' as hash, r.position
    from jsonb_array_elements(job.input -> 'rows') with ordinality as r (value, position)
  ), range as (
    select min(substring(g.id from '/([0-9]+)$')::bigint) as from_seq, max(substring(g.id from '/([0-9]+)$')::bigint) as to_seq
    from given as g where g.source = 'message'
  ), new_rows as (
    insert into memory.embeddings (user_id, model, source, id, embedding)
    select job.user_id, model.name, g.source, g.id, memory._halfvec(result -> 'embeddings' -> (g.position - 1)::int)
    from given as g
    join memory._embeddable(job.user_id, memory._embedding_scope(job), (select coalesce(r.from_seq, 0) from range as r), (select coalesce(r.to_seq, 0) from range as r)) as t
      on t.source = g.source and t.id = g.id
    where coalesce(md5(t.text) = g.hash, false) -- not as part of the join, which would hash every text there is
    order by g.source, g.id
    on conflict do nothing
    returning source, id
  )
  select count(*), array_agg(n.id) filter (where n.source = 'memory') into embedded, stored from new_rows as n;
  if stored is not null and model.is_active then
    folded := memory._fold_near_duplicates(job.user_id, model.name, stored::uuid[]);
  end if;
  if job.kind = 'embed' and exists (select from memory.models as m where m.kind = 'embedding' and not m.is_active
    and not m.is_off) then
    perform memory._enqueue_due(job.user_id, 'backfill', '');
  end if;
  return jsonb_build_object('model', model.name, 'embedded', embedded, 'folded', folded);
end;
$$;

-- What is being embedded can neither go nor change until this is over: whoever did it would not find the new embedding to
-- drop. Nothing is waited for, because whoever holds it may wait for something of this job: 55P03 hands the result in again.
create or replace function memory._lock_embeddable(job memory.jobs)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  ids jsonb := (select jsonb_object_agg(r.source, r.ids) from (
    select r.value ->> 'source' as source, jsonb_agg(r.value -> 'id') as ids from jsonb_array_elements(job.input -> 'rows') as r group by 1) as r);
  memory_ids constant uuid[] := array(select jsonb_array_elements_text(ids -> 'memory')::uuid);
begin
  perform memory._lock_scopes_of(job.user_id, memory_ids);
  -- As if they were changed: a transaction under repeatable read that cannot see the new embeddings has to begin again.
  update memory.memory_scopes as s set memory_count = s.memory_count
  where s.user_id = job.user_id
    and s.agent_id in (select m.agent_id from memory.memories as m where m.user_id = job.user_id and m.memory_id = any (memory_ids));
  -- A change by hand locks no scope, and would not find the embedding that has to know of it.
  perform from memory.memories as m where m.user_id = job.user_id and m.memory_id = any (memory_ids) order by m.memory_id for share nowait;
  perform from memory.jobs as j where j.user_id = job.user_id and j.job_id = job.job_id for update;
  perform from memory.summaries as s
  where s.user_id = job.user_id and s.summary_id in (select jsonb_array_elements_text(ids -> 'summary')::uuid) order by s.summary_id for key share nowait;
  perform from memory.documents as d
  where d.user_id = job.user_id and d.document_id in (select split_part(i, '/', 1)::uuid from jsonb_array_elements_text(ids -> 'document') as i)
  order by d.document_id for share nowait;
  perform from memory.artifacts as a
  where a.user_id = job.user_id and a.key in (select jsonb_array_elements_text(ids -> 'artifact')) order by a.key for share nowait;
  perform from memory.messages as m
  where m.user_id = job.user_id and (m.thread_id, m.seq) in (
    select substring(i from '^(.*)/'), substring(i from '/([0-9]+)$')::bigint from jsonb_array_elements_text(ids -> 'message') as i)
  order by m.thread_id, m.seq for key share nowait;
end;
$$;

-- Whoever deletes a summary deletes what it is found by.
create or replace function memory._summaries_after_delete()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may delete need not have rights on embeddings
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Row by row: a join is planned badly while the table has no statistics, and a session keeps its first plan.
  perform memory._drop_embedding(o.user_id, 'summary', o.summary_id::text) from old_rows as o;
  return null;
end;
$$;

create or replace function memory._apply_embeddings(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
set enable_nestloop = off -- as in memory._has_unembedded()
set enable_mergejoin = off
set jit = off
as $$
declare
  model memory.models;
  expected int := jsonb_array_length(p_job.input -> 'rows');
  dims int;
  wrong bigint;
  embedded int;
  stored text[];
  folded int := 0;
begin
  if jsonb_typeof(p_result -> 'embeddings') is distinct from 'array' or jsonb_array_length(p_result -> 'embeddings') <> expected then
    perform memory._refuse_result('embeddings', format('must be an array of %s embeddings, one per text', expected));
  end if;
  select m.* into model from memory.models as m
  where m.name = p_job.input ->> 'model' and m.model = coalesce(p_job.input ->> 'embedder', m.model)
    and m.settings ->> 'dimensions' is not distinct from p_job.input ->> 'dimensions'
  for key share; -- not while it is being dropped or becomes another
  if not found then
    return jsonb_build_object('skipped', 'the model was dropped or replaced meanwhile');
  end if;
  dims := coalesce(memory._known_dimensions(model),
                   case jsonb_typeof(p_result #> '{embeddings,0}') when 'array' then jsonb_array_length(p_result #> '{embeddings,0}') end);
  if (dims between 1 and 4000) is not true then
    perform memory._refuse_result('embeddings', format('have %s dimensions, 1 to 4000 are possible', coalesce(dims::text, 'no')));
  end if;
  select e.position - 1 into wrong
  from jsonb_array_elements(p_result -> 'embeddings') with ordinality as e (value, position)
  where case jsonb_typeof(e.value)
        when 'array' then jsonb_array_length(e.value) <> dims
          or jsonb_path_exists(e.value, 'strict $[*] ? (@.type() != "number" || @ > 65000 || @ < -65000)')
        else true end
  limit 1;
  if found then
    perform memory._refuse_result(format('embeddings[%s]', wrong), format('must be an array of %s numbers', dims));
  end if;
  select e.position - 1 into wrong
  from jsonb_array_elements(p_result -> 'embeddings') with ordinality as e (value, position)
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

  perform memory._lock_embeddable(p_job);
  -- Only where the text is still what was embedded.
  with given as (
    select r.value ->> 'source' as source, r.value ->> 'id' as id, r.value ->> 'hash' as hash, r.position
    from jsonb_array_elements(p_job.input -> 'rows') with ordinality as r (value, position)
  ), range as (
    select min(substring(g.id from '/([0-9]+)$')::bigint) as from_seq, max(substring(g.id from '/([0-9]+)$')::bigint) as to_seq
    from given as g where g.source = 'message'
  ), new_rows as (
    insert into memory.embeddings (user_id, model, source, id, embedding)
    select p_job.user_id, model.name, g.source, g.id, memory._halfvec(p_result -> 'embeddings' -> (g.position - 1)::int)
    from given as g
    join memory._embeddable(p_job.user_id, memory._embedding_scope(p_job), (select coalesce(r.from_seq, 0) from range as r), (select coalesce(r.to_seq, 0) from range as r)) as t
      on t.source = g.source and t.id = g.id
    where coalesce(md5(t.text) = g.hash, false) -- not as part of the join, which would hash every text there is
    order by g.source, g.id
    on conflict do nothing
    returning source, id
  )
  select count(*), array_agg(n.id) filter (where n.source = 'memory') into embedded, stored from new_rows as n;
  if stored is not null and model.is_active then
    folded := memory._fold_near_duplicates(p_job.user_id, model.name, stored::uuid[]);
  end if;
  if p_job.kind = 'embed' and exists (select from memory.models as m where m.kind = 'embedding' and not m.is_active
    and not m.is_off) then
    perform memory._enqueue_due(p_job.user_id, 'backfill', '');
  end if;
  return jsonb_build_object('model', model.name, 'embedded', embedded, 'folded', folded);
end;
$$;

-- What is being embedded can neither go nor change until this is over: whoever did it would not find the new embedding to
-- drop. Nothing is waited for, because whoever holds it may wait for something of this job: 55P03 hands the result in again.
create or replace function memory._lock_embeddable(p_job memory.jobs)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  ids jsonb := (select jsonb_object_agg(r.source, r.ids) from (
    select r.value ->> 'source' as source, jsonb_agg(r.value -> 'id') as ids from jsonb_array_elements(p_job.input -> 'rows') as r group by 1) as r);
  memory_ids constant uuid[] := array(select jsonb_array_elements_text(ids -> 'memory')::uuid);
begin
  perform memory._lock_scopes_of(p_job.user_id, memory_ids);
  -- As if they were changed: a transaction under repeatable read that cannot see the new embeddings has to begin again.
  update memory.memory_scopes as s set memory_count = s.memory_count
  where s.user_id = p_job.user_id
    and s.agent_id in (select m.agent_id from memory.memories as m where m.user_id = p_job.user_id and m.memory_id = any (memory_ids));
  -- A change by hand locks no scope, and would not find the embedding that has to know of it.
  perform from memory.memories as m where m.user_id = p_job.user_id and m.memory_id = any (memory_ids) order by m.memory_id for share nowait;
  perform from memory.jobs as j where j.user_id = p_job.user_id and j.job_id = p_job.job_id for update;
  perform from memory.summaries as s
  where s.user_id = p_job.user_id and s.summary_id in (select jsonb_array_elements_text(ids -> 'summary')::uuid) order by s.summary_id for key share nowait;
  perform from memory.documents as d
  where d.user_id = p_job.user_id and d.document_id in (select split_part(i, '/', 1)::uuid from jsonb_array_elements_text(ids -> 'document') as i)
  order by d.document_id for share nowait;
  perform from memory.artifacts as a
  where a.user_id = p_job.user_id and a.key in (select jsonb_array_elements_text(ids -> 'artifact')) order by a.key for share nowait;
  perform from memory.messages as m
  where m.user_id = p_job.user_id and (m.thread_id, m.seq) in (
    select substring(i from '^(.*)/'), substring(i from '/([0-9]+)$')::bigint from jsonb_array_elements_text(ids -> 'message') as i)
  order by m.thread_id, m.seq for key share nowait;
end;
$$;

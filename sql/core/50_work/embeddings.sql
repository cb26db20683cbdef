-- needs pgvector on the search_path

-- Functions that the kinds embed and backfill share.

-- The input of a job in which the model embeds texts of a scope that lack an embedding of this model: at most 256
-- texts, or about 60,000 tokens. A later job takes the rest. If no text lacks one, the payload is null.
create or replace function memory._embedding_input(
  p_user_id text, p_scope text, p_model memory.models,
  out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql stable parallel safe
as $$
declare
  texts jsonb;
  rows_input jsonb;
begin
  select jsonb_agg(
      jsonb_build_object('number', n.number, 'text', n.embedded)
        || case n.source when 'memory' then jsonb '{"count": true}' else '{}' end order by n.number),
    jsonb_agg(jsonb_build_object('source', n.source, 'id', n.id, 'hash', n.hash) order by n.number),
    max(n.tokens)
  into texts, rows_input, tokens
  from (
    select row_number() over so_far as number, sum(memory._estimate_tokens(w.embedded)) over so_far as tokens, w.*
    from (
      select u.source, t.id, t.created_at, t.embedded, coalesce(x.hash, md5(t.embedded)::uuid) as hash
      from (
        select l.source, array_agg(l.id) as ids
        from memory._unembedded(p_user_id, p_scope, p_model.name, 256) as l group by l.source) as u
      cross join lateral memory._source_texts(p_user_id, u.source, u.ids) as t
      left join lateral ( -- each by its key
        select y.hash from memory.texts as y
        where y.user_id = p_user_id and y.source = u.source and y.id = t.id offset 0) as x on true
      where t.embedded is not null) as w
    window so_far as (order by w.source, w.created_at, w.id)
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
-- memories. The runners hand in "vectors", each the text of an array, because reading the numbers one by one as JSON
-- took a third of the time of the job.
create or replace function memory._store_embeddings(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  model memory.models;
  form constant text := case when p_result ? 'vectors' then 'string' else 'array' end;
  given constant jsonb := p_result -> case form when 'string' then 'vectors' else 'embeddings' end;
  expected constant int := jsonb_array_length(p_job.input -> 'rows');
  dims int;
  handed_in record;
  stored record;
  folded int := 0;
begin
  if jsonb_typeof(given) is distinct from 'array' or jsonb_array_length(given) <> expected then
    perform memory._refuse_result('embeddings', format('must be an array of %s embeddings, one per text', expected));
  end if;
  select m.* into model from memory.models as m
  where m.name = p_job.input ->> 'model' and m.model = coalesce(p_job.input ->> 'embedder', m.model)
    and m.settings ->> 'dimensions' is not distinct from p_job.input ->> 'dimensions'
  for key share; -- keeps others from dropping or replacing the model
  if not found then
    return jsonb_build_object('skipped', 'the model was dropped or replaced meanwhile');
  end if;
  dims := coalesce(memory._known_dimensions(model), case when jsonb_typeof(given -> 0) = form then
    case form when 'array' then jsonb_array_length(given -> 0)
              else cardinality(string_to_array(given ->> 0, ',')) end end);
  if model.dimensions is null then -- the first embedding of a model sets its dimensions
    update memory.models as m set dimensions = dims where m.name = model.name and m.dimensions is null;
    if not found
      and exists (select from memory.models as m where m.name = model.name and m.dimensions <> dims) then
      perform memory._refuse_result('embeddings',
        format('have %s dimensions, the first ones of the model have others', dims));
    end if;
  end if;
  begin
    select array_agg(v.embedding order by v.place) as embeddings,
      bool_and(v.is_vector and memory._dimensions(v.embedding) = dims and memory._norm(v.embedding) > 0
               and memory._norm(v.embedding) <= 65000) as are_good
    into handed_in
    from (select g.place, memory._halfvec(g.value) as embedding, jsonb_typeof(g.value) = form as is_vector
          from jsonb_array_elements(given) with ordinality as g (value, place)) as v;
  exception
    when data_exception or integrity_constraint_violation or program_limit_exceeded then
      perform memory._check_embeddings(given, form, dims); -- names the embedding that is wrong
      raise;
  end;
  -- The check that names a wrong embedding runs only if there is one, because it takes a third of the time of storing.
  if handed_in.are_good is not true or dims > 4000 then
    perform memory._check_embeddings(given, form, dims);
  end if;
  perform memory._lock_embedded(p_job);
  select k.sources, k.ids into stored
  from (select array_agg(r.value ->> 'source' order by r.place) as sources,
          array_agg(r.value ->> 'id' order by r.place) as ids,
          array_agg((r.value ->> 'hash')::uuid order by r.place) as hashes
        from jsonb_array_elements(p_job.input -> 'rows') with ordinality as r (value, place)) as w
  cross join lateral memory._keep_embeddings(p_job.user_id, model, w.sources, w.ids, w.hashes,
                                            handed_in.embeddings) as k;
  if jsonb_typeof(p_result -> 'token_counts') = 'array' then
    update memory.texts as t set tokens = c.tokens
    from (
      select r.text ->> 'id' as id, (r.text ->> 'hash')::uuid as hash,
        case when jsonb_typeof(r.tokens) = 'number' and r.tokens between jsonb '1' and jsonb '1000000'
          then r.tokens::numeric::int end as tokens
      from rows from (
        jsonb_array_elements(p_job.input -> 'rows'), jsonb_array_elements(p_result -> 'token_counts')
      ) as r (text, tokens)
      where r.text ->> 'source' = 'memory') as c
    where t.user_id = p_job.user_id and t.source = 'memory' and t.id = c.id and t.hash = c.hash
      and c.tokens is not null and t.tokens is distinct from c.tokens;
  end if;
  if model.is_active and 'memory' = any (stored.sources) then
    folded := memory._fold_near_duplicates(p_job.user_id, model.name, array(
      select g.id::uuid from unnest(stored.sources, stored.ids) as g (source, id) where g.source = 'memory'));
  end if;
  return jsonb_build_object(
    'model', model.name, 'embedded', coalesce(cardinality(stored.ids), 0), 'folded', folded);
end;
$$;

-- Refuses embeddings that are not arrays of p_dimensions numbers (or, if p_form says so, the texts of such arrays).
-- Also refuses an embedding whose numbers are all 0, because it has no cosine.
create or replace function memory._check_embeddings(p_embeddings jsonb, p_form text, p_dimensions int)
returns void
language plpgsql stable parallel unsafe
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
  -- 2^-25: halfvec stores this number and every smaller one as 0.
  where not jsonb_path_exists(e.value, '$[*] ? (@ > 2.98023223876953125e-8 || @ < -2.98023223876953125e-8)')
  limit 1;
  if found then
    perform memory._refuse_result(format('embeddings[%s]', wrong), 'has no direction: all its numbers are 0');
  end if;
end;
$$;

-- Locks the rows that storing embeddings may change beside the texts, in the order that all writers keep: the counters
-- of the agents of memories, because a near-duplicate may be hidden, and the job. Also makes the rows in memory.texts
-- of messages that no job has read.
create or replace function memory._lock_embedded(p_job memory.jobs)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  unread record;
begin
  perform memory._lock_scopes_of(p_job.user_id, array(
    select (r.value ->> 'id')::uuid from jsonb_array_elements(p_job.input -> 'rows') as r
    where r.value ->> 'source' = 'memory'));
  perform from memory.jobs as j where j.user_id = p_job.user_id and j.job_id = p_job.job_id for update;
  for unread in
    select memory._thread_of(r.id) as thread_id, min(memory._seq_of(r.id)) as from_seq,
      max(memory._seq_of(r.id)) as to_seq
    from (select r.value ->> 'id' as id from jsonb_array_elements(p_job.input -> 'rows') as r
          where r.value ->> 'source' = 'message') as r
    where not memory._is_parsed(p_job.user_id, 'message', r.id)
    group by 1 order by 1
  loop
    perform from memory.messages as m
    where m.user_id = p_job.user_id and m.thread_id = unread.thread_id
      and m.seq between unread.from_seq and unread.to_seq
    -- A session that holds a message may wait for the job, so nobody is waited for: the worker hands the result in
    -- again.
    order by m.seq for share nowait;
    perform memory._finish_messages(p_job.user_id, unread.thread_id, unread.from_seq, unread.to_seq);
  end loop;
end;
$$;

-- The model that a job embeds for: the active one, or of a backfill the first that lacks something of this user.
create or replace function memory._model_to_fill(p_job memory.jobs)
returns memory.models
language plpgsql stable parallel safe
as $$
begin
  if p_job.kind = 'embed' then
    return memory._embedding_model();
  end if;
  return (select m from memory.models as m where m.kind = 'embedding' and not m.is_off
    and memory._has_unembedded(p_job.user_id, null, m.name)
          order by m.is_active desc, m.created_at, m.name limit 1);
end;
$$;

-- At most 256 texts or about 60,000 tokens at a time; the rest follows in the next job.
create or replace function memory._embedding_input(p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int)
language plpgsql stable parallel safe
set enable_nestloop = off -- as in memory._has_unembedded()
set enable_mergejoin = off
set jit = off
as $$
declare
  model memory.models := memory._model_to_fill(p_job);
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
          from memory._embeddable(p_job.user_id, memory._embedding_scope(p_job)) as t
          where not exists (select from memory.embeddings as e
                            where e.user_id = p_job.user_id and e.model = model.name and e.source = t.source and e.id = t.id)
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

create or replace function memory._embedding_scope(p_job memory.jobs)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return case p_job.kind when 'embed' then p_job.scope end;
end;
$$;

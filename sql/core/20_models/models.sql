-- The member "model" of a payload: everything that a runner needs to call the model.
create or replace function memory._model_json(p_model memory.models)
returns jsonb
language plpgsql immutable parallel safe
as $$
begin
  return jsonb_build_object('name', p_model.name, 'provider', p_model.provider, 'model', p_model.model,
    'settings', p_model.settings || case
      when p_model.context_tokens is null or p_model.settings ->> 'context_tokens' is not null then '{}'
      else jsonb_build_object('context_tokens', p_model.context_tokens) end);
end;
$$;

-- Names one registration of a model (member "model" of a payload), to tell it from others of the same name.
create or replace function memory._registration(p_model jsonb)
returns text
language sql immutable parallel safe
begin atomic
  select md5((p_model #- '{settings,context_tokens}')::text);
end;

-- Whether the product knows the provider whose server answers for a model (member "model" of a payload).
create or replace function memory._has_known_provider(p_model jsonb)
returns boolean
language plpgsql immutable parallel safe
as $$
declare
  host constant text := lower(substring(p_model #>> '{settings,base_url}' from '^https?://([^/:]+)'));
begin
  return host is null or p_model ->> 'provider' <> 'openai' or exists (
    select from jsonb_each({{list providers hosts}}::jsonb) as p
    cross join lateral jsonb_array_elements_text(p.value) as h (name)
    where right('.' || host, length(h.name) + 1) = '.' || h.name);
end;
$$;

-- How many tokens of messages a job gives at once to the model that memory._chat_model() has chosen: at most 24,000,
-- and at most two thirds of the room in the model's window. The room is the window without a quarter for the reply, the
-- prompt, the summary from which the job goes on (p_summary), and 900 tokens for types, attributes and the schema of
-- the reply. The last third of the room is for the text around each message. If neither the settings nor the server say
-- how large the window is, lists/windows.toml says it; the runners count exactly, and read messages that do not fit in
-- parts. Each failed attempt halves the tokens, so that the next one may end in time.
create or replace function memory._tokens_to_give(p_chat jsonb, p_job memory.jobs, p_summary text default null)
returns int
language plpgsql immutable parallel safe
as $$
declare
  model constant jsonb := p_chat -> 'model';
  window_tokens constant bigint := coalesce((model #>> '{settings,context_tokens}')::numeric::bigint,
    ({{list windows tokens}}::jsonb
      ->> case when memory._has_known_provider(model) then 'known' else 'other' end)::bigint);
begin
  if model ->> 'provider' = 'local' then
    return 24000;
  end if;
  return greatest(200, least(24000, 2 * (window_tokens * 3 / 4 - 900
    - memory._estimate_tokens(p_chat #>> '{prompt,template}') - memory._estimate_tokens(coalesce(p_summary, ''))) / 3)
    >> least(greatest(p_job.attempts - 1, 0), 5));
end;
$$;

-- Dimensions of the model's embeddings: those of stored embeddings, else those in its settings, else null. The planner
-- inlines this function; a SET clause would prevent that.
create or replace function memory._known_dimensions(p_model memory.models)
returns int
language sql immutable parallel safe
begin atomic
  select coalesce((p_model).dimensions, ((p_model).settings ->> 'dimensions')::numeric::int);
end;

-- The cosine below which a query and a text have nothing in common by this model: the model's setting, or the measured
-- value in lists/models.toml. The result is null for any other model, because nobody knows what its cosines mean.
create or replace function memory._nothing_below(p_model text)
returns double precision
language plpgsql stable parallel safe
as $$
declare
  model memory.models;
begin
  select m.* into model from memory.models as m where m.name = p_model;
  return coalesce((model.settings ->> 'nothing_below')::double precision,
                  (memory._known_model(model.model) ->> 'nothing_below')::double precision);
end;
$$;

-- The entry of an embedding model in lists/models.toml, as far as the database needs it: nothing_below and languages.
-- The result is null if the list lacks the model.
create or replace function memory._known_model(p_model text)
returns jsonb
language plpgsql immutable parallel safe
as $$
begin
  return k from jsonb_array_elements({{list known_models}}) as k where lower(p_model) ~ (k ->> 'name') limit 1;
end;
$$;

-- Whether a model reads texts in a language, so that its cosines say something about them. Chinese and other scripts
-- without spaces have no dictionary: pass 'simple' for them.
create or replace function memory._reads_language(p_model text, p_language regconfig)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return coalesce((
    select memory._known_model(m.model) -> 'languages' ? p_language::text
    from memory.models as m where m.name = p_model), true);
end;
$$;

-- The active embedding model, or null.
create or replace function memory._embedding_model()
returns memory.models
language plpgsql stable parallel safe
as $$
begin
  return m from memory.models as m where m.kind = 'embedding' and m.is_active;
end;
$$;

-- The hint that searches, memory.status() and memory.doctor() give when no embedding model is active.
create or replace function memory._help_without_model()
returns text
language sql immutable parallel safe
begin atomic
  select 'Run: agent-memory models local (a small model on your machine, without a key), or register and activate an '
         'embedding model of a provider';
end;

-- Locks all models of the kind of a model, in the order of their names, and returns the model of this name. Each
-- function that changes which model of a kind is active takes these locks, so that two administrators never violate the
-- unique index models_one_active_idx.
create or replace function memory._locked_model(p_name text)
returns memory.models
language plpgsql volatile parallel unsafe
as $$
declare
  model memory.models;
begin
  select m.* into model from memory.models as m where m.name = p_name;
  if not found then
    perform memory._refuse_unknown_model(p_name);
  end if;
  perform from memory.models as m where m.kind = model.kind order by m.name for no key update;
  select m.* into model from memory.models as m where m.name = p_name;
  if not found then -- somebody dropped it while this call waited for the locks
    perform memory._refuse('name', format('model "%s" was just dropped', p_name), 'Register it again.', 'P0002');
  end if;
  return model;
end;
$$;

-- Refuses the name of a model that is not registered.
create or replace function memory._refuse_unknown_model(p_name text)
returns void
language plpgsql stable parallel unsafe
as $$
begin
  perform memory._refuse('name', format('there is no model "%s"', p_name),
    'select name from memory.models lists the models; memory.register_model() registers another.', 'P0002');
end;
$$;

-- Refuses to change a model while an open transaction holds its row, embeddings that it made, or a job.
create or replace function memory._refuse_held_model(p_name text)
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._refuse('name', format('an open transaction holds model "%s" or its embeddings', p_name),
    'Call this again, or end that transaction: select pid, xact_start, query from pg_stat_activity '
    'order by xact_start shows the oldest first.', '55P03');
end;
$$;

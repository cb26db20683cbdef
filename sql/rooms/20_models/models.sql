-- The member "model" of a payload: what a runner needs to know to call the model.
create or replace function memory._model_json(p_model memory.models)
returns jsonb
language plpgsql immutable parallel safe
as $$
begin
  return jsonb_build_object('name', p_model.name, 'provider', p_model.provider, 'model', p_model.model,
    'settings', p_model.settings);
end;
$$;

-- Dimensions of the model's embeddings: those of the embeddings it has made, else those its settings ask for, else
-- null.
create or replace function memory._known_dimensions(p_model memory.models)
returns int
language sql immutable parallel safe
begin atomic
  select coalesce((p_model).dimensions, ((p_model).settings ->> 'dimensions')::numeric::int);
end;

-- The active embedding model, or null.
create or replace function memory._embedding_model()
returns memory.models
language plpgsql stable parallel safe
as $$
begin
  return m from memory.models as m where m.kind = 'embedding' and m.is_active;
end;
$$;

-- What helps where no embedding model is active, as all say who notice: searches, memory.status(), memory.doctor().
create or replace function memory._help_without_model()
returns text
language sql immutable parallel safe
begin atomic
  select 'Run: agent-memory models local (a small model on your machine, without a key), or register and activate an '
         'embedding model of a provider';
end;

-- The model of that name. Locks all models of its kind before, in the order of their names. A function that changes
-- which model of a kind is active takes these locks, so that two administrators never violate the unique index
-- models_one_active_idx.
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
language plpgsql stable parallel safe
as $$
begin
  perform memory._refuse('name', format('there is no model "%s"', p_name),
    'select name from memory.models shows what there is; memory.register_model() registers another.', 'P0002');
end;
$$;

-- Refuses to change a model while an open transaction holds its row, embeddings that it made, or a job.
create or replace function memory._refuse_held_model(p_name text)
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._refuse('name', format('an open transaction holds model "%s" or what it has embedded', p_name),
    'Call this again, or end that transaction: select pid, xact_start, query from pg_stat_activity '
    'order by xact_start shows the oldest first.', '55P03');
end;
$$;

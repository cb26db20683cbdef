create or replace function memory._model_json(model memory.models)
returns jsonb
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object('name', model.name, 'provider', model.provider, 'model', model.model, 'settings', model.settings);
end;
$$;

-- How long its embeddings are: those it has made, or else those it is asked for. Inlined by the planner, hence no SET clause.
create or replace function memory._known_dimensions(model memory.models)
returns int
language sql immutable parallel safe
begin atomic
  select coalesce((model).dimensions, ((model).settings ->> 'dimensions')::numeric::int);
end;

create or replace function memory._embedding_model()
returns memory.models
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return m from memory.models as m where m.kind = 'embedding' and m.is_active;
end;
$$;

create or replace function memory._model_json(p_model memory.models)
returns jsonb
language plpgsql immutable parallel safe
as $$
begin
  return jsonb_build_object('name', p_model.name, 'provider', p_model.provider, 'model', p_model.model, 'settings', p_model.settings);
end;
$$;

-- How long its embeddings are: those it has made, or else those it is asked for. Inlined by the planner, hence no SET clause.
create or replace function memory._known_dimensions(p_model memory.models)
returns int
language sql immutable parallel safe
begin atomic
  select coalesce((p_model).dimensions, ((p_model).settings ->> 'dimensions')::numeric::int);
end;

create or replace function memory._embedding_model()
returns memory.models
language plpgsql stable parallel safe
as $$
begin
  return m from memory.models as m where m.kind = 'embedding' and m.is_active;
end;
$$;

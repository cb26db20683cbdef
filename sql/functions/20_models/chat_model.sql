-- The chat model of a job and its prompt. It is the model p_name, which a policy names, unless that is switched off or
-- null; otherwise the active model. The built-in model gets no prompt.
create or replace function memory._chat_model(p_name text, p_prompt text)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  chosen memory.models;
begin
  select m.* into chosen
  from memory.models as m
  where m.kind = 'chat' and not m.is_off and (m.name = p_name or m.is_active)
  order by m.name is distinct from p_name
  limit 1;
  if not found then
    raise lock_not_available using message = 'no chat model is active';
  end if;
  return jsonb_build_object(
    'model', memory._model_json(chosen),
    'prompt', case when chosen.provider <> 'local' then memory._prompt(p_prompt) end);
end;
$$;

-- The same for a job that asks no model: the worker does it by itself, and nobody's budget pays.
create or replace function memory._no_model()
returns jsonb
language sql immutable parallel safe
begin atomic
  select jsonb '{
    "model": {"name": "local", "provider": "local", "model": "patterns", "settings": {}},
    "prompt": null
  }';
end;

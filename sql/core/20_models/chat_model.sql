-- The chat model of a job and its prompt. The model is p_name, which a policy names for this work; otherwise the model
-- that the policy names for the agent (p_agent, section agent); otherwise the active one. The function passes over a
-- model that is null, switched off or not registered. The built-in model gets no prompt.
create or replace function memory._chat_model(p_name text, p_agent jsonb, p_prompt text)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  chosen constant memory.models := memory._chosen_chat_model(p_name, p_agent);
begin
  if chosen.name is null then
    raise lock_not_available using message = 'no chat model is active';
  end if;
  return jsonb_build_object(
    'model', memory._model_json(chosen),
    'prompt', case when chosen.provider <> 'local' then memory._prompt(p_prompt) end);
end;
$$;

-- The chat model that memory._chat_model() takes; null when none is active.
create or replace function memory._chosen_chat_model(p_name text, p_agent jsonb)
returns memory.models
language plpgsql stable parallel safe
as $$
declare
  named text := p_name;
  chosen memory.models;
begin
  -- This condition stands alone, so that PL/pgSQL runs no statement for an agent without a model.
  if p_agent ->> 'model' is not null then
    if not exists (select from memory.models as m where m.kind = 'chat' and not m.is_off and m.name = p_name) then
      named := (memory._named_model('chat', p_agent ->> 'provider', p_agent ->> 'model')).name;
    end if;
  end if;
  select m.* into chosen
  from memory.models as m
  where m.kind = 'chat' and not m.is_off and (m.name = named or m.is_active)
  order by m.name is distinct from named
  limit 1;
  return chosen;
end;
$$;

-- The value that memory._chat_model() would return, for a job that asks no model. The worker does such a job by itself,
-- and nobody's budget pays for it.
create or replace function memory._no_model()
returns jsonb
language sql immutable parallel safe
begin atomic
  select jsonb '{
    "model": {"name": "local", "provider": "local", "model": "patterns", "settings": {}},
    "prompt": null
  }';
end;

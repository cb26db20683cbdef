-- The chat model of a job and its prompt. It is the model p_name, which a policy names for this work; otherwise the one
-- that the policy names for the agent (p_agent, section agent); otherwise the active model. A model that is null,
-- switched off or not registered is passed over. The built-in model gets no prompt.
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
  if p_agent ->> 'model' is not null then -- by itself, so that PL/pgSQL runs no statement where there is none
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

-- What memory._chat_model() returns, for a job that asks no model: the worker does the job by itself, and nobody's
-- budget pays.
create or replace function memory._no_model()
returns jsonb
language sql immutable parallel safe
begin atomic
  select jsonb '{
    "model": {"name": "local", "provider": "local", "model": "patterns", "settings": {}},
    "prompt": null
  }';
end;

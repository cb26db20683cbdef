-- Finds the models that a policy names as an agent's configuration file does: by provider and model.

-- Whether models of this provider can be registered.
create or replace function memory._is_provider(p_provider text)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_provider in ('local', 'openai', 'azure');
end;

-- The registered model that a provider and a model name; null when there is none or when it is switched off. p_model is
-- the name under which a model is registered ("gpt-4o-mini", or "our_azure/gpt-4o-mini" with its provider), or the name
-- that its provider gives it. If memory.register_model() does not know p_provider, this is the name of a service's own
-- connection. Such a provider excludes no model, and counts only as part of a registered name.
create or replace function memory._named_model(p_kind text, p_provider text, p_model text)
returns memory.models
language plpgsql stable parallel safe
as $$
begin
  return m from memory.models as m
  where m.kind = p_kind and not m.is_off
    and (m.name in (p_model, p_provider || '/' || p_model) or m.model = p_model)
    and (memory._is_provider(p_provider) and m.provider <> p_provider) is not true
  order by m.name = p_provider || '/' || p_model desc nulls last, m.name = p_model desc, m.is_active desc, m.name
  limit 1;
end;
$$;

-- Tells the caller of memory.set_policy() which models of these settings are not in use, and which models do their work
-- until they are. The function raises no error, because a file may be stored before its models are registered.
create or replace function memory._note_missing_models(p_settings jsonb, p_policy jsonb)
returns void
language plpgsql stable parallel unsafe
as $$
declare
  chat constant text := p_policy #>> '{agent,model}';
  embedding constant text := p_policy #>> '{knowledge_base,embedding_model}';
  rerank constant text := p_policy #>> '{knowledge_base,rerank_model}';
  register constant text := 'Register it with memory.register_model(); the policy applies from then on.';
begin
  if chat is not null and p_settings -> 'agent' ?| '{provider,model}'
    and (memory._named_model('chat', p_policy #>> '{agent,provider}', chat)).name is null then
    raise notice 'model "%": no chat model is registered under that name, so the active chat model does the work', chat
      using hint = register;
  end if;
  if rerank is not null and p_settings -> 'knowledge_base' ?| '{rerank_provider,rerank_model}'
    and (memory._named_model('rerank', p_policy #>> '{knowledge_base,rerank_provider}', rerank)).name is null then
    raise notice 'rerank_model "%": no rerank model is registered under that name, so the active one reranks', rerank
      using hint = register;
  end if;
  if embedding is not null and p_settings -> 'knowledge_base' ?| '{embedding_provider,embedding_model}'
    and not coalesce((
      memory._named_model('embedding', p_policy #>> '{knowledge_base,embedding_provider}', embedding)).is_active, false)
  then
    raise notice 'embedding_model "%" is not the active embedding model', embedding
      using hint = 'One embedding model serves all agents, because embeddings of two models cannot be compared: '
        'register it with memory.register_model() and switch with memory.activate_model().';
  end if;
end;
$$;

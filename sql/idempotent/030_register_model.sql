create or replace function memory.register_model(name text, kind text, provider text, model text, settings jsonb default '{}')
returns void
language plpgsql volatile parallel unsafe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  known constant text[] := array['base_url', 'api_key_env', 'api_version', 'timeout_seconds', 'max_concurrency', 'temperature', 'json_mode',
    'dimensions', 'price_per_million_input', 'price_per_million_output'];
  key text;
begin
  perform memory._check_id('name', name);
  perform memory._check_id('model', model);
  if (kind in ('chat', 'embedding', 'rerank')) is not true then
    perform memory._refuse('kind', format('unknown kind "%s"', kind), 'Use chat, embedding or rerank.');
  end if;
  if (provider in ('local', 'openai', 'azure')) is not true then
    perform memory._refuse('provider', format('unknown provider "%s"', provider), 'Use local, openai or azure; openai serves any compatible base_url.');
  end if;
  if jsonb_typeof(settings) is distinct from 'object' then
    perform memory._refuse('settings', 'must be a JSON object', 'Known keys: ' || array_to_string(known, ', '));
  end if;
  for key in select jsonb_object_keys(settings) loop
    if key <> all (known) then
      perform memory._refuse('settings', format('unknown key "%s"', key),
        format('Known keys: %s. A key is never stored: api_key_env names the environment variable that holds it.', array_to_string(known, ', ')));
    end if;
  end loop;
  insert into memory.models as m (name, kind, provider, model, settings)
  values (register_model.name, register_model.kind, register_model.provider, register_model.model, register_model.settings)
  on conflict on constraint models_pkey do update
  set provider = excluded.provider, model = excluded.model, settings = excluded.settings
  where m.kind = excluded.kind;
  if not found then
    perform memory._refuse('kind', format('model "%s" is registered with another kind', name), 'Choose another name.', '23505');
  end if;
end;
$$;
comment on function memory.register_model(text, text, text, text, jsonb) is
'Registers a model, or changes the registration of that name. settings: base_url, api_key_env (name of an environment variable of the calling process, default OPENAI_API_KEY), timeout_seconds, temperature, json_mode and others. For administrators: grant it to nobody else.';

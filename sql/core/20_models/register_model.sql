create or replace function memory.register_model(
  name text, kind text, provider text, model text, settings jsonb default '{}'
)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s' -- an administrator hears of an open transaction soon
as $$
declare
  registered memory.models; -- the earlier registration of the name, if there is one
  dims int; -- length of the model's embeddings; null until its first embedding decides
  is_the_same boolean;
begin
  perform memory._check_id('name', name);
  perform memory._check_id('model', model);
  if (kind in ('chat', 'embedding', 'rerank', 'screen')) is not true then
    perform memory._refuse('kind', format('unknown kind "%s"', kind), 'Use chat, embedding, rerank or screen.');
  end if;
  if memory._is_provider(provider) is not true then
    perform memory._refuse('provider', format('unknown provider "%s"', provider),
      'Use local, openai or azure; openai serves any compatible base_url.');
  end if;
  perform memory._check_model_settings(settings);
  -- A worker may always read these variables for a key. The process that makes the call may allow others, which the
  -- database does not know.
  if settings ->> 'api_key_env' not in ('OPENAI_API_KEY', 'AZURE_OPENAI_API_KEY')
    and not starts_with(settings ->> 'api_key_env', 'AGENT_MEMORY_KEY_') then
    raise notice
      'environment variable "%" is refused as a key unless AGENT_MEMORY_KEY_VARIABLES of the caller lists it',
      settings ->> 'api_key_env'
      using hint = 'Or give the variable a name that starts with AGENT_MEMORY_KEY_.';
  end if;
  -- The lock waits for jobs that are storing embeddings of this model. The checks below refuse the registration if this
  -- name has embeddings of another model or length, because embeddings of two models must never be compared.
  select m.* into registered from memory.models as m where m.name = register_model.name for update;
  dims := coalesce((settings ->> 'dimensions')::numeric,
    case when registered.settings ->> 'dimensions' is null then registered.dimensions end);
  is_the_same := (registered.model, memory._known_dimensions(registered))
    is not distinct from (register_model.model, dims);
  if kind = 'embedding' and not is_the_same then
    if exists (select from memory.texts as t where t.model = register_model.name)
      or exists (select from memory.embeddings as e where e.model = register_model.name) then
      perform memory._refuse('name', format('there are embeddings of model "%s" as it was', name),
        'Register the other model under another name.', '23505');
    end if;
  end if;
  insert into memory.models as m (name, kind, provider, model, settings)
  values (register_model.name, register_model.kind, register_model.provider, register_model.model,
          register_model.settings)
  on conflict on constraint models_pkey do update
  set provider = excluded.provider, model = excluded.model, settings = excluded.settings, is_off = false,
      context_tokens = null, dimensions = case when is_the_same then m.dimensions end
  where m.kind = excluded.kind;
  if not found then
    perform memory._refuse('kind', format('model "%s" is registered with another kind', name), 'Choose another name.',
      '23505');
  elsif kind = 'embedding' then
    perform memory._enqueue_for_everyone('backfill'); -- also embeds texts that an earlier backfill has missed
  end if;
  perform memory._audit('register_model', jsonb_build_object('name', name, 'kind', kind, 'provider', provider,
    'model', model, 'settings', settings));
exception
  when lock_not_available then
    perform memory._refuse_held_model(name);
end;
$$;
comment on function memory.register_model(text, text, text, text, jsonb) is
'Registers a model, or changes the registration of that name. kind: chat, embedding, rerank or screen; provider: '
'local, openai or azure. settings name the server, where the calling process finds the key, limits and prices: see '
'docs/models.md. For administrators: grant it to nobody else.';

-- Refuses settings of a model that are not an object, or that have an unknown key or a value that the key cannot have.
create or replace function memory._check_model_settings(p_settings jsonb)
returns void
language plpgsql immutable parallel safe
as $$
declare
  known constant text[] := array['base_url', 'api_key_env', 'api_key_file', 'api_version', 'timeout_seconds',
    'max_concurrency', 'temperature', 'json_mode', 'dimensions', 'batch_size', 'rerank_api', 'model_dir',
    'query_prefix', 'text_prefix', 'input_type', 'nothing_below', 'context_tokens', 'max_output_tokens', 'request',
    'price_per_million_input', 'price_per_million_output'];
  key text;
  value jsonb;
  said text;
  number numeric;
  is_kept boolean;
  rule text;
begin
  if jsonb_typeof(p_settings) is distinct from 'object' then
    perform memory._refuse('settings', 'must be a JSON object', 'Known keys: ' || array_to_string(known, ', '));
  end if;
  perform memory._check_json_size('settings', p_settings, 65536, 'No setting is longer than an address.');
  for key, value in select * from jsonb_each(p_settings) loop
    said := case when jsonb_typeof(value) = 'string' then value #>> '{}' end;
    number := case when jsonb_typeof(value) = 'number' then value::numeric end;
    case
      when key <> all (known) then
        perform memory._refuse('settings', format('unknown key "%s"', key),
          format('Known keys: %s. A key is never stored: api_key_env names the environment variable that holds it.',
            array_to_string(known, ', ')));
      when key = 'base_url' then
        is_kept := said ~ '^https?://[^/]' and said !~ e'[@?#\\\\[:space:][:cntrl:]]';
        rule := 'Use an address such as http://localhost:11434/v1, without user, password, query or fragment.';
      when key = 'api_key_env' then
        -- These two variables do not hold keys.
        is_kept := said ~ '^[A-Za-z_][A-Za-z0-9_]*$'
          and said not in ('AGENT_MEMORY_KEY_DIR', 'AGENT_MEMORY_KEY_VARIABLES');
        rule := 'Name the environment variable that holds the key, such as AGENT_MEMORY_KEY_PROXY or OPENAI_API_KEY.';
      when key = 'api_key_file' then
        is_kept := said ~ '^[^/.][^/]*$';
        rule := 'Use the bare name of a file in the folder that the environment variable AGENT_MEMORY_KEY_DIR names.';
      when key = 'api_version' then
        is_kept := said <> '';
        rule := 'Use a text.';
      when key = 'model_dir' then
        is_kept := said ~ '^/' and said !~ '[[:cntrl:]]';
        rule := 'Use the path of a folder with model.onnx and tokenizer.json, from the root, where the model runs.';
      when key in ('query_prefix', 'text_prefix') then
        is_kept := length(said) <= 1000;
        rule := 'Use what the model wants before each query, or before each text, of at most 1000 characters.';
      when key = 'input_type' then
        is_kept := jsonb_typeof(value) = 'object' and value - '{query,text}'::text[] = '{}'
          and not jsonb_path_exists(value, '$.* ? (@.type() != "string" && @ != null)');
        rule := 'Use what the server calls a query and a text: {"query": "search_query", "text": "search_document"}.';
      when key = 'request' then
        is_kept := jsonb_typeof(value) = 'object'
          and not value ?| '{model,messages,input,query,documents,texts,stream,n,response_format}';
        rule := 'Use an object with further members of each request, such as {"seed": 1}; none that the product sets.';
      when key in ('context_tokens', 'max_output_tokens') then
        is_kept := number between case key when 'context_tokens' then 256 else 16 end and 100000000
          and number = floor(number);
        rule := 'Use a whole number of tokens up to 100000000: at least 256 of a window, 16 of a reply.';
      when key = 'json_mode' then
        is_kept := value in ('"schema"', '"object"', '"off"', 'true', 'false'); -- true is object, false is off
        rule := 'Use "schema", "object" or "off".';
      when key = 'rerank_api' then
        is_kept := value in ('"rerank"', '"chat"');
        rule := 'Use "rerank" for a server with /rerank, or "chat" for a chat model.';
      when key in ('max_concurrency', 'batch_size') then
        is_kept := number between 1 and 100000 and number = floor(number);
        rule := 'Use a whole number from 1 to 100000.';
      when key = 'dimensions' then
        is_kept := number between 1 and 4000 and number = floor(number);
        rule := 'Use a whole number from 1 to 4000.';
      when key = 'nothing_below' then
        is_kept := number >= -1 and number < 1;
        rule := 'Use the cosine under which two texts have nothing in common, from -1 to less than 1.';
      when key = 'timeout_seconds' then
        is_kept := number > 0;
        rule := 'Use a number of seconds above 0.';
      else
        is_kept := number >= 0;
        rule := 'Use a number of at least 0.';
    end case;
    if value <> 'null' and is_kept is not true then
      perform memory._refuse('settings', format('%s cannot be %s', key, left(value::text, 100)), rule);
    end if;
  end loop;
end;
$$;

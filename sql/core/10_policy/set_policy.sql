create or replace function memory.set_policy(settings jsonb, agent_id text default null, user_id text default null)
returns jsonb
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s' -- an administrator hears of an open transaction soon
as $$
declare
  inherited text[]; -- sections whose settings are removed, so that they are inherited
  policy jsonb;
  former text; -- search.language before the change
  former_languages regconfig[];
begin
  perform memory._check_settings_object(settings);
  if agent_id is not null then
    perform memory._check_id('agent_id', agent_id);
  end if;
  agent_id := memory._agent_of_file(settings, agent_id);
  settings := memory._settings_of_file(settings);
  perform memory._check_settings(settings);
  perform memory._check_user_or_all(user_id);

  -- Adds the types that the settings name and nobody has added yet, with the title and description of their schema.
  insert into memory.memory_types (memory_type, heading, description, is_general)
  select t.key, coalesce(t.value ->> 'title', initcap(translate(t.key, '_-', '  '))),
    coalesce(t.value ->> 'description', ''), false
  from jsonb_each(coalesce(nullif(settings #> '{extraction,types}', 'null'), '{}')) as t
  order by t.key
  on conflict do nothing;
  former := memory._policy_section(set_policy.user_id, set_policy.agent_id, 'search') ->> 'language';
  former_languages := memory._languages(coalesce(set_policy.user_id, ''), set_policy.agent_id, former);
  inherited := array(select s.key from jsonb_each(settings) as s where s.value = 'null');
  -- A row holds only what was set for its user and agent. A null removes a key, or a whole section, so that the row
  -- inherits it again.
  insert into memory.policies as p (user_id, agent_id, settings)
  values (coalesce(set_policy.user_id, ''), coalesce(set_policy.agent_id, ''), jsonb_strip_nulls(set_policy.settings))
  on conflict on constraint policies_pkey do update
  set settings = jsonb_strip_nulls(memory._merge_policy(p.settings - inherited, set_policy.settings - inherited)),
      updated_at = statement_timestamp();
  perform memory._audit('set_policy',
    jsonb_strip_nulls(jsonb_build_object('agent_id', agent_id)) || jsonb_build_object('settings', settings), user_id);
  policy := memory._policy(set_policy.user_id, set_policy.agent_id);
  if policy #>> '{search,language}' <> former then
    perform memory._parse_anew_later(set_policy.user_id, former_languages);
  end if;
  perform memory._note_missing_models(settings, policy);
  return policy;
exception
  when lock_not_available then
    perform memory._refuse('settings', 'an open transaction holds this policy, or texts of its users',
      'Call this again, or end that transaction: select pid, xact_start, query from pg_stat_activity '
      'order by xact_start shows the oldest first.', '55P03');
    return null; -- not reached
end;
$$;
comment on function memory.set_policy(jsonb, text, text) is
'Merges settings into the policy of everyone, of an agent, of a user, or of an agent for one user, and returns the '
'policy that now applies there. Sections and keys are those of get_policy(), or those of an agent''s configuration '
'file (agent_id, resources, provider, model, resource_config); an unknown one is refused (22023). null takes a key '
'back to its inherited value.';

-- Refuses settings that are no object or are too large.
create or replace function memory._check_settings_object(p_settings jsonb)
returns void
language plpgsql stable parallel safe
as $$
begin
  if jsonb_typeof(p_settings) is distinct from 'object' then
    perform memory._refuse('settings', 'must be a JSON object', 'For example {"summary": {"window_size": 20}}.');
  end if;
  perform memory._check_json_size('settings', p_settings, 65536, 'Pass only settings to change.');
end;
$$;

-- Refuses settings that name an unknown section or key, or have a value that their key cannot have.
create or replace function memory._check_settings(p_settings jsonb)
returns void
language plpgsql stable parallel unsafe
as $$
declare
  -- summary.model has no default: without it summaries use the active chat model.
  known constant jsonb := memory._merge_policy(memory._default_policy(), '{"summary": {"model": null}}');
  section text;
  key text;
  value jsonb;
begin
  for section in select jsonb_object_keys(p_settings) loop
    if not known ? section then
      perform memory._refuse('settings', format('unknown section "%s"', left(section, 100)),
        case when known ? split_part(section, '.', 1)
          then format('Write it as {"%s": {"%s": ...}}.', split_part(section, '.', 1),
                      left(substr(section, strpos(section, '.') + 1), 100))
          else format('Known sections: %s; or the file of an agent with agent_id, resources, provider, model, '
            'allowed_regular_tools and resource_config', memory._keys(known)) end);
    elsif jsonb_typeof(p_settings -> section) not in ('object', 'null') then
      perform memory._refuse('settings', format('section "%s" is not an object', section),
        format('Known keys: %s', memory._keys(known -> section)));
    end if;
    for key, value in select * from jsonb_each(nullif(p_settings -> section, 'null')) loop
      if not known -> section ? key then
        perform memory._refuse('settings', format('unknown key "%s.%s"', section, key),
          format('Known keys of %s: %s', section, memory._keys(known -> section)));
      end if;
      perform memory._check_setting(section, key, value);
    end loop;
  end loop;
end;
$$;

-- The keys of a JSON object, for a hint.
create or replace function memory._keys(p_object jsonb)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return string_agg(k.key, ', ' order by k.key) from jsonb_object_keys(p_object) as k (key);
end;
$$;

-- Refuses a value that the setting cannot have. For most settings the built-in value decides: true or false makes a
-- switch, a number with a decimal point (1.0) a share from 0 to 1, any other number a whole number of at least 1.
-- search.min_relevance is a share, too, but has no built-in value that shows this.
create or replace function memory._check_setting(p_section text, p_key text, p_value jsonb)
returns void
language plpgsql stable parallel unsafe
as $$
declare
  choices constant jsonb := jsonb '{
    "context.layout": ["cached", "before"],
    "context.recall": [true, false, "when_needed"],
    "context.volatile_role": ["user", "system"],
    "memories.eviction": ["importance", "fifo"],
    "search.fusion": ["score", "rrf"],
    "summary.when": ["needed", "each_round"]
  }';
  lists constant jsonb := jsonb '{
    "artifacts.roles": ["user", "assistant", "agent", "tool", "system", "developer"],
    "extraction.from_roles": ["user", "assistant"],
    "masking.classes": ["email", "phone", "card", "iban", "ip"]
  }';
  built_in constant jsonb := memory._default_policy() #> array[p_section, p_key];
  name constant text := p_section || '.' || p_key;
  value_text constant text := p_value #>> '{}';
  shown constant text := left(p_value::text, 100);
  lowest numeric := 1;
  highest numeric := 2147483647;
  problem text;
begin
  if p_value = 'null' then
    return;
  end if;
  case
    when p_key in ('expires_after', 'delete_after', 'keep') then
      perform memory._check_lifetime(name, p_value);
      return;
    when choices ? name then
      if p_value not in (select jsonb_array_elements(choices -> name)) then
        perform memory._refuse('settings', format('%s: unknown value %s', name, shown),
          format('Use one of %s.', btrim((choices -> name)::text, '[]')));
      end if;
      return;
    when name = 'extraction.instructions' then
      if jsonb_typeof(p_value) <> 'string' or length(value_text) > 10000 or memory._is_blank(value_text) then
        perform memory._refuse('settings', format('%s is not a text of 1 to 10000 characters', name),
          'Write what to look for, like "Note allergies, and dates of trips."');
      end if;
      return;
    when name = 'memories.attributes' then
      if jsonb_typeof(p_value) <> 'object' or exists (
        select from jsonb_each(p_value) as a where a.value not in ('"one"', '"many"') or not memory._is_id(a.key)) then
        perform memory._refuse('settings', format('%s is not an object of names with "one" or "many"', name),
          'Write it like {"meeting day": "one", "hobby": "many"}.');
      end if;
      return;
    when name = 'extraction.types' then
      perform memory._check_extraction_types(p_value);
      return;
    when name = 'search.language' then
      if not exists (select from pg_ts_config as c
                     where c.cfgnamespace = 'pg_catalog'::regnamespace and c.cfgname = value_text) then
        perform memory._refuse('settings', format('%s: there is no text search configuration %s', name, shown),
          'List them with: select cfgname from pg_ts_config;');
      end if;
      return;
    when name = 'messages.time_zone' then
      if not exists (select from pg_timezone_names as z where z.name = value_text) then
        perform memory._refuse('settings', format('%s: there is no time zone %s', name, shown),
          'Write a name such as "America/Chicago"; list them with: select name from pg_timezone_names;');
      end if;
      return;
    when name = 'summary.model' then
      if not exists (select from memory.models as m where m.name = value_text and m.kind = 'chat') then
        perform memory._refuse('settings', format('%s: there is no chat model %s', name, shown),
          'Register it with memory.register_model() first.');
      end if;
      return;
    when name = 'knowledge_base.vector_provider' then
      if p_value <> '"pgvector"' then
        perform memory._refuse('settings', format('%s cannot be %s', name, shown),
          'Embeddings are stored in this database, by "pgvector"; there is no other store.');
      end if;
      return;
    when p_key in ('provider', 'model', 'embedding_provider', 'embedding_model', 'rerank_provider', 'rerank_model') then
      if jsonb_typeof(p_value) <> 'string' or not memory._is_id(value_text) then
        perform memory._refuse('settings', format('%s cannot be %s', name, shown),
          'Write a name of 1 to 255 characters.');
      end if;
      return;
    when name in ('knowledge_base.search_triggers', 'agent.allowed_regular_tools', 'context.spaces') then
      if jsonb_typeof(p_value) <> 'array' or jsonb_path_exists(p_value, '$[*] ? (@.type() != "string")') then
        perform memory._refuse('settings', format('%s is not an array of strings', name),
          'Write it like ["last time", "remind me"].');
      end if;
      perform memory._check_list('settings', array(select jsonb_array_elements_text(p_value)));
      return;
    when lists ? name then
      if jsonb_typeof(p_value) <> 'array' or not p_value <@ (lists -> name)
        or name = 'extraction.from_roles' and p_value = '[]' then
        perform memory._refuse('settings', format('%s is not an array of known names: %s', name, shown),
          format('Write names of %s, in an array.', btrim((lists -> name)::text, '[]')));
      end if;
      return;
    when jsonb_typeof(built_in) = 'boolean' then
      if jsonb_typeof(p_value) <> 'boolean' then
        perform memory._refuse('settings', format('%s is not true or false: %s', name, shown),
          'Write true or false.');
      end if;
      return;
    when built_in::text ~ '^[01][.]' or name = 'search.min_relevance' then
      lowest := 0;
      highest := 1;
    when name in ('summary.start_seq', 'knowledge_base.chunk_overlap') or p_section in ('cadence', 'budget') then
      lowest := 0;
    when name = 'summary.window_size' then
      lowest := 2;
    else
      null; -- a whole number of at least 1
  end case;
  problem := case
    when jsonb_typeof(p_value) <> 'number' then 'is not a number'
    when p_value::numeric not between lowest and highest or highest > 1 and p_value::text !~ '^[0-9]+$'
      then 'is out of range' end;
  if problem is not null then
    perform memory._refuse('settings', format('%s %s: %s', name, problem, shown),
      case when highest = 1 then 'Use a number from 0 to 1.'
           else format('Use a whole number from %s to %s.', lowest, highest) end);
  end if;
end;
$$;

-- Refuses a lifetime that is neither "never" nor a positive interval that ends before the year 9999.
create or replace function memory._check_lifetime(p_name text, p_value jsonb)
returns void
language plpgsql stable parallel unsafe
as $$
declare
  value_text constant text := p_value #>> '{}';
begin
  if p_value = '"never"' then
    return;
  end if;
  -- PostgreSQL would read a bare number as seconds.
  if jsonb_typeof(p_value) <> 'string' or value_text ~ e'^[\\s0-9.]*$' or value_text::interval <= '0'
    or not memory._is_real_moment(memory._expiry(value_text)) then
    raise invalid_parameter_value;
  end if;
exception
  when others then
    perform memory._refuse('settings', format('%s is not a positive interval: %s', p_name, left(p_value::text, 100)),
      'Write it like "7 days", or "never".');
end;
$$;

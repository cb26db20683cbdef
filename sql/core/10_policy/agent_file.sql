-- The file that configures an agent, as some services keep one per agent. The file has the members agent_id, resources,
-- provider, model, allowed_regular_tools and resource_config around the settings of memory and knowledge_base.

-- Turns a file, or a part from any inner level of a file, into settings of a policy. Other settings come back
-- unchanged. The result lacks agent_id, which memory.set_policy() takes as its argument.
create or replace function memory._settings_of_file(p_settings jsonb)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  is_whole constant boolean := p_settings ? 'agent_id';
  agent jsonb;
  unknown text;
begin
  if not p_settings ?| '{agent_id,resources,provider,model,allowed_regular_tools,resource_config,memory}' then
    return p_settings;
  end if;
  select jsonb_object_agg(m.key, m.value) into agent
  from jsonb_each(p_settings) as m where m.key in ('provider', 'model', 'allowed_regular_tools');
  p_settings := p_settings - '{agent_id,provider,model,allowed_regular_tools}'::text[];
  if agent is not null then
    p_settings := memory._merge_parts(p_settings, jsonb_build_object('agent', agent), 'beside provider and model');
  end if;

  -- A whole file, which names its agent, decides the agent's resources: those in its list, and none if it has no list.
  if is_whole and not p_settings ? 'resources' then
    p_settings := p_settings || '{"resources": []}';
  end if;
  -- A file has resources as an array of names. A policy has them as an object, which comes back unchanged.
  if jsonb_typeof(p_settings -> 'resources') = 'array' then
    if not p_settings -> 'resources' <@ '["memory", "knowledge_base"]' then
      perform memory._refuse('settings', format('resources: unknown resource in %s', p_settings -> 'resources'),
        'Known resources: "memory", "knowledge_base".');
    end if;
    p_settings := jsonb_set(p_settings, '{resources}', jsonb_build_object(
      'memory', p_settings -> 'resources' ? 'memory',
      'knowledge_base', p_settings -> 'resources' ? 'knowledge_base'));
  end if;

  if p_settings ? 'resource_config' then
    perform memory._check_part('resource_config', p_settings -> 'resource_config');
    select m.key into unknown
    from jsonb_object_keys(p_settings -> 'resource_config') as m (key)
    where m.key not in ('memory', 'knowledge_base') limit 1;
    if found then
      perform memory._refuse('settings', format('unknown key "resource_config.%s"', unknown),
        'Known keys of resource_config: memory, knowledge_base');
    end if;
    p_settings := memory._merge_parts(
      p_settings - 'resource_config', p_settings -> 'resource_config', 'within resource_config');
  end if;
  if p_settings ? 'memory' then
    perform memory._check_part('memory', p_settings -> 'memory');
    p_settings := memory._merge_parts(p_settings - 'memory', p_settings -> 'memory', 'within memory');
  end if;
  return p_settings;
end;
$$;

-- Merges two parts of a file. Refuses a section that both parts have.
create or replace function memory._merge_parts(p_outer jsonb, p_inner jsonb, p_place text)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  twice text;
begin
  select i.key into twice from jsonb_object_keys(p_inner) as i (key) where p_outer ? i.key limit 1;
  if found then
    perform memory._refuse('settings', format('section "%s" stands twice, once %s', twice, p_place),
      'Write each section once.');
  end if;
  return p_outer || p_inner;
end;
$$;

-- Refuses a part of a file that should hold sections but is no object.
create or replace function memory._check_part(p_name text, p_part jsonb)
returns void
language plpgsql stable parallel safe
as $$
begin
  if jsonb_typeof(p_part) <> 'object' then
    perform memory._refuse('settings', format('%s is not an object', p_name),
      'Write it like {"memory": {"compression": {"enabled": true}}, "knowledge_base": {"chunk_size": 800}}.');
  end if;
end;
$$;

-- The agent whose policy the settings change: p_agent_id, or else the agent that the file names. Refuses two agents.
create or replace function memory._agent_of_file(p_settings jsonb, p_agent_id text)
returns text
language plpgsql stable parallel safe
as $$
declare
  named constant text := case jsonb_typeof(p_settings -> 'agent_id')
    when 'string' then p_settings ->> 'agent_id' end;
begin
  if not p_settings ? 'agent_id' then
    return p_agent_id;
  elsif named is null or not memory._is_id(named) then
    perform memory._refuse('settings', format('agent_id cannot be %s', left((p_settings -> 'agent_id')::text, 100)),
      'Write the name of the agent, 1 to 255 characters, or leave it out.');
  elsif named <> p_agent_id then
    perform memory._refuse('agent_id',
      format('is "%s", but the settings are those of agent_id "%s"', p_agent_id, named),
      'Leave one of the two out.');
  end if;
  return named;
end;
$$;

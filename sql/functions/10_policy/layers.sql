-- Sections merge key by key, everything inside a section replaces.
create or replace function memory._merge_policy(p_base jsonb, p_layer jsonb)
returns jsonb
language plpgsql immutable parallel safe
as $$
begin
  return p_base || coalesce(jsonb_object_agg(key, coalesce(p_base -> key, '{}') || value), '{}') from jsonb_each(p_layer);
end;
$$;

-- The layers that apply, weakest first: global, agent, user, agent of this user. The hot path reads them as an array,
-- unordered, in a statement it runs anyway: that is 20 us cheaper than an aggregate.
create or replace function memory._merge_layers(p_layers memory.policies[])
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  policy jsonb := memory._default_policy();
  layer jsonb;
begin
  for layer in select l.settings from unnest(p_layers) as l order by l.user_id <> '', l.agent_id <> '' loop
    policy := memory._merge_policy(policy, layer);
  end loop;
  return policy;
end;
$$;

-- Where no layer applies, which is usual, nothing is called. Inlined by the planner, hence no SET clause.
create or replace function memory._effective_policy(p_layers memory.policies[])
returns jsonb
language sql stable parallel safe
begin atomic
  select case when p_layers = '{}' then memory._default_policy() else memory._merge_layers(p_layers) end;
end;

create or replace function memory._policy(p_user_id text, p_agent_id text)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  layers constant memory.policies[] := array(
    select p from memory.policies as p
    where p.user_id in ('', coalesce(p_user_id, '')) and p.agent_id in ('', coalesce(p_agent_id, '')));
begin
  return memory._effective_policy(layers);
end;
$$;

-- One section of it, for a search, which needs no other: a third of the time of the whole.
create or replace function memory._policy_section(p_user_id text, p_agent_id text, p_section text)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  settings jsonb := memory._default_policy() -> p_section;
  layer jsonb;
begin
  for layer in
    select p.settings -> p_section from memory.policies as p
    where p.user_id in ('', coalesce(p_user_id, '')) and p.agent_id in ('', coalesce(p_agent_id, '')) and p.settings ? p_section
    order by p.user_id <> '', p.agent_id <> ''
  loop
    settings := settings || layer;
  end loop;
  return settings;
end;
$$;

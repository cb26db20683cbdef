-- A policy with another one laid over it: sections merge key by key, and the value of a key is replaced as a whole.
create or replace function memory._merge_policy(p_base jsonb, p_layer jsonb)
returns jsonb
language plpgsql immutable parallel safe
as $$
begin
  return p_base || coalesce(jsonb_object_agg(key, coalesce(p_base -> key, '{}') || value), '{}')
  from jsonb_each(case jsonb_typeof(p_layer) when 'object' then p_layer else '{}' end);
end;
$$;

-- The built-in policy with these rows laid over it, weakest first: the row of everyone, of the agent, of the user, of
-- the agent for this user. The rows come in any order.
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
  if policy #>> '{resources,knowledge_base}' = 'false' then -- both need the resource
    policy := memory._merge_policy(policy,
      '{"compression": {"archive_conversations": false}, "knowledge_base": {"enable_cross_session_context": false}}');
  end if;
  return policy;
end;
$$;

-- The policy of these rows. Usually there are no rows, and then the function calls no other one.
create or replace function memory._effective_policy(p_layers memory.policies[])
returns jsonb
language sql stable parallel safe
begin atomic
  select case when cardinality(p_layers) = 0 then memory._default_policy() else memory._merge_layers(p_layers) end;
end;

-- Whether the row of memory.policies for p_row_user and p_row_agent applies to a user and an agent. A null p_user_id or
-- p_agent_id stands for everyone.
create or replace function memory._policy_applies(
  p_row_user text, p_row_agent text, p_user_id text, p_agent_id text
)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_row_user in ('', coalesce(p_user_id, '')) and p_row_agent in ('', coalesce(p_agent_id, ''));
end;

-- The policy that applies to a user and an agent. A null stands for everyone.
create or replace function memory._policy(p_user_id text, p_agent_id text)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  -- "offset 0" hides the arguments from the planner. Otherwise PostgreSQL plans this statement anew in each call,
  -- because a plan for these arguments looks cheaper than one for any arguments.
  layers constant memory.policies[] := array(
    select p from (select p_user_id, p_agent_id offset 0) as a (user_id, agent_id)
    join memory.policies as p on memory._policy_applies(p.user_id, p.agent_id, a.user_id, a.agent_id));
begin
  return memory._effective_policy(layers);
end;
$$;

-- One section of the policy that applies to a user and an agent.
create or replace function memory._policy_section(p_user_id text, p_agent_id text, p_section text)
returns jsonb
language plpgsql stable parallel safe
as $$
begin
  return memory._policy(p_user_id, p_agent_id) -> p_section;
end;
$$;

-- Whether an agent has the resource memory. Without it an agent stores and recalls nothing.
create or replace function memory._has_memory(p_user_id text, p_agent_id text)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return (memory._policy_section(p_user_id, p_agent_id, 'resources') ->> 'memory')::boolean;
end;
$$;

-- Tells the caller that nothing was stored or recalled, because the agent lacks a resource.
create or replace function memory._note_missing_resource(p_agent_id text, p_resource text, p_effect text)
returns void
language plpgsql stable parallel safe
as $$
begin
  raise notice 'degraded: %, agent "%" has no resource "%"', p_effect, coalesce(p_agent_id, '(any)'), p_resource
    using errcode = '01AM8',
      hint = format('Its policy says so: see resources in memory.get_policy(agent_id => %L).', p_agent_id);
end;
$$;

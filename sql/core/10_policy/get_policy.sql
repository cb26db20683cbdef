create or replace function memory.get_policy(agent_id text default null, user_id text default null)
returns jsonb
language plpgsql stable parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('agent_id', coalesce(agent_id, 'any'));
  perform memory._check_user_or_all(user_id);
  return memory._policy(get_policy.user_id, get_policy.agent_id);
end;
$$;
comment on function memory.get_policy(text, text) is
'The settings that apply to a user and an agent, merged key by key. Those of the agent for this user come first, then '
'those of the user, of the agent, of everyone, and the built-in ones.';

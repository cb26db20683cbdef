create or replace function memory.load_user(user_id text, agent_id text default null)
returns jsonb
language plpgsql stable parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  sees_memories boolean;
  row_limit int; -- the greatest number of memories of each type
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('agent_id', coalesce(agent_id, 'any'));
  sees_memories := memory._has_memory(user_id, agent_id);
  if not sees_memories then
    perform memory._note_missing_resource(agent_id, 'memory', 'only the names of secrets are loaded');
  end if;
  row_limit := case when sees_memories then 50 else 0 end;
  return jsonb_build_object(
    'summary', (select s.summary from memory.get_user_summary(user_id) as s where sees_memories),
    'preferences', memory._foremost_memories(user_id, agent_id, 'preference', row_limit),
    'facts', memory._foremost_memories(user_id, agent_id, 'fact', row_limit),
    'threads', (
      select coalesce(jsonb_agg(to_jsonb(t) - 'total_count'), '[]')
      from memory.list_threads(user_id, row_limit => 10) as t where sees_memories),
    'secrets', (
      select coalesce(jsonb_agg(n.name order by n.name), '[]')
      from (select s.name from memory.secrets as s
            where s.user_id = load_user.user_id order by s.name limit 100) as n));
end;
$$;
comment on function memory.load_user(text, text) is
'Everything that an agent needs to know of a user when it starts, in one call: {"summary": text or null, '
'"preferences": the 50 most important ones, "facts": the same, "threads": the 10 newest, "secrets": up to 100 names, '
'never a value}. A memory has memory_id, content, tags, agent_id, confidence, importance, created_at and valid_from. '
'With agent_id only the memories of that agent.';

-- Current memories of a type, of one agent or all: the most important first, then the newest.
create or replace function memory._foremost_memories(
  p_user_id text, p_agent_id text, p_memory_type text, p_row_limit int
)
returns jsonb
language plpgsql stable parallel safe
set plan_cache_mode = force_custom_plan -- the index has only two types, and a generic plan could not use it
as $$
begin
  return (
    with foremost as materialized (
      select v.memory_id, v.importance, v.created_at
      from memory.memories as v
      where v.user_id = p_user_id and (p_agent_id is null or v.agent_id = p_agent_id) and memory._is_valid(v)
        and v.memory_type = p_memory_type
      order by v.importance desc, v.created_at desc, v.memory_id desc
      limit p_row_limit
    )
    select coalesce(jsonb_agg(jsonb_build_object(
             'memory_id', m.memory_id, 'content', m.content, 'tags', m.tags, 'agent_id', m.agent_id,
             'confidence', m.confidence, 'importance', m.importance, 'created_at', m.created_at,
             'valid_from', memory._real_or_null(m.valid_from))
           order by f.importance desc, f.created_at desc, f.memory_id desc), '[]')
    from foremost as f
    join memory.memories as m on m.user_id = p_user_id and m.memory_id = f.memory_id);
end;
$$;

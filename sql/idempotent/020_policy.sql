-- Policies: built-in defaults, and what applies to one user and agent.
create or replace function memory._default_policy()
returns jsonb
language sql immutable parallel safe
begin atomic
  select '{
    "messages": {"expires_after": "7 days"},
    "memories": {"max_per_agent": 1000, "eviction": "importance", "expires_after": null, "near_duplicate_cosine": 0.97,
      "max_per_reply": 100, "max_extracted_per_day": 500},
    "summary": {"enabled": true, "window_size": 14, "start_seq": 5},
    "compression": {"enabled": true, "threshold_tokens": 10000, "recent_messages_to_keep": 10, "archive_conversations": false},
    "cadence": {"fact_extraction_every_n": 10, "thread_summary_every_n": 0, "user_summary_every_n": 0, "reconcile_every_n": 5},
    "artifacts": {"enabled": true, "threshold_tokens": 500},
    "knowledge_base": {"chunk_size": 800, "chunk_overlap": 100, "enable_cross_session_context": false, "relevance_threshold": 0.7,
      "search_triggers": ["what did we discuss", "previous conversation", "last time", "remind me", "we mentioned", "earlier you said"]},
    "search": {"fusion": "score", "rrf_k": 60, "language": "english", "embed_messages": true, "approximate_above": 10000},
    "context": {"max_tokens": 4000, "max_memories": 20, "embed_query": false, "memories_share": 0.25, "cross_session_share": 0.25,
      "relevance_weight": 1.0, "importance_weight": 0.5, "recency_weight": 0.25},
    "jobs": {"max_running_per_user": 4},
    "budget": {"tokens_per_user_per_day": null, "tokens_per_agent_per_day": null}
  }'::jsonb;
end;

-- Sections merge key by key, everything inside a section replaces.
create or replace function memory._merge_policy(base jsonb, layer jsonb)
returns jsonb
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return base || coalesce(jsonb_object_agg(key, coalesce(base -> key, '{}') || value), '{}') from jsonb_each(layer);
end;
$$;

-- The layers that apply, weakest first: global, agent, user, agent of this user. The hot path reads them as an array,
-- unordered, in a statement it runs anyway: that is 20 us cheaper than an aggregate.
create or replace function memory._merge_layers(layers memory.policies[])
returns jsonb
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  policy jsonb := memory._default_policy();
  layer jsonb;
begin
  for layer in select l.settings from unnest(layers) as l order by l.user_id <> '', l.agent_id <> '' loop
    policy := memory._merge_policy(policy, layer);
  end loop;
  return policy;
end;
$$;

-- Where no layer applies, which is usual, nothing is called. Inlined by the planner, hence no SET clause.
create or replace function memory._effective_policy(layers memory.policies[])
returns jsonb
language sql stable parallel safe
begin atomic
  select case when layers = '{}' then memory._default_policy() else memory._merge_layers(layers) end;
end;

create or replace function memory._policy(user_id text, agent_id text)
returns jsonb
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  layers constant memory.policies[] := array(
    select p from memory.policies as p
    where p.user_id in ('', coalesce(_policy.user_id, '')) and p.agent_id in ('', coalesce(_policy.agent_id, '')));
begin
  return memory._effective_policy(layers);
end;
$$;

-- One section of it, for a search, which needs no other: a third of the time of the whole.
create or replace function memory._policy_section(user_id text, agent_id text, section text)
returns jsonb
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  settings jsonb := memory._default_policy() -> section;
  layer jsonb;
begin
  for layer in
    select p.settings -> section from memory.policies as p
    where p.user_id in ('', coalesce(_policy_section.user_id, '')) and p.agent_id in ('', coalesce(_policy_section.agent_id, '')) and p.settings ? section
    order by p.user_id <> '', p.agent_id <> ''
  loop
    settings := settings || layer;
  end loop;
  return settings;
end;
$$;

-- A setting from 0 to 1 as a number to calculate with. JSON also holds numbers too small for a double precision
-- (1e-400), which a cast alone refuses.
create or replace function memory._share(setting text)
returns double precision
language sql immutable parallel safe
begin atomic
  select round(setting::numeric, 9)::double precision;
end;

-- Lifetimes are intervals; null and 'never' mean no end.
create or replace function memory._expiry(lifetime text)
returns timestamptz
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case when lifetime is null or lifetime = 'never' then 'infinity' else statement_timestamp() + lifetime::interval end
$$;

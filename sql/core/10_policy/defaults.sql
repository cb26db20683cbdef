-- The built-in policy: every section and key that memory.set_policy() accepts, except summary.model. The build merges
-- defaults.json of this room with those of the kinds of jobs (50_work/<kind>/defaults.json).
create or replace function memory._default_policy()
returns jsonb
language sql immutable parallel safe
begin atomic
  select '{{defaults}}'::jsonb;
end;

-- The built-in policy: every section and key that memory.set_policy() accepts, except summary.model. The build merges
-- defaults.json of all rooms and kinds of jobs, so an add-on that is not installed has no settings.
create or replace function memory._default_policy()
returns jsonb
language sql immutable parallel safe
begin atomic
  select '{{defaults}}'::jsonb;
end;

create or replace function memory.reset_prompt(name text)
returns int
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_prompt_name(name);
  return memory._add_prompt_version(name, null);
end;
$$;
comment on function memory.reset_prompt(text) is
'Goes back to the built-in prompt, which later versions of agent_memory may improve, and returns the new version. '
'Earlier edits stay in memory.prompt_versions.';

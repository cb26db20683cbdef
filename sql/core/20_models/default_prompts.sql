-- The built-in prompts: one row for each prompt.txt of a kind of job, for 60_search/rerank.txt and
-- for 70_context/placeholders.txt.
create or replace function memory._default_prompts()
returns table (name text, template text)
language sql immutable parallel safe
begin atomic
  values
{{prompts}};
end;

-- The variables of a template, such as messages for {{messages}}. An edit of a prompt must use exactly the variables of
-- the built-in prompt.
create or replace function memory._prompt_variables(p_template text)
returns text[]
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(select distinct m.groups[1]
               from regexp_matches(p_template, e'\\{\\{\\s*(\\w+)\\s*\\}\\}', 'g') as m (groups) order by 1);
end;
$$;

-- Prompts are data: built-in ones, edits of them, and the rules of an edit.
create or replace function memory._default_prompts()
returns table (name text, template text)
language sql immutable parallel safe
begin atomic
  values
{{prompts}};
end;

-- Needed in a template, and all that it may have: what the built-in one uses.
create or replace function memory._prompt_variables(template text)
returns text[]
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(select distinct m.groups[1] from regexp_matches(template, e'\\{\\{\\s*(\\w+)\\s*\\}\\}', 'g') as m (groups) order by 1);
end;
$$;

-- The prompt in use, as jobs hand it out.
create or replace function memory._prompt(name text)
returns jsonb
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object('name', p.name, 'version', p.version, 'template', p.template)
  from memory.prompts as p where p.name = _prompt.name;
end;
$$;

create or replace function memory._check_prompt_name(name text)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from memory._default_prompts() as d where d.name = _check_prompt_name.name) then
    perform memory._refuse('name', format('there is no prompt "%s"', left(name, 50)),
      'There are: ' || (select string_agg(d.name, ', ' order by d.name) from memory._default_prompts() as d), 'P0002');
  end if;
end;
$$;

-- One more version; editors queue up.
create or replace function memory._add_prompt_version(name text, template text)
returns int
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  added int;
begin
  -- Of the table, because any role can take an advisory lock and keep it.
  lock table memory.prompt_versions in share row exclusive mode;
  insert into memory.prompt_versions as v (name, version, template)
  select _add_prompt_version.name, coalesce(max(p.version), 1) + 1, _add_prompt_version.template
  from memory.prompt_versions as p where p.name = _add_prompt_version.name
  returning v.version into added;
  return added;
end;
$$;

create or replace view memory.prompts as
select d.name, coalesce(v.version, 1) as version, coalesce(v.template, d.template) as template,
  v.template is null as is_default, memory._prompt_variables(d.template) as variables, v.changed_by, v.changed_at
from memory._default_prompts() as d
left join lateral (select p.* from memory.prompt_versions as p where p.name = d.name
                   order by p.version desc limit 1) as v on true;
comment on view memory.prompts is
'The prompts in use: one per kind of job that asks a chat model, one for reranking, and the paragraph on placeholders '
'that contexts show. memory.set_prompt() changes one, '
'memory.reset_prompt() restores it.';

-- The prompt in use, as a job's payload contains it.
create or replace function memory._prompt(p_name text)
returns jsonb
language plpgsql stable parallel safe
as $$
begin
  return jsonb_build_object('name', p.name, 'version', p.version, 'template', p.template)
  from memory.prompts as p where p.name = p_name;
end;
$$;

-- Refuses a name that no built-in prompt has.
create or replace function memory._check_prompt_name(p_name text)
returns void
language plpgsql stable parallel safe
as $$
begin
  if not exists (select from memory._default_prompts() as d where d.name = p_name) then
    perform memory._refuse('name', format('there is no prompt "%s"', left(p_name, 50)),
      'There are: ' || (select string_agg(d.name, ', ' order by d.name) from memory._default_prompts() as d), 'P0002');
  end if;
end;
$$;

-- Stores the next version of a prompt and returns its number. A null template means the built-in prompt.
create or replace function memory._add_prompt_version(p_name text, p_template text)
returns int
language plpgsql volatile parallel unsafe
as $$
declare
  added int;
begin
  -- Editors wait for each other. The lock is on the table, because any role could take an advisory lock and keep it.
  lock table memory.prompt_versions in share row exclusive mode;
  insert into memory.prompt_versions as v (name, version, template)
  select p_name, coalesce(max(p.version), 1) + 1, p_template
  from memory.prompt_versions as p where p.name = p_name
  returning v.version into added;
  perform memory._audit(case when p_template is null then 'reset_prompt' else 'set_prompt' end,
    jsonb_build_object('name', p_name, 'version', added));
  return added;
end;
$$;

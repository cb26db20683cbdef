create or replace function memory.set_prompt(name text, template text)
returns int
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  needed text[];
  used text[] := memory._prompt_variables(template);
  variable text;
begin
  perform memory._check_prompt_name(name);
  if (template ~ e'\\S') is not true then
    perform memory._refuse('template', case when template is null then 'must not be null' else 'must not be empty' end,
      'memory.reset_prompt() goes back to the built-in one.');
  elsif octet_length(template) > 65536 then
    perform memory._refuse_size('template', octet_length(template), 65536, 'It is sent with every call.');
  end if;
  select memory._prompt_variables(d.template) into needed
  from memory._default_prompts() as d where d.name = set_prompt.name;
  foreach variable in array needed loop
    if variable <> all (used) then
      perform memory._refuse('template', format('lacks {{%s}}', variable),
        'It needs: {{' || array_to_string(needed, '}}, {{') || '}}');
    end if;
  end loop;
  foreach variable in array used loop
    if variable <> all (needed) then
      perform memory._refuse('template', format('has the unknown variable {{%s}}', left(variable, 50)),
        'There are: {{' || array_to_string(needed, '}}, {{') || '}}');
    end if;
  end loop;
  return memory._add_prompt_version(name, template);
end;
$$;
comment on function memory.set_prompt(text, text) is
'Changes the prompt of a kind of job from the next claim on, and returns the new version. An edit must use exactly the '
'{{variables}} of the built-in prompt (22023); a line of --- ends the system message.';

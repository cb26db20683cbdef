-- The user_ids of the spaces that a search or a context reads beside the user's own memory: the spaces that the caller
-- names (p_names), or else those of the policy (context.spaces); null for none. In every session only spaces count that
-- are granted to the user. If the caller names another space, the call is refused, in the same words whether the space
-- exists or not. Spaces of the policy that are not granted are left out, because a policy holds for many users.
create or replace function memory._spaces_to_read(p_user_id text, p_names text[], p_policy jsonb default null)
returns text[]
language plpgsql stable parallel safe
as $$
declare
  names constant text[] := coalesce(p_names, array(select jsonb_array_elements_text(p_policy #> '{context,spaces}')));
  granted text[] := array[]::text[];
  name text;
  is_here boolean;
begin
  perform memory._check_list('spaces', p_names);
  foreach name in array names loop
    is_here := memory._is_here(memory._user_of_space(name));
    if is_here and memory._is_granted(memory._user_of_space(name), p_user_id, false) then
      if memory._user_of_space(name) <> all (granted) then
        granted := granted || memory._user_of_space(name);
      end if;
    elsif p_names is not null and is_here then
      perform memory._refuse_space('spaces', name);
    elsif p_names is not null then
      perform memory._refuse('spaces',
        format('another node serves the space "%s", and a call reads only spaces of the node of its user', name),
        'Move one of them: agent-memory cluster move --user USER --to NODE. The user_id of the space is space:NAME.',
        '0A000');
    end if;
  end loop;
  return nullif(granted, '{}');
end;
$$;

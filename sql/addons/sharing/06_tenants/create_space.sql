create or replace function memory.create_space(space text, title text default null, metadata jsonb default '{}')
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  id constant text := memory._space_id(space);
begin
  perform memory._check_title(title, 'Put more into metadata.');
  metadata := coalesce(metadata, '{}');
  perform memory._check_metadata(metadata);
  insert into memory.spaces (user_id, title, metadata)
  values (id, create_space.title, create_space.metadata)
  on conflict on constraint spaces_pkey do nothing;
  if not found then
    perform memory._refuse('space', format('there is a space "%s" already', space),
      'memory.list_spaces() lists the spaces.', '23505');
  end if;
  perform memory._audit('create_space', '{}', id);
end;
$$;
comment on function memory.create_space(text, text, jsonb) is
'Creates a space: memory that several users share. It is written and read like a user, under the user_id space:NAME. '
'Users of memory.grant_space() find what it holds in memory.search(), memory.get_context() and memory.list_memories() '
'by the argument spaces, or by the policy''s context.spaces. Error 23505 when there is such a space. For '
'administrators.';

-- The user_id of the space with this name. Refuses a text that cannot name a space, and a space that another node of
-- the cluster serves.
create or replace function memory._space_id(p_space text)
returns text
language plpgsql volatile parallel unsafe
as $$
begin
  if not memory._is_id(p_space) or length(p_space) > 249 or memory._is_space(p_space) then
    perform memory._refuse('space',
      case
        when p_space is null then 'must not be null'
        when p_space = '' then 'must not be empty'
        when length(p_space) > 249 then format('has %s characters, at most 249 are allowed', length(p_space))
        else 'begins with "space:"' end,
      'Pass the name of the space, such as acme. Its user_id is then space:acme.');
  elsif not memory._is_here(memory._user_of_space(p_space)) then
    perform memory._refuse_other_node(memory._user_of_space(p_space));
  end if;
  return memory._user_of_space(p_space);
end;
$$;

-- The user_id of an existing space. The caller's transaction keeps the space from being deleted. Refuses others.
create or replace function memory._existing_space(p_space text)
returns text
language plpgsql volatile parallel unsafe
as $$
declare
  id constant text := memory._space_id(p_space);
begin
  perform from memory.spaces as s where s.user_id = id for key share;
  if not found then
    perform memory._refuse_space('space', p_space);
  end if;
  return id;
end;
$$;

create or replace function memory._refuse_space(p_argument text, p_space text)
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._refuse(p_argument, format('there is no space "%s"', p_space),
    'memory.list_spaces() lists the spaces, memory.list_spaces(user_id) those of a user.', 'P0002');
end;
$$;

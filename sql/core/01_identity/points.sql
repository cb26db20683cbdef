-- Whether this server serves a user. On a single server the answer is the constant true, which PostgreSQL folds away: a
-- call costs nothing. On a node of a cluster the function has another body, which tells by the map of the cluster.
create or replace function memory._is_here(p_user_id text)
returns boolean
language sql immutable parallel safe
begin atomic
  select true;
end;

-- Raises the error for a user whom another server serves. Without a cluster no other server serves a user, so the
-- function does nothing.
create or replace function memory._refuse_other_node(p_user_id text)
returns void
language sql immutable parallel safe
begin atomic
end;

-- The map of a cluster, which clients ask for; null if one server serves all users.
create or replace function memory._cluster_map()
returns jsonb
language plpgsql stable parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return null;
end;
$$;

-- The user that a tenant's session reaches. Without add-ons no session is a tenant's.
create or replace function memory._user_of_tenant()
returns text
language plpgsql stable parallel unsafe
as $$
begin
  perform memory._refuse_token('cannot be verified: this installation knows no tenants');
  return null;
end;
$$;

-- Refuses a space that does not exist, or that this session may not write (if p_writes) or read. Without add-ons no
-- space exists, so the function refuses every space.
create or replace function memory._check_space(p_user_id text, p_writes boolean)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._refuse('user_id', format('there is no space "%s"', memory._space_of(p_user_id)),
    'Ids that begin with "space:" are those of spaces, which this installation does not have.');
end;
$$;

-- Refuses the users that memory._check_id('user_id', ...) refuses, except a space deleted while a worker had its job.
create or replace function memory._check_user_of_job(p_user_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._check_id('user_id', p_user_id);
end;
$$;

-- The user_ids of the spaces that a search or a context reads beside the user's own memory: the spaces that the caller
-- names (p_names), or else those that the policy names; null for none.
create or replace function memory._spaces_to_read(p_user_id text, p_names text[], p_policy jsonb default null)
returns text[]
language plpgsql stable parallel safe
as $$
begin
  perform memory._check_list('spaces', p_names);
  if p_names <> '{}' then
    perform memory._refuse('spaces', format('there is no space "%s"', p_names[1]), 'This installation has no spaces.',
      'P0002');
  end if;
  return null;
end;
$$;

-- Notes that the user of a tenant's session wrote a text in a space. Without add-ons there are no spaces.
create or replace function memory._note_writer(p_user_id text, p_source text, p_id text, p_is_new boolean)
returns void
language sql immutable parallel safe
begin atomic
end;

-- Whether this server serves a user. On a single server the answer is the constant true, which PostgreSQL folds away:
-- a call pays nothing. A node of a cluster has another body, which the map of the cluster writes.
create or replace function memory._is_here(p_user_id text)
returns boolean
language sql immutable parallel safe
begin atomic
  select true;
end;

-- Refuses a user whom another server serves. Nobody does without a cluster.
create or replace function memory._refuse_other_node(p_user_id text)
returns void
language sql immutable parallel safe
begin atomic
end;

-- The map of a cluster, which clients ask for. Null: one server serves all users.
create or replace function memory._cluster_map()
returns jsonb
language plpgsql stable parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return null;
end;
$$;

-- The user that a tenant's session reaches. Without bound roles and tokens no such session reaches anybody.
create or replace function memory._user_of_tenant()
returns text
language plpgsql stable parallel unsafe
as $$
begin
  perform memory._refuse_token('cannot be verified: this installation knows no tenants');
  return null;
end;
$$;

-- Refuses a space that does not exist, or that this session may not write (p_writes) or read.
create or replace function memory._check_space(p_user_id text, p_writes boolean)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._refuse('user_id', format('there is no space "%s"', memory._space_of(p_user_id)),
    'Ids that begin with "space:" are those of spaces, which this installation does not have.');
end;
$$;

-- Refuses what memory._check_id('user_id', ...) refuses, but for a space that was deleted while a worker had one of its
-- jobs.
create or replace function memory._check_user_of_job(p_user_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._check_id('user_id', p_user_id);
end;
$$;

-- The user_ids of the spaces that a search or a context of a user reads besides: those that the caller names (p_names),
-- or else the policy; null for none.
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

-- Notes that the user of a tenant's session wrote a text in a space.
create or replace function memory._note_writer(p_user_id text, p_source text, p_id text, p_is_new boolean)
returns void
language sql immutable parallel safe
begin atomic
end;

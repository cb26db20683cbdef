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
language plpgsql volatile parallel unsafe
as $$
begin
end;
$$;

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

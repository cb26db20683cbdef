-- Whether the newest map gives a user to this node. The result is true if it does and the statement of the caller sees
-- that map (p_seen); null if memory._is_in_new_map() has to decide. 82_cluster/set_map.sql replaces the body by one
-- with the map's constants.
--
-- The caller passes pg_sequence_last_value('memory.cluster_map_lock') as p_lock. Nobody needs this value, but
-- PostgreSQL keeps the lock on the sequence until the transaction ends, and a session that changes the map takes a
-- conflicting lock. So a change waits for the calls before it. A call after the change gets the lock, and with it all
-- news of the catalog, before PostgreSQL looks this function up, and so runs the new body. Reading the map's row
-- instead would take as long again as all the rest of the check.
create or replace function memory._is_in_map(p_user_id text, p_lock bigint, p_seen pg_snapshot)
returns boolean
language sql volatile parallel unsafe
begin atomic
  select null::boolean;
end;

-- The map that the statement of the caller sees. The function is stable, so it has no snapshot of its own.
create or replace function memory._map_seen()
returns memory.cluster_map
language plpgsql stable parallel safe
as $$
declare
  map memory.cluster_map;
begin
  select m.* into map from memory.cluster_map as m;
  return map;
end;
$$;

-- Whether the map gives a user to this node. This function decides where memory._is_in_map() cannot: the statement of
-- the caller does not see the newest map, the user was moved alone or is being moved, or another node serves the user.
-- The transaction already has the lock.
--
-- Two calls are refused with an error to retry (40001). The first is a read whose snapshot is older than the change
-- (p_seen): it would miss the rows of a user who has arrived since. The second is a writing transaction of a higher
-- isolation level, which has only one snapshot: it locks the row of the map, and PostgreSQL refuses this if the row has
-- changed since. A snapshot from before the first map sees no row at all.
create or replace function memory._is_in_new_map(p_user_id text, p_seen memory.cluster_map)
returns boolean
language plpgsql volatile parallel unsafe
as $$
declare
  map memory.cluster_map;
  digest text;
begin
  if current_setting('transaction_isolation') = 'read committed' or current_setting('transaction_read_only') = 'on' then
    select m.* into map from memory.cluster_map as m;
  else
    select m.* into map from memory.cluster_map as m for share;
  end if;
  if map.version is null or p_seen.version is null
    or map.version <> p_seen.version
      and memory._node_of(p_user_id, p_seen.partitions, p_seen.users) is distinct from map.node then
    raise exception 'user_id: the map of the cluster has just changed' using errcode = '40001',
      detail = format('map version %s', map.version), hint = 'Nothing was stored. Call again.';
  end if;
  digest := md5(convert_to(p_user_id, 'UTF8'));
  if digest = any (map.moving)
    or memory._partition_of_digest(digest, cardinality(map.partitions))::text = any (map.moving) then
    raise exception 'user_id: the user is being moved to another node' using errcode = '55P03',
      detail = format('map version %s', map.version), hint = 'Nothing was stored. Call again in a second.';
  end if;
  return memory._node_of(p_user_id, map.partitions, map.users) = map.node;
end;
$$;

-- The node to which a map gives a user.
create or replace function memory._node_of(p_user_id text, p_partitions text[], p_users jsonb)
returns text
language sql stable parallel safe -- convert_to() is stable, and PostgreSQL would not inline it otherwise
begin atomic
  select coalesce(p_users ->> md5(convert_to(p_user_id, 'UTF8')),
    p_partitions[memory._partition_of_digest(md5(convert_to(p_user_id, 'UTF8')), cardinality(p_partitions)) + 1]);
end;

-- Refuses a user whom another node serves.
create or replace function memory._refuse_other_node(p_user_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  map memory.cluster_map;
  node text;
begin
  select m.* into map from memory.cluster_map as m;
  node := memory._node_of(p_user_id, map.partitions, map.users);
  raise exception 'user_id: node "%" serves the user, and this is node "%"', node, map.node using errcode = 'AM003',
    detail = format('map version %s', map.version),
    hint = format('Call node %s: %s', node, map.nodes -> node ->> 'dsn');
end;
$$;

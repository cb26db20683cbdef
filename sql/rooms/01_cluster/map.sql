-- The map as clients read it: {"version", "node", "partitions", "moving", "nodes"}; null where one server serves all
-- users.
create or replace function memory._cluster_map()
returns jsonb
language sql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
begin atomic
  select to_jsonb(m) - 'is_map' - 'changed_at' from memory.cluster_map as m;
end;

-- The map as clients read it: {"version", "node", "partitions", "moving", "nodes"}; null where one server serves all
-- users.
create or replace function memory._cluster_map()
returns jsonb
language sql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
begin atomic
  select to_jsonb(m) - 'is_map' - 'changed_at' from memory.cluster_map as m;
end;

-- Lets memory._is_here() ask the map where there is one. A volatile function is inlined into its callers only if they
-- are volatile too, so memory._is_user() becomes volatile.
create or replace function memory._route_by_map()
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  map memory.cluster_map;
  following bigint;
begin
  select m.* into map from memory.cluster_map as m;
  if not found then
    return;
  end if;
  create or replace function memory._is_here(p_user_id text)
  returns boolean
  language sql volatile parallel unsafe
  as 'select memory._is_in_map(p_user_id, memory._map_seen())';
  alter function memory._is_user(text) volatile parallel unsafe;
  -- Ids of jobs differ between nodes: each node has a remainder of its own.
  if (select s.seqincrement from pg_sequence as s where s.seqrelid = 'memory.jobs_job_id_seq'::regclass) <> 1024 then
    select (s.last_value / 1024 + 1) * 1024 + (map.nodes -> map.node ->> 'number')::int into following
    from memory.jobs_job_id_seq as s;
    execute format('alter sequence memory.jobs_job_id_seq increment by 1024 restart with %s', following);
  end if;
end;
$$;

-- The map as clients read it: {"version", "node", "partitions", "users", "moving", "nodes"}; null if one server serves
-- all users. A tenant's session sees only its own user in "users", and only the partitions in "moving", because anybody
-- who knows the MD5 of a user_id can find the user_id by trying names.
create or replace function memory._cluster_map()
returns jsonb
language plpgsql stable parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  map jsonb;
  own text;
begin
  select to_jsonb(m) - 'is_map' - 'changed_at' into map from memory.cluster_map as m;
  if map is not null and memory._is_tenant() then
    own := md5(convert_to(memory._user_of_tenant(), 'UTF8'));
    map := map || jsonb_build_object(
      'users', case when map -> 'users' ? own then jsonb_build_object(own, map #> array['users', own]) else '{}' end,
      'moving', array(select m from jsonb_array_elements_text(map -> 'moving') as m where length(m) < 32));
  end if;
  return map;
end;
$$;

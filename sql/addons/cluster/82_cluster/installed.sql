-- After an installation or an upgrade: a node of a cluster asks its map again which users it serves.
create or replace function memory._cluster_installed()
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._route_by_map();
end;
$$;

create or replace function memory.activate_model(name text)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s' -- an administrator hears of an open transaction soon
as $$
declare
  activated memory.models;
begin
  activated := memory._locked_model(name);
  update memory.models as m set is_active = false
  where m.kind = activated.kind and m.is_active and m.name <> activated.name;
  update memory.models as m set is_active = true, is_off = false
  where m.name = activated.name and not m.is_active;
  if found and activated.kind = 'embedding' then
    perform memory._enqueue_for_everyone('backfill');
  end if;
  perform memory._audit('activate_model', jsonb_build_object('name', name));
exception
  when lock_not_available then
    perform memory._refuse_held_model(name);
end;
$$;
comment on function memory.activate_model(text) is
'Makes a registered model the one in use for its kind, at once. An embedding model may be activated before it is '
'filled: a user whose embeddings are not complete is searched with another model that has them.';

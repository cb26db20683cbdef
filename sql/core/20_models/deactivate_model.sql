create or replace function memory.deactivate_model(name text)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s' -- an administrator hears of an open transaction soon
as $$
declare
  deactivated memory.models;
begin
  deactivated := memory._locked_model(name);
  update memory.models as m set is_active = false, is_off = true where m.name = deactivated.name;
  perform memory._audit('deactivate_model', jsonb_build_object('name', name));
exception
  when lock_not_available then
    perform memory._refuse_held_model(name);
end;
$$;
comment on function memory.deactivate_model(text) is
'Switches a model off: it gets no more calls and no more jobs. Its embeddings stay until memory.drop_model(). '
'memory.activate_model() switches it on again.';

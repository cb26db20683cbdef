create or replace function memory.activate_model(name text)
returns void
language plpgsql volatile parallel unsafe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  activated_kind text;
begin
  select m.kind into activated_kind from memory.models as m where m.name = activate_model.name;
  if not found then
    perform memory._refuse('name', format('there is no model "%s"', name), 'Register it with memory.register_model().', 'P0002');
  end if;
  -- Two administrators at once: the second waits for the first, so the unique index never refuses one of them.
  perform from memory.models as m where m.kind = activated_kind order by m.name for update;
  update memory.models as m set is_active = false where m.kind = activated_kind and m.is_active and m.name <> activate_model.name;
  update memory.models as m set is_active = true where m.name = activate_model.name and not m.is_active;
end;
$$;
comment on function memory.activate_model(text) is
'Makes a registered model the one that jobs of its kind use from the next claim on.';

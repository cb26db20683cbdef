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
  perform from memory.models as m where m.kind = activated_kind order by m.name for no key update;
  if not exists (select from memory.models as m where m.name = activate_model.name) then -- dropped while it was waited for
    perform memory._refuse('name', format('model "%s" was just dropped', name), 'Register it again.', 'P0002');
  end if;
  update memory.models as m set is_active = false where m.kind = activated_kind and m.is_active and m.name <> activate_model.name;
  update memory.models as m set is_active = true, is_off = false where m.name = activate_model.name and not m.is_active;
  if found and activated_kind = 'embedding' then
    perform memory._enqueue_for_everyone('backfill');
  end if;
end;
$$;
comment on function memory.activate_model(text) is
'Makes a registered model the one in use for its kind, from now on and at once. An embedding model may be activated before it is filled: a user whose embeddings are not all there yet is searched with another model that has them until they are. A query_embedding that the caller brings along is always compared with the model of its dimensions, the active one first.';

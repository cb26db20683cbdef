create or replace function memory.deactivate_model(name text)
returns void
language plpgsql volatile parallel unsafe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  deactivated_kind text;
begin
  select m.kind into deactivated_kind from memory.models as m where m.name = deactivate_model.name;
  if not found then
    perform memory._refuse('name', format('there is no model "%s"', name),
      'select name from memory.models shows what there is.', 'P0002');
  end if;
  -- In the order in which memory.activate_model() locks them.
  perform from memory.models as m where m.kind = deactivated_kind order by m.name for no key update;
  update memory.models as m set is_active = false, is_off = true where m.name = deactivate_model.name;
end;
$$;
comment on function memory.deactivate_model(text) is
'Switches a model off: from now on it is asked for nothing and nothing is queued for it. Without an active embedding '
'model searches go by keyword; the embeddings stay, so memory.activate_model() has to fill in only what came since, '
'and memory.drop_model() removes them. Without a rerank model results keep their order. Without a chat model the jobs '
'that need one wait in the queue. A call that is under way is finished.';

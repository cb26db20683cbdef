create or replace function memory.drop_model(name text)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s' -- an administrator hears of an open transaction soon
as $$
declare
  dropped memory.models;
begin
  select m.* into dropped from memory.models as m where m.name = drop_model.name for update;
  if not found then
    perform memory._refuse_unknown_model(name);
  elsif dropped.is_active and dropped.kind <> 'rerank' then -- search works without a rerank model
    perform memory._refuse('name', format('model "%s" is in use', name),
      'Activate another one of its kind first, or switch it off with memory.deactivate_model().', '23505');
  end if;
  if dropped.kind = 'embedding' and dropped.dimensions is not null -- it has embedded something
    and exists (select from memory.models as m where m.kind = 'embedding' and m.name <> dropped.name)
    and exists (select from memory.jobs as j where j.kind = 'backfill' and j.status in ('pending', 'running')) then
    raise notice 'degraded: until the backfill of the other embedding models is finished, some users find less'
      using errcode = '01AM3', hint = 'memory.backfill_status() shows how far it is.';
  end if;
  delete from memory.models as m where m.name = drop_model.name;
  perform memory._audit('drop_model', jsonb_build_object('name', name));
exception
  when lock_not_available then
    perform memory._refuse_held_model(name);
end;
$$;
comment on function memory.drop_model(text) is
'Removes a model that is not in use, or a rerank model, with everything it has embedded. Its calls stay in the ledger.';

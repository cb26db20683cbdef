-- Notes that an artifact was changed, for memory.list_changes().
create or replace function memory._artifact_after_change()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  operation constant text := case
    when tg_op = 'DELETE' then memory._gone()
    when new.quarantined_at is not null then
      case when tg_op = 'INSERT' or old.quarantined_at is null then 'hidden' end
    when tg_op = 'INSERT' or old.quarantined_at is not null then 'added'
    when (new.artifact_type, new.content_id, new.description, new.thread_id, new.metadata)
      is distinct from (old.artifact_type, old.content_id, old.description, old.thread_id, old.metadata)
      then 'changed' end;
begin
  if operation = 'forgotten' then
    old.key := ''; -- the key may have forgotten words
  end if;
  if operation is not null and not ({{are copied}}) then
    perform memory._note_change(
      coalesce(new.user_id, old.user_id), 'artifact', coalesce(new.key, old.key), operation);
  end if;
  return null;
end;
$$;

-- Notes that a document was changed, for memory.list_changes().
create or replace function memory._document_after_change()
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
    when (new.namespace, new.doc_type, new.title, new.content, new.metadata)
      is distinct from (old.namespace, old.doc_type, old.title, old.content, old.metadata) then 'changed' end;
begin
  if operation is not null and not ({{are copied}}) then
    perform memory._note_change(
      coalesce(new.user_id, old.user_id), 'document', coalesce(new.document_id, old.document_id)::text, operation);
  end if;
  return null;
end;
$$;

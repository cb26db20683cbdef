create or replace function memory.delete_document(user_id text, document_id uuid)
returns boolean
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  delete from memory.documents as d
  where d.user_id = delete_document.user_id and d.document_id = delete_document.document_id;
  return found;
end;
$$;
comment on function memory.delete_document(text, uuid) is
'Deletes a document for good and returns whether it existed.';

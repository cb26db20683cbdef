-- The rules of documents. They live in a trigger, so that a direct insert obeys them too.
create or replace function memory._document_before_write()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may write need not have rights on policies
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', new.user_id);
  perform memory._check_id('namespace', new.namespace);
  perform memory._check_id('doc_type', new.doc_type);
  perform memory._check_content(new.content, 10485760);
  perform memory._check_metadata(new.metadata);
  new.document_id := coalesce(new.document_id, memory._uuid_v7());
  new.search_vector := memory._text_vector((memory._policy(new.user_id, null) #>> '{search,language}')::regconfig, concat_ws(e'\n', new.title, new.content));
  new.updated_at := statement_timestamp();
  return new;
end;
$$;

create or replace function memory._documents_after_change()
returns trigger
language plpgsql volatile parallel unsafe security definer -- see above
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'INSERT' then
    perform memory._drop_embedding(old.user_id, 'document', old.document_id::text);
  end if;
  if tg_op <> 'DELETE' then
    perform memory._enqueue_embedding(new.user_id);
  end if;
  return null;
end;
$$;

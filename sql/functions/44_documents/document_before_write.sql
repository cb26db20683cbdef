-- The rules of documents. They live in a trigger, so that a direct insert obeys them too.
create or replace function memory._document_before_write()
returns trigger
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', new.user_id);
  perform memory._check_id('namespace', new.namespace);
  perform memory._check_id('doc_type', new.doc_type);
  perform memory._check_text(new.content, 10485760, 'Pass the text of the document.');
  if octet_length(new.title) > 2000 then
    perform memory._refuse('title', format('has %s bytes, at most 2000 are allowed', octet_length(new.title)),
      'Put more into the content.', '54000');
  end if;
  perform memory._check_metadata(new.metadata);
  perform memory._check_moment('created_at', new.created_at);
  new.document_id := coalesce(new.document_id, memory._uuid_v7());
  new.updated_at := statement_timestamp();
  new.trust := least(case when tg_op = 'INSERT' then new.trust else old.trust end, memory._lowered(new.metadata));
  return new;
end;
$$;

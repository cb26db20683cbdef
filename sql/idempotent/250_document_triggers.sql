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
    perform memory._refuse('title', format('has %s bytes, at most 2000 are allowed', octet_length(new.title)), 'Put more into the content.', '54000');
  end if;
  perform memory._check_metadata(new.metadata);
  perform memory._check_moment('created_at', new.created_at);
  new.document_id := coalesce(new.document_id, memory._uuid_v7());
  new.updated_at := statement_timestamp();
  return new;
end;
$$;

-- A document is found by its pieces. A short one is its own piece; a long one is found as a whole by keyword (its first 256 KiB) until a job
-- has cut it.
create or replace function memory._document_after_write()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may write need not have rights on chunks, policies and jobs
set search_path = pg_catalog, pg_temp
as $$
declare
  policy jsonb := memory._policy(new.user_id, null);
  chunk_size constant int := (policy #>> '{knowledge_base,chunk_size}')::int;
  -- A text of more than four characters per token is long, whatever it says; counting all of it would take seconds.
  is_long constant boolean := length(new.content) > chunk_size * 4::bigint or memory._tokens_at_most(new.content) > chunk_size;
begin
  delete from memory.document_chunks as c where c.user_id = new.user_id and c.document_id = new.document_id;
  insert into memory.document_chunks (user_id, document_id, number, content, search_vector, token_count)
  values (new.user_id, new.document_id, 0, new.content, memory._chunk_vector((policy #>> '{search,language}')::regconfig, new.title, new.content),
          case when not is_long then memory._tokens_at_most(new.content) end);
  if is_long then
    perform memory._enqueue_due(new.user_id, 'chunk_documents', '');
  else
    perform memory._enqueue_embedding(new.user_id);
  end if;
  return null;
end;
$$;

create or replace function memory._chunk_vector(language regconfig, title text, content text)
returns tsvector
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return memory._text_vector(language, concat_ws(e'\n', title, content));
end;
$$;

-- What an article was made of is a memory again.
create or replace function memory._article_after_delete()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may delete need not have rights on memories
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._release_hidden(old.user_id, old.document_id, null);
  return null;
end;
$$;

create or replace function memory._chunks_after_delete()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may delete need not have rights on embeddings
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Row by row: a join is planned badly while the table has no statistics, and a session keeps its first plan.
  perform memory._drop_embedding(o.user_id, 'document', o.document_id || '/' || o.number) from old_rows as o;
  return null;
end;
$$;

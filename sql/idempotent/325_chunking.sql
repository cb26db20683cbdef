-- Cutting long documents into pieces: what the job reads, and how its result is stored. The cutting needs a tokenizer, so
-- it is done by a worker; the pieces are named by their place in the document, so that no worker can change a word.

-- Documents that wait to be cut, a few megabytes at a time. No model is asked, so there is nothing to pay for.
create or replace function memory._chunking_input(job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  settings jsonb := memory._policy(job.user_id, null) -> 'knowledge_base';
  documents jsonb;
  rows_input jsonb;
begin
  select jsonb_agg(jsonb_build_object('number', n.number, 'text', n.content) order by n.number),
    jsonb_agg(jsonb_build_object('document_id', n.document_id, 'hash', md5(n.content)) order by n.number)
  into documents, rows_input
  from (
    select d.document_id, d.content, row_number() over so_far as number, sum(octet_length(d.content)) over so_far as bytes
    from memory.document_chunks as c
    join memory.documents as d on d.user_id = c.user_id and d.document_id = c.document_id
    where c.user_id = job.user_id and c.token_count is null
    window so_far as (order by d.document_id)
    limit 100
  ) as n
  where n.number = 1 or n.bytes <= 4000000;
  if documents is null then
    return;
  end if;
  payload := jsonb_build_object(
    'model', jsonb_build_object('name', 'local', 'provider', 'local', 'model', 'patterns', 'settings', '{}'::jsonb), 'prompt', null,
    'tokenizer', coalesce((memory._embedding_model()).model, 'gpt-4o'), 'documents', documents,
    'chunk_size', settings -> 'chunk_size', 'chunk_overlap', settings -> 'chunk_overlap');
  input := jsonb_build_object('rows', rows_input);
end;
$$;

create or replace function memory._apply_chunks(job memory.jobs, result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  language regconfig := (memory._policy(job.user_id, null) #>> '{search,language}')::regconfig;
  document record;
  source memory.documents;
  stored bigint := 0;
  documents bigint := 0;
begin
  perform memory._check_chunks(result, jsonb_array_length(job.input -> 'rows'));
  for document in
    select r.value ->> 'document_id' as document_id, r.value ->> 'hash' as hash, c.value -> 'chunks' as chunks
    from jsonb_array_elements(job.input -> 'rows') with ordinality as r (value, number)
    join jsonb_array_elements(result -> 'documents') as c (value) on (c.value ->> 'number')::int = r.number
    order by document_id
  loop
    select d.* into source from memory.documents as d
    where d.user_id = job.user_id and d.document_id = document.document_id::uuid and md5(d.content) = document.hash for no key update;
    continue when not found; -- gone, or another text by now, which has a job of its own
    if exists (select from jsonb_to_recordset(document.chunks) as c (start int, length int) where c.start + c.length > length(source.content)) then
      perform memory._refuse_result('documents[].chunks', 'reach beyond the end of their document');
    end if;
    delete from memory.document_chunks as c where c.user_id = job.user_id and c.document_id = source.document_id;
    insert into memory.document_chunks (user_id, document_id, number, content, search_vector, token_count)
    select job.user_id, source.document_id, p.number, p.content, memory._chunk_vector(language, source.title, p.content), p.token_count
    from (select row_number() over (order by c.start, c.length) - 1 as number, substr(source.content, c.start + 1, c.length) as content, c.token_count
          from jsonb_to_recordset(document.chunks) as c (start int, length int, token_count int) offset 0) as p;
    stored := stored + jsonb_array_length(document.chunks);
    documents := documents + 1;
  end loop;
  perform memory._enqueue_embedding(job.user_id);
  return jsonb_build_object('documents', documents, 'chunks', stored);
end;
$$;

create or replace function memory._check_chunks(result jsonb, expected int)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(result -> 'documents') is distinct from 'array' or jsonb_array_length(result -> 'documents') <> expected
    or jsonb_path_exists(result -> 'documents', 'strict $[*] ? (!(@.number.type() == "number" && @.chunks.type() == "array" && @.chunks.size() > 0))')
    or (select count(distinct d -> 'number') < count(*) from jsonb_array_elements(result -> 'documents') as d)
    or exists (select from jsonb_array_elements(result -> 'documents') as d where (d ->> 'number')::numeric not in (select generate_series(1, expected))) then
    perform memory._refuse_result('documents', format('must be %s objects with number and chunks, one per document', expected));
  elsif exists (
    select from jsonb_array_elements(result -> 'documents') as d cross join jsonb_array_elements(d -> 'chunks') as c
    where not (case when jsonb_typeof(c) = 'object' and jsonb_typeof(c -> 'start') = 'number' and jsonb_typeof(c -> 'length') = 'number'
                      and jsonb_typeof(c -> 'token_count') = 'number'
                    then (c ->> 'start')::numeric between 0 and 10485760 and (c ->> 'length')::numeric between 1 and 10485760
                      and (c ->> 'token_count')::numeric between 1 and 10485760
                      and (c ->> 'start')::numeric % 1 = 0 and (c ->> 'length')::numeric % 1 = 0 and (c ->> 'token_count')::numeric % 1 = 0
                    else false end)) then
    perform memory._refuse_result('documents[].chunks', 'must be objects with start, length and token_count, whole numbers of characters and tokens');
  end if;
end;
$$;

-- Stores the pieces of each document whose text has not changed since the job was handed out, after rules have judged
-- the whole text. A changed text gets another job.
create or replace function memory._chunk_documents_apply(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  document record;
  source memory.documents;
  stored bigint := 0;
  documents bigint := 0;
begin
  perform memory._check_chunks(p_result, jsonb_array_length(p_job.input -> 'rows'));
  for document in
    select r.value ->> 'document_id' as document_id, r.value ->> 'hash' as hash, c.value -> 'chunks' as chunks
    from jsonb_array_elements(p_job.input -> 'rows') with ordinality as r (value, number)
    join jsonb_array_elements(p_result -> 'documents') as c (value) on (c.value ->> 'number')::numeric = r.number
    order by document_id
  loop
    select d.* into source from memory.documents as d
    where d.user_id = p_job.user_id and d.document_id = document.document_id::uuid and md5(d.content) = document.hash
    for no key update nowait; -- a session that holds one may wait for the job
    continue when not found;
    delete from memory.document_chunks as c where c.user_id = p_job.user_id and c.document_id = source.document_id;
    insert into memory.document_chunks (user_id, document_id, number, content, token_count)
    select p_job.user_id, source.document_id, p.number, p.piece, p.token_count
    from memory._pieces(source.content, document.chunks) as p;
    perform memory._judge_document(source);
    stored := stored + jsonb_array_length(document.chunks);
    documents := documents + 1;
  end loop;
  return jsonb_build_object('documents', documents, 'chunks', stored);
end;
$$;

-- Refuses a reply that is not a list of chunks for each document.
create or replace function memory._check_chunks(p_result jsonb, p_expected int)
returns void
language plpgsql stable parallel safe
as $$
begin
  if jsonb_typeof(p_result -> 'documents') is distinct from 'array'
    or jsonb_array_length(p_result -> 'documents') <> p_expected
    or exists (
      select from jsonb_array_elements(p_result -> 'documents') as d
      where (jsonb_typeof(d -> 'number') = 'number' and jsonb_typeof(d -> 'chunks') = 'array') is not true
        or (d ->> 'number')::numeric not in (select generate_series(1, p_expected)))
    or (select count(distinct d -> 'number') < count(*) from jsonb_array_elements(p_result -> 'documents') as d) then
    perform memory._refuse_result('documents',
      format('must be %s objects with number and chunks, one per document', p_expected));
  elsif exists (
    select from jsonb_array_elements(p_result -> 'documents') as d
    cross join jsonb_array_elements(d -> 'chunks') as c
    where not case -- whole numbers in the range of a document of 10 MiB
      when jsonb_typeof(c) = 'object' and jsonb_typeof(c -> 'start') = 'number'
        and jsonb_typeof(c -> 'length') = 'number' and jsonb_typeof(c -> 'token_count') = 'number'
      then (c ->> 'start')::numeric between 0 and 10485760 and (c ->> 'start')::numeric % 1 = 0
        and (c ->> 'length')::numeric between 1 and 10485760 and (c ->> 'length')::numeric % 1 = 0
        and (c ->> 'token_count')::numeric between 1 and 10485760 and (c ->> 'token_count')::numeric % 1 = 0
      else false end) then
    perform memory._refuse_result('documents[].chunks',
      'must be objects with start, length and token_count, whole numbers of characters and tokens');
  end if;
end;
$$;

-- The pieces of a text. Refuses chunks that leave out more than blanks, or that are together more than ten times as
-- long as the text. Each chunk must begin after the beginning, and end after the end, of the chunk before.
create or replace function memory._pieces(p_content text, p_chunks jsonb)
returns table (number int, piece text, token_count int)
language plpgsql stable parallel safe
as $$
declare
  -- A character that Python takes for no blank. Python knows more blanks than PostgreSQL does in some locales.
  word constant text :=
    e'[^\\s\\u001c-\\u001f\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
  size constant int := length(p_content);
  -- The text from the last piece on, because PostgreSQL finds a place in a text by counting all characters before it.
  rest text := p_content;
  rest_start int := 0;
  covered int := 0;
  total bigint := 0;
  chunk record;
begin
  number := 0;
  for chunk in
    select (c.value ->> 'start')::numeric::int as start, (c.value ->> 'length')::numeric::int as length,
      (c.value ->> 'token_count')::numeric::int as tokens
    from jsonb_array_elements(p_chunks) with ordinality as c (value, position) order by c.position
  loop
    total := total + chunk.length;
    if chunk.start < rest_start or chunk.start = rest_start and number > 0 or chunk.start + chunk.length <= covered
      or chunk.start + chunk.length > size or total > size * 10::bigint then
      perform memory._refuse_result('documents[].chunks',
        'must be pieces of their document in its order, none within another');
    elsif chunk.start > covered and substr(rest, covered - rest_start + 1, chunk.start - covered) ~ word then
      perform memory._refuse_result('documents[].chunks', 'must leave out nothing but blanks');
    end if;
    if chunk.start > rest_start then
      rest := right(rest, rest_start - chunk.start);
      rest_start := chunk.start;
    end if;
    covered := chunk.start + chunk.length;
    piece := left(rest, chunk.length);
    token_count := chunk.tokens;
    return next;
    number := number + 1;
  end loop;
  if substr(rest, covered - rest_start + 1) ~ word then
    perform memory._refuse_result('documents[].chunks', 'must leave out nothing but blanks');
  end if;
end;
$$;

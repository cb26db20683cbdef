create or replace function memory.vector_index(model text)
returns text
language plpgsql stable parallel safe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  dims int;
begin
  select memory._known_dimensions(m) into dims from memory.models as m where m.kind = 'embedding' and m.name = vector_index.model;
  if not found then
    perform memory._refuse('model', format('there is no embedding model "%s"', model), 'select name from memory.models shows what there is.', 'P0002');
  elsif dims is null then
    perform memory._refuse('model', format('"%s" has not embedded anything yet', model), 'Its first embedding decides how many dimensions there are.', '55000');
  end if;
  -- Only of what may be found, now or later.
  return format(
    'create index concurrently if not exists %I on memory.embeddings using hnsw ((embedding::%I.halfvec(%s)) %2$I.halfvec_cosine_ops) '
    'where model = %4$L and source = ''memory'' and valid_until > ''-infinity''',
    'embeddings_' || left(memory._content_hash(model), 8) || '_hnsw_idx', memory._vector_schema(), dims, model);
end;
$$;
comment on function memory.vector_index(text) is
'The statement that makes the approximate index (HNSW) of an embedding model, to be run with \gexec in psql. Worth it for users with tens of thousands of memories, whose searches by meaning alone without filters are answered from it (policy search.approximate_above); nobody else needs an index.';

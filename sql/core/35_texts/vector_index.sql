-- Returns statements instead of running them: "create index concurrently" cannot run inside a function.
create or replace function memory.vector_index(model text)
returns setof text
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  made constant regclass := memory._vector_index(model);
  dims int;
  is_valid boolean;
begin
  perform memory._check_id('model', model);
  select memory._known_dimensions(m) into dims
  from memory.models as m where m.kind = 'embedding' and m.name = vector_index.model;
  if not found then
    perform memory._refuse('model', format('there is no embedding model "%s"', model),
      'select name from memory.models lists the models.', 'P0002');
  elsif dims is null then
    perform memory._refuse('model', format('"%s" has not embedded anything yet', model),
      'Its first embedding decides how many dimensions there are.');
  end if;
  select i.indisvalid into is_valid from pg_index as i where i.indexrelid = made;
  if not is_valid then
    if exists (select from pg_stat_progress_create_index as p where p.index_relid = made) then
      perform memory._refuse('model', format('the index of "%s" is being built', model),
        'select * from pg_stat_progress_create_index shows how far it is.', '40001');
    end if;
    return next format('drop index concurrently %s', made); -- an interrupted build has left an invalid index
  end if;
  -- The index leaves out memories that are deleted or superseded.
  return next format(
    'create index concurrently if not exists %I on memory.texts '
    'using hnsw ((embedding::%I.halfvec(%s)) %2$I.halfvec_cosine_ops) '
    'where model = %4$L and source = ''memory'' and valid_until > ''-infinity''',
    memory._vector_index_name(model), memory._vector_schema(), dims, model);
end;
$$;
comment on function memory.vector_index(text) is
'Returns the statements that make the approximate index (HNSW) of an embedding model. The owner of the schema runs '
'them with \gexec in psql, outside of a transaction. Only users with tens of thousands of memories need the index; '
'memory.drop_model() drops it.';

-- Name of the model's HNSW index, whether or not the index exists. A model's name may be longer than an identifier.
create or replace function memory._vector_index_name(p_model text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return format('texts_%s_hnsw_idx', left(md5(p_model), 16));
end;
$$;

-- OID of the model's HNSW index, or null.
create or replace function memory._vector_index(p_model text)
returns regclass
language plpgsql stable parallel safe
as $$
begin
  return to_regclass(format('memory.%I', memory._vector_index_name(p_model)));
end;
$$;

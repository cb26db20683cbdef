-- Only the statements: "create index concurrently" cannot run in a function.
create or replace function memory.vector_index(model text)
returns setof text
language plpgsql stable parallel safe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  made constant regclass := memory._vector_index(model);
  dims int;
  is_valid boolean;
begin
  perform memory._check_id('model', model);
  select memory._known_dimensions(m) into dims from memory.models as m where m.kind = 'embedding' and m.name = vector_index.model;
  if not found then
    perform memory._refuse('model', format('there is no embedding model "%s"', model), 'select name from memory.models shows what there is.', 'P0002');
  elsif dims is null then
    perform memory._refuse('model', format('"%s" has not embedded anything yet', model), 'Its first embedding decides how many dimensions there are.');
  end if;
  select i.indisvalid into is_valid from pg_index as i where i.indexrelid = made;
  if not is_valid then
    if exists (select from pg_stat_progress_create_index as p where p.index_relid = made) then
      perform memory._refuse('model', format('the index of "%s" is being built', model), 'select * from pg_stat_progress_create_index shows how far it is.', '40001');
    end if;
    return next format('drop index concurrently %s', made); -- what an interrupted build leaves behind
  end if;
  -- Only of what may be found, now or later.
  return next format(
    'create index concurrently if not exists %I on memory.embeddings using hnsw ((embedding::%I.halfvec(%s)) %2$I.halfvec_cosine_ops) '
    'where model = %4$L and source = ''memory'' and valid_until > ''-infinity''', memory._vector_index_name(model), memory._vector_schema(), dims, model);
end;
$$;
comment on function memory.vector_index(text) is
'What makes the approximate index (HNSW) of an embedding model, to be run with \gexec in psql by the owner of the schema, outside of a transaction. Worth it for users with tens of thousands of memories, whose searches by meaning alone without filters may be answered from it (policy search.approximate_above); nobody else needs an index. It goes when its model is dropped.';

create or replace function memory._vector_index_name(p_model text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return format('embeddings_%s_hnsw_idx', left(md5(p_model), 16));
end;
$$;

-- The one that there is.
create or replace function memory._vector_index(p_model text)
returns regclass
language plpgsql stable parallel safe
as $$
begin
  return to_regclass(format('memory.%I', memory._vector_index_name(p_model)));
end;
$$;

create or replace function memory._has_vector_index(p_model text)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return exists (select from pg_index as i where i.indexrelid = memory._vector_index(p_model) and i.indisvalid);
end;
$$;

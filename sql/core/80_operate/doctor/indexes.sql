-- The doctor's check of indexes: all indexes of an installation exist and are complete.
create or replace function memory._check_indexes(out ok boolean, out detail text)
language plpgsql stable parallel safe
as $$
begin
  select string_agg(f.fault, '; ' order by f.fault) into detail
  from (
    select format('index memory.%s is missing: run "%s"', x.name, x.statement) as fault
    from (values
{{indexes}}
    ) as x (name, statement)
    where to_regclass('memory.' || x.name) is null
    union all
    -- An index that is being built is not valid yet, but has no fault.
    select format('index %s is not valid: run "reindex index concurrently %1$s"', i.indexrelid::regclass)
    from pg_class as c
    join pg_index as i on i.indexrelid = c.oid
    where c.relnamespace = 'memory'::regnamespace and not i.indisvalid
      and not exists (select from pg_stat_progress_create_index as p where p.index_relid = i.indexrelid)
      -- Vector indexes have a check of their own.
      and c.relname not like e'embeddings\\_%\\_hnsw\\_idx') as f;
  ok := detail is null;
  detail := coalesce(detail, 'all are there and valid');
end;
$$;

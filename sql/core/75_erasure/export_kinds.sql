-- The tables that are exported, in the order in which they are imported, as the registry has them (sql/registry.py).
-- left_out are columns that are made again, or that only mean something to this database; sent are values that an
-- export has instead of those of the columns. An import refuses a row that does not meet the condition. Expired rows
-- (unexpired is not true) are not exported either; an import takes them, because an old export has them.
create or replace function memory._export_kinds()
returns table (
  place int, kind text, left_out text[], condition text, unexpired text, sent jsonb, sorted_by text[], imported jsonb
)
language plpgsql immutable parallel safe
as $$
begin
  return query
  {{each table with exported, union all:
  select <exported>, text '<table>', <left_out>, coalesce(<condition>, 'true'), coalesce(<unexpired>, 'true'),
    <sent>::jsonb, <export_order>::text[], coalesce(<imported>, '{}')::jsonb}}
  order by 1;
end;
$$;

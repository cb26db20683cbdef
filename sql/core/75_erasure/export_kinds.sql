-- The tables that are exported, in the order in which they are imported, as the registry lists them (sql/registry.py).
-- left_out names columns that an import makes anew, or that mean something only to this database. sent has values that
-- an export has instead of those of the columns. An import refuses a row that does not meet condition. An export leaves
-- out expired rows (unexpired is not true), but an import takes them, because an old export has them.
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

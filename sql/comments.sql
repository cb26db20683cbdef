-- The comments of tables, columns, types and sequences stand in tables.sql and types.sql of the rooms. Each
-- installation sets those that differ, so that no migration repeats them, and running this file again locks no table.
do $comments$
declare
  described record;
begin
  for described in
    select d.kind, d.name, d.says
    from (values
{{comments}}
    ) as d (kind, name, says)
    where d.says is distinct from case d.kind
      when 'column' then (
        select col_description(a.attrelid, a.attnum) from pg_attribute as a
        where a.attrelid = to_regclass('memory.' || split_part(d.name, '.', 1))
          and a.attname = split_part(d.name, '.', 2))
      when 'type' then obj_description(to_regtype('memory.' || d.name), 'pg_type')
      else obj_description(to_regclass('memory.' || d.name), 'pg_class') end
  loop
    execute format('comment on %s memory.%s is %L', described.kind, described.name, described.says);
  end loop;
end;
$comments$;

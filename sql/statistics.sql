-- PostgreSQL keeps no statistics of texts of users. What a user has said, and who that is, would stay in pg_statistic
-- until the next ANALYZE after it was forgotten, and in an empty table for ever. No plan needs the most common values
-- of these columns: statements name a user, and find the rows by an index that begins with the user. So this concerns
-- each column of our tables with a text, JSON, array, vector or hash, but those whose values are words of our own, and
-- each expression that an index of our tables computes of them. A test says which.
--
-- Only targets that nobody has set are set, so that running this file again locks no table.
do $statistics$
declare
  our_tables constant text[] := array[{{tables}}];
  own_words constant text[] := array[
    'function', 'kind', 'memory_type', 'model', 'operation', 'role', 'status', 'variant'];
  place record;
begin
  for place in
    select c.oid::regclass as relation, a.attname, a.attnum, c.relkind
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_type as t on t.oid = a.atttypid
    where c.relnamespace = 'memory'::regnamespace and coalesce(a.attstattarget, -1) = -1
      and (c.relkind = 'r' and c.relname = any (our_tables) and a.attname <> all (own_words) and t.typname in (
          '_int4', '_text', 'bytea', 'halfvec', 'jsonb', 'name', 'text', 'tsvector', 'varbit')
        or c.relkind = 'i' and (
          select i.indkey[a.attnum - 1] = 0 and o.relname = any (our_tables)
          from pg_index as i join pg_class as o on o.oid = i.indrelid where i.indexrelid = c.oid))
    order by c.relkind, c.relname, a.attnum
  loop
    if place.relkind = 'r' then
      execute format('alter table %s alter column %I set statistics 0', place.relation, place.attname);
    else -- the index of turns has a hash of the user
      execute format('alter index %s alter column %s set statistics 0', place.relation, place.attnum);
    end if;
  end loop;
end;
$statistics$;

-- The statement that gives the rows of one user to another. It is one statement for all tables, so that it sees either
-- all rows of a transaction or none. It deletes and inserts, because triggers ignore rows that are deleted with a whole
-- user, and inserted rows that are copied. Its first parameters are those of memory._forgetting_delete(), which does
-- not touch rows that are not locked. $6 is the other user, $7 and $8 are the new names of threads and artifacts, and
-- $9 says whether the other user has a summary of its own. The statement returns the number of rows by table.
create or replace function memory._merging_statement()
returns text
language plpgsql stable parallel safe
as $$
begin
  return (
    select format('with %s select jsonb_strip_nulls(jsonb_build_object(%s))',
      string_agg(format(e'of_%1$s as (%2$s returning t.*),\nto_%1$s as (insert into memory.%1$I as x (%3$s) '
          'select %4$s from of_%1$s as t %5$s %6$s returning 1)',
        n.name, case when n.taken is null then memory._forgetting_delete(n.relation, n.has_thread)
          else format('delete from %s as t where t.user_id = $1 and %s', n.relation, n.taken) end,
        c.names, c.merged, n.joined, 'on conflict ' || n.conflict), e',\n' order by n.ordinality),
      string_agg(format('%L, (select nullif(count(*), 0) from to_%s)', n.name, n.name), ', ' order by n.ordinality))
    from memory._tables_of_users() with ordinality as n
    cross join lateral (
      select string_agg(quote_ident(a.attname), ', ' order by a.attnum) as names,
        string_agg(coalesce(n.merged ->> a.attname, case a.attname
          when 'user_id' then '$6'
          when 'thread_id' then 'coalesce($7 ->> t.thread_id, t.thread_id)'
          else format('t.%I', a.attname) end), ', ' order by a.attnum) as merged
      from pg_attribute as a
      where a.attrelid = n.relation and a.attnum > 0 and not a.attisdropped) as c
    where not n.merged_by_hand);
end;
$$;

-- Lists of short names: tags, and what a filter may choose from. PostgreSQL compares two arrays in one go, entry by
-- entry, and neither a cancel nor statement_timeout ends that: 3,000,000 tags against a filter of 20,000 took 46 s. A
-- hundred against a hundred take 30 us.
create or replace function memory._check_list(p_argument text, p_list text[])
returns void
language plpgsql immutable parallel safe
as $$
declare
  longest int;
begin
  if array_ndims(p_list) > 1 then
    perform memory._refuse(p_argument, format('has %s dimensions', array_ndims(p_list)),
      'Pass a plain list such as {drinks,travel}.');
  elsif cardinality(p_list) > 100 then
    perform memory._refuse(p_argument, format('has %s entries, at most 100 are allowed', cardinality(p_list)),
      'Pass at most 100 names of at most 255 characters.', '54000');
  elsif array_position(p_list, null) is not null then
    perform memory._refuse(p_argument, 'must be an array without nulls', 'Take the nulls out.');
  end if;
  longest := (select max(length(l.entry)) from unnest(p_list) as l (entry));
  if longest > 255 then
    perform memory._refuse(p_argument, format('has an entry of %s characters, at most 255 are allowed', longest),
      'Pass at most 100 names of at most 255 characters.', '54000');
  end if;
end;
$$;

create or replace function memory._check_page(p_row_limit int, p_row_offset int)
returns void
language plpgsql immutable parallel safe
as $$
begin
  if (p_row_limit between 1 and 10000) is not true then
    perform memory._refuse('row_limit', format('%s is not between 1 and 10000', coalesce(p_row_limit::text, 'null')),
      'Read further pages with row_offset.');
  end if;
  if (p_row_offset >= 0) is not true then
    perform memory._refuse('row_offset', format('%s is negative or null', coalesce(p_row_offset::text, 'null')), 'The first page has row_offset 0.');
  end if;
end;
$$;

create or replace function memory._tags_among(p_tags text[], p_wanted text[])
returns text[]
language plpgsql immutable parallel safe
as $$
begin
  return array(select distinct t.tag from unnest(p_tags) as t (tag) where t.tag = any (p_wanted));
end;
$$;

-- The tags of a row as they may be compared with those of a filter: all, or of a row from before there was a limit on
-- their number, those that the filter names. Comparing 3,000,000 with 100 takes 5 s that nothing can end; see
-- memory._check_list(). Inlined by the planner, hence no SET clause.
create or replace function memory._comparable_tags(p_tags text[], p_wanted text[])
returns text[]
language sql immutable parallel safe
begin atomic
  select case when cardinality(p_tags) <= 1000 then p_tags else memory._tags_among(p_tags, p_wanted) end;
end;

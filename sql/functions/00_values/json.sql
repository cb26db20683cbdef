-- JSON that is not stored as metadata: settings, filters, results and calls of jobs.
create or replace function memory._check_json_size(argument text, value jsonb, max_bytes int, hint text)
returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if pg_column_size(value) > max_bytes then
    perform memory._refuse(argument, format('has %s bytes, at most %s are allowed', pg_column_size(value), max_bytes),
      hint, '54000');
  end if;
end;
$$;

-- A filter is compared with metadata of up to 1 MiB in one go as well, each of its values with each one there, so the
-- number of its values is what counts: with 100 that is 0.4 s at most, with as many as fit into 64 KiB it would be a
-- minute.
create or replace function memory._check_filter(filter jsonb)
returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  entries bigint;
begin
  if jsonb_typeof(filter) <> 'object' then
    perform memory._refuse('filter', format('is a JSON %s', jsonb_typeof(filter)),
      'Pass the part of metadata that must be there, such as {"channel": "mail"}.');
  end if;
  perform memory._check_json_size('filter', filter, 65536, 'Name only what sets the rows apart.');
  entries := (select count(*) from jsonb_path_query(filter, 'strict $.**')) - 1; -- the filter itself is none
  if entries > 100 then
    perform memory._refuse('filter', format('has %s values, at most 100 are allowed', entries),
      'Name only what sets the rows apart.', '54000');
  end if;
end;
$$;

create or replace function memory._check_metadata(metadata jsonb, which text default '')
returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(metadata) <> 'object' then
    perform memory._refuse('metadata' || which, format('is a JSON %s', jsonb_typeof(metadata)), 'Pass a JSON object such as {"channel": "mail"}.');
  elsif pg_column_size(metadata) > 1048576 then
    perform memory._refuse('metadata' || which, format('has %s bytes, at most 1048576 are allowed', pg_column_size(metadata)),
      'Keep large values in the content.', '54000');
  end if;
end;
$$;

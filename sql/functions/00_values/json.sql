-- JSON that is not stored as metadata: settings, filters, results and calls of jobs.
create or replace function memory._check_json_size(p_argument text, p_value jsonb, p_max_bytes int, p_hint text)
returns void
language plpgsql immutable parallel safe
as $$
begin
  if pg_column_size(p_value) > p_max_bytes then
    perform memory._refuse(p_argument, format('has %s bytes, at most %s are allowed', pg_column_size(p_value), p_max_bytes),
      p_hint, '54000');
  end if;
end;
$$;

-- A filter is compared with metadata of up to 1 MiB in one go as well, each of its values with each one there, so the
-- number of its values is what counts: with 100 that is 0.4 s at most, with as many as fit into 64 KiB it would be a
-- minute.
create or replace function memory._check_filter(p_filter jsonb)
returns void
language plpgsql immutable parallel safe
as $$
declare
  entries bigint;
begin
  if jsonb_typeof(p_filter) <> 'object' then
    perform memory._refuse('filter', format('is a JSON %s', jsonb_typeof(p_filter)),
      'Pass the part of metadata that must be there, such as {"channel": "mail"}.');
  end if;
  perform memory._check_json_size('filter', p_filter, 65536, 'Name only what sets the rows apart.');
  entries := (select count(*) from jsonb_path_query(p_filter, 'strict $.**')) - 1; -- the filter itself is none
  if entries > 100 then
    perform memory._refuse('filter', format('has %s values, at most 100 are allowed', entries),
      'Name only what sets the rows apart.', '54000');
  end if;
end;
$$;

create or replace function memory._check_metadata(p_metadata jsonb, p_which text default '')
returns void
language plpgsql immutable parallel safe
as $$
begin
  if jsonb_typeof(p_metadata) <> 'object' then
    perform memory._refuse('metadata' || p_which, format('is a JSON %s', jsonb_typeof(p_metadata)), 'Pass a JSON object such as {"channel": "mail"}.');
  elsif pg_column_size(p_metadata) > 1048576 then
    perform memory._refuse('metadata' || p_which, format('has %s bytes, at most 1048576 are allowed', pg_column_size(p_metadata)),
      'Keep large values in the content.', '54000');
  end if;
end;
$$;

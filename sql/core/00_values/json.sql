-- Refuses JSON of more than p_max_bytes. Callers pass settings, filters, and the results and calls of jobs.
create or replace function memory._check_json_size(p_argument text, p_value jsonb, p_max_bytes int, p_hint text)
returns void
language plpgsql immutable parallel safe
as $$
begin
  if pg_column_size(p_value) > p_max_bytes then
    perform memory._refuse_size(p_argument, pg_column_size(p_value), p_max_bytes, p_hint);
  end if;
end;
$$;

-- Refuses a filter that is no JSON object or has more than 100 values. PostgreSQL compares each value of the filter
-- with each value of up to 1 MiB of metadata, and neither a cancel nor a timeout interrupts the comparison of one row.
-- 100 values take at most 0.4 s for such a row; as many values as fit into 64 KiB would take a minute.
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
  entries := (select count(*) from jsonb_path_query(p_filter, 'strict $.**')) - 1; -- without the filter itself
  if entries > 100 then
    perform memory._refuse('filter', format('has %s values, at most 100 are allowed', entries),
      'Name only what sets the rows apart.', '54000');
  end if;
end;
$$;

-- Refuses metadata that is no JSON object or larger than 1 MiB. The error adds p_which to the argument's name, to say
-- which of several messages has the metadata.
create or replace function memory._check_metadata(p_metadata jsonb, p_which text default '')
returns void
language plpgsql immutable parallel safe
as $$
begin
  if jsonb_typeof(p_metadata) <> 'object' then
    perform memory._refuse('metadata' || p_which, format('is a JSON %s', jsonb_typeof(p_metadata)),
      'Pass a JSON object such as {"channel": "mail"}.');
  elsif pg_column_size(p_metadata) > 1048576 then
    perform memory._refuse_size('metadata' || p_which, pg_column_size(p_metadata), 1048576,
      'Keep large values in the content.');
  end if;
end;
$$;

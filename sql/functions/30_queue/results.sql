-- A part of a model's reply that is not what was asked for: the whole reply is refused.
create or replace function memory._refuse_result(path text, problem text)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._refuse('result', format('%s %s', path, problem), 'Nothing of it was stored; call memory.fail_job() so that the job is tried again.');
end;
$$;

-- A text of a model's reply that is going to be stored.
create or replace function memory._check_result_text(path text, value jsonb, max_bytes int default 262144)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if (jsonb_typeof(value) = 'string' and value #>> '{}' ~ e'\\S') is not true then
    perform memory._refuse_result(path, 'must be a text that is not empty');
  elsif octet_length(value #>> '{}') > max_bytes then
    perform memory._refuse_result(path, format('has %s bytes, at most %s are allowed', octet_length(value #>> '{}'), max_bytes));
  end if;
end;
$$;

-- The numbers by which a model names rows of the list it was given, 1 to the length of the list.
create or replace function memory._check_result_numbers(path text, value jsonb, highest int)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if (jsonb_typeof(value) = 'array' and jsonb_array_length(value) between 2 and highest
      and not jsonb_path_exists(value, 'strict $[*] ? (@.type() != "number" || @ < 1 || @ > $highest || @.floor() != @)', jsonb_build_object('highest', highest))) is not true
    or (select count(distinct n) < count(*) from jsonb_array_elements(value) as n) then
    perform memory._refuse_result(path, format('must name at least two of the numbers 1 to %s, each once', highest));
  end if;
end;
$$;

-- Checks that the results of several kinds of jobs have in common.

-- Refuses a whole result because of a problem with its part at p_path.
create or replace function memory._refuse_result(p_path text, p_problem text)
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._refuse('result', format('%s %s', p_path, p_problem),
    'Nothing of it was stored; call memory.fail_job() so that the job is tried again.');
end;
$$;

-- Refuses a text of a result, which is going to be stored, unless it has a character that is not blank.
create or replace function memory._check_result_text(p_path text, p_value jsonb, p_max_bytes int default 262144)
returns void
language plpgsql stable parallel safe
as $$
begin
  if (jsonb_typeof(p_value) = 'string' and p_value #>> '{}' ~ e'\\S') is not true then
    perform memory._refuse_result(p_path, 'must be a text that is not empty');
  elsif octet_length(p_value #>> '{}') > p_max_bytes then
    perform memory._refuse_result(p_path,
      format('has %s bytes, at most %s are allowed', octet_length(p_value #>> '{}'), p_max_bytes));
  end if;
end;
$$;

-- Refuses a list of the numbers by which a model names rows of its payload: 1 to p_highest, two or more, each once.
create or replace function memory._check_result_numbers(
  p_path text, p_value jsonb, p_highest int, p_least int default 2
)
returns void
language plpgsql stable parallel safe
as $$
begin
  if (jsonb_typeof(p_value) = 'array' and jsonb_array_length(p_value) between p_least and p_highest
      and not jsonb_path_exists(p_value,
        'strict $[*] ? (@.type() != "number" || @ < 1 || @ > $highest || @.floor() != @)',
        jsonb_build_object('highest', p_highest))) is not true
    or (select count(distinct n) < count(*) from jsonb_array_elements(p_value) as n) then
    perform memory._refuse_result(p_path,
      format('must name at least %s of the numbers 1 to %s, each once', p_least, p_highest));
  end if;
end;
$$;

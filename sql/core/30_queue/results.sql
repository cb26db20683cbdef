-- Checks that the results of several kinds of jobs share.

-- Refuses a whole result because of a problem in its part at p_path.
create or replace function memory._refuse_result(p_path text, p_problem text)
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._refuse('result', format('%s %s', p_path, p_problem),
    'Nothing of it was stored; call memory.fail_job() so that the job is tried again.');
end;
$$;

-- Whether a part of a result is a text that has a visible character and at most p_max_bytes.
create or replace function memory._is_result_text(p_value jsonb, p_max_bytes int default 262144)
returns boolean
language sql immutable parallel safe
begin atomic
  select coalesce(jsonb_typeof(p_value) = 'string' and p_value #>> '{}' ~ e'\\S'
    and octet_length(p_value #>> '{}') <= p_max_bytes, false);
end;

-- Refuses a result whose part at p_path is no such text.
create or replace function memory._check_result_text(p_path text, p_value jsonb)
returns void
language plpgsql stable parallel safe
as $$
begin
  if not memory._is_result_text(p_value) then
    perform memory._refuse_result(p_path, 'must be a text that is not empty, of at most 262144 bytes');
  end if;
end;
$$;

-- Whether a part of a result is a list of two or more different numbers from 1 to p_highest, by which a model names
-- rows of its payload.
create or replace function memory._are_numbers_from(p_value jsonb, p_highest int)
returns boolean
language plpgsql immutable parallel safe
as $$
begin
  return coalesce(jsonb_typeof(p_value) = 'array' and jsonb_array_length(p_value) between 2 and p_highest
      and not jsonb_path_exists(p_value,
        'strict $[*] ? (@.type() != "number" || @ < 1 || @ > $highest || @.floor() != @)',
        jsonb_build_object('highest', p_highest)), false)
    and (select count(distinct n) = count(*) from jsonb_array_elements(
      case when jsonb_typeof(p_value) = 'array' then p_value else '[]' end) as n);
end;
$$;

-- The reasons why texts and other items of a reply were not stored, each with an explanation for administrators. The
-- results of jobs and the ledger count the items of each reason.
create or replace function memory._refusals()
returns jsonb
language sql immutable parallel safe
begin atomic
  select jsonb '{
    "malformed": "not in the form that was asked for",
    "no source": "names no text that the model was given, or nobody''s whose statements count",
    "no prose": "JSON where a text was asked for",
    "no evidence": "too few words of the texts that it rests on",
    "another language": "in another language than the texts that it rests on (policy models.translates)",
    "unknown names": "names that stand in none of the texts that were given",
    "repeats the prompt": "words of the prompt",
    "repeats itself": "the same sentence again and again",
    "too long": "much longer than the texts that it rests on",
    "too short": "says too little of the texts whose place it would take",
    "review": "ends a memory and leaves none that somebody could review (policy extraction.review)"
  }';
end;

-- Refuses a result if none of the p_entries entries at p_path has the form that was asked for. p_reasons says why
-- entries were left out.
create or replace function memory._check_some_readable(p_path text, p_reasons text[], p_entries int)
returns void
language plpgsql stable parallel safe
as $$
begin
  if p_entries > 0 and cardinality(array_positions(p_reasons, 'malformed')) = p_entries then
    perform memory._refuse_text(p_path, 'malformed');
  end if;
end;
$$;

-- Refuses a result because of a text that must not be stored. p_reason is a reason of memory._refusals().
create or replace function memory._refuse_text(p_path text, p_reason text)
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._refuse_result(p_path, format('is refused (%s): %s', p_reason, memory._refusals() ->> p_reason));
end;
$$;

-- Counts, for the ledger, the reason that an error of memory._refuse_text() gives; null for any other error.
create or replace function memory._refusal_in(p_error text)
returns jsonb
language sql immutable parallel safe
begin atomic
  select jsonb_build_object(r.reason, 1)
  from (select substring(p_error from '^result: [a-z ]+ is refused \(([a-z ]+)\)') as reason) as r
  where memory._refusals() ? r.reason;
end;

-- Parses as many bytes as the result says: texts whose language was changed, and artifacts without words.
create or replace function memory._parse_artifacts_apply(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  max_bytes int;
  parsed bigint := 0;
begin
  if (case jsonb_typeof(p_result -> 'max_bytes')
      when 'number' then (p_result ->> 'max_bytes')::numeric between 1 and 4000000 end) is not true then
    perform memory._refuse_result('max_bytes', 'must be a number from 1 to 4000000');
  end if;
  max_bytes := (p_result ->> 'max_bytes')::numeric::int;
  perform memory._parse_anew(p_job.user_id, max_bytes);
  {{each addon with parse: parsed := parsed + memory._<addon>_parse(p_job.user_id, max_bytes);}}
  return jsonb_build_object('parsed', parsed);
end;
$$;

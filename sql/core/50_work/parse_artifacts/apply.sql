-- Parses as many bytes as the worker says: texts whose language was changed, and artifacts without
-- words.
create or replace function memory._parse_artifacts_apply(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
begin
  if (case jsonb_typeof(p_result -> 'max_bytes')
      when 'number' then (p_result ->> 'max_bytes')::numeric between 1 and 4000000 end) is not true then
    perform memory._refuse_result('max_bytes', 'must be a number from 1 to 4000000');
  end if;
  perform memory._parse_anew(p_job.user_id, (p_result ->> 'max_bytes')::numeric::int);
  return jsonb_build_object(
    'parsed', memory._parse_parts(p_job.user_id, (p_result ->> 'max_bytes')::numeric::int));
end;
$$;

-- Parses 4 MB, which takes two seconds.
create or replace function memory._parse_artifacts_apply(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
begin
  return jsonb_build_object('parsed', memory._parse_parts(p_job.user_id, 4000000));
end;
$$;

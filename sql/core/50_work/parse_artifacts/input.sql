-- Artifacts are stored without their words. A job has them parsed soon: the server parses them when the worker
-- completes the job.

-- Gives the job a payload if the user has something to parse. No model is asked, so nobody's budget pays.
create or replace function memory._parse_artifacts_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql stable parallel safe
as $$
begin
  if memory._has_unparsed_texts(p_job.user_id) then
    -- Parsing 4 MB takes two seconds. Of texts whose language was changed, these are about 1,000 at most.
    payload := memory._no_model() || jsonb '{"max_bytes": 4000000}';
    input := '{}';
    agent_id := null;
    tokens := 0;
  end if;
end;
$$;

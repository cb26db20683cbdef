-- The beginning and the end of the oldest artifact of the user whose description no model has written yet. Each job
-- describes one artifact. An artifact in which a rule finds signs of an attack goes into quarantine instead.
create or replace function memory._describe_artifact_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql volatile parallel unsafe
as $$
declare
  artifact memory.artifacts;
  bytes int;
  given int4multirange; -- the bytes that the model is given
  head text;
  tail text;
begin
  loop
    select a.* into artifact
    from memory._current_artifacts(p_job.user_id) as a
    where a.awaits_description
    order by a.created_at, a.key limit 1;
    if not found then
      return;
    end if;
    bytes := memory._content_bytes(artifact.user_id, artifact.content_id);
    given := int4multirange(int4range(0, 6000), int4range(greatest(bytes - 5000, 0), null));
    exit when not memory._is_poisoned_artifact(artifact, given);
    if not memory._judge_artifact(artifact.user_id, artifact.key, given) then
      return; -- another transaction has locked it, so a later job describes it
    end if;
  end loop;
  head := memory._content_slice(artifact.user_id, artifact.content_id, 0, 6000);
  if bytes > 3000 then
    -- Both ends are masked before they are cut, because a part of a credential would not be recognised.
    head := memory._byte_slice(memory._without_credentials(head), 0, 2000);
    tail := memory._without_credentials(
      memory._content_slice(artifact.user_id, artifact.content_id, greatest(bytes - 5000, 2000)));
    tail := memory._byte_slice(tail, octet_length(tail) - 1000, octet_length(tail));
  end if;
  agent_id := artifact.agent_id;
  tokens := memory._estimate_tokens(concat(head, tail)) + 300;
  payload := memory._chat_model(null, memory._policy_section(p_job.user_id, agent_id, 'agent'), 'describe_artifact')
    || jsonb_strip_nulls(jsonb_build_object(
      'description', artifact.description, 'command', memory._one_line(artifact.metadata ->> 'command', 1000),
      'tool', memory._one_line(artifact.metadata ->> 'tool', 255),
      'exit_status', memory._one_line(artifact.metadata ->> 'exit_status', 20),
      'token_count', artifact.token_count, 'beginning', head, 'end', tail));
  input := jsonb_build_object('key', artifact.key);
end;
$$;

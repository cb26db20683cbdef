-- Gives the artifact its new description, also in the placeholder of the message that names it. The key does not
-- change. The old description stays if the new one does not rest on the text, or if a rule accuses it.
create or replace function memory._describe_artifact_apply(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  artifact memory.artifacts;
  described text;
  reason text;
  ref text;
begin
  perform memory._check_result_text('description', p_result -> 'description');
  -- A reply may have brackets, line breaks and any length.
  described := memory._in_short(memory._placeholder_text(left(p_result ->> 'description', 10000)), 200);
  select a.* into artifact
  from memory.artifacts as a where a.user_id = p_job.user_id and a.key = p_job.input ->> 'key';
  if not found then
    return jsonb '{}';
  end if;
  reason := memory._problem_of(memory._evidence_of(p_job, 'describe_artifact', concat_ws(' ',
    artifact.description, artifact.metadata ->> 'command', artifact.metadata ->> 'tool',
    artifact.metadata ->> 'exit_status', memory._content_slice(artifact.user_id, artifact.content_id, 0, 10000),
    memory._content_slice(artifact.user_id, artifact.content_id,
      greatest(memory._content_bytes(artifact.user_id, artifact.content_id) - 7000, 0)))), described);
  if reason is not null then
    described := null;
  end if;
  -- A model that the text has misled may repeat the text's orders.
  if memory._verdict(described, memory._artifact_trust(artifact)) is not null
    and (memory._policy_section(p_job.user_id, null, 'trust') ->> 'rules')::boolean then
    described := null;
  end if;
  ref := memory._memory_ref(artifact.key, described, artifact.token_count);
  -- If another session holds the thread, this one does not wait: the worker hands the result in again.
  perform from memory.threads as t
  where t.user_id = artifact.user_id and t.thread_id = artifact.thread_id for no key update nowait;
  update memory.artifacts as a
  set awaits_description = false, description = coalesce(described, a.description)
  where a.user_id = artifact.user_id and a.key = artifact.key;
  if described <> artifact.description then
    -- The update reads the content itself, so that an edit for which it has waited is not lost.
    update memory.messages as m
    set (content, metadata) = (
      select r.said, memory._with_text(m.metadata, r.said)
      from replace(m.content, memory._ref_in(m.content, m.artifact_key), ref) as r (said))
    where m.user_id = artifact.user_id and m.thread_id = artifact.thread_id and m.artifact_key = artifact.key;
  end if;
  return jsonb_build_object('key', artifact.key, 'description', coalesce(described, artifact.description),
    'refusals', memory._counted_refusals(array[reason]));
end;
$$;

-- Stores a text, or the content of an upload (p_upload_id), as an artifact, and returns its row. A missing description
-- or key is made from the content. If the key has the same content already, the existing artifact is returned, and its
-- end of life becomes the later of the two. If the key has another content, or the agent lacks the resource memory,
-- nothing is stored and a row of nulls is returned. p_is_by_rule says that a rule has made the description.
create or replace function memory._keep_artifact(
  p_user_id text, p_agent_id text, p_thread_id text, p_key text, p_description text, p_artifact_type text,
  p_content text, p_metadata jsonb default '{}', p_expires_at timestamptz default null, p_upload_id uuid default null,
  p_check_at timestamptz default null, p_is_by_rule boolean default false
)
returns memory.artifacts
language plpgsql volatile parallel unsafe
as $$
declare
  stored_id uuid := coalesce(p_upload_id, memory._uuid_v7());
  artifact memory.artifacts;
  masks text[];
begin
  perform memory._check_id('user_id', p_user_id);
  masks := memory._masks_of(p_user_id, p_agent_id);
  if masks <> '{}' then
    if p_upload_id is not null then -- a number or name may stand across two pieces
      p_content := memory._content_slice(p_user_id, p_upload_id, 0, memory._max_file_bytes());
      perform memory._delete_content(p_user_id, p_upload_id);
      p_upload_id := null;
      stored_id := memory._uuid_v7();
    end if;
    p_content := memory._masked(p_content, masks);
  end if;
  if p_upload_id is null then
    perform memory._check_artifact_content(p_content);
    perform memory._append_content(p_user_id, stored_id, p_content);
  end if;
  loop
    insert into memory.artifacts as a (
      user_id, key, artifact_type, content_id, description, agent_id, thread_id, metadata, expires_at,
      check_at, awaits_description)
    values (
      p_user_id, p_key, p_artifact_type, stored_id,
      -- The description is made here, because the trigger would have to read the content that was just stored.
      coalesce(memory._placeholder_text(left(p_description, 10000)),
               case when p_upload_id is null then memory._describe(p_artifact_type, p_content, p_metadata) end),
      p_agent_id, p_thread_id, p_metadata, p_expires_at, p_check_at,
      (p_is_by_rule or memory._placeholder_text(left(p_description, 10000)) is null)
        -- a model will improve descriptions that a rule made
        and (memory._policy_section(p_user_id, p_agent_id, 'artifacts') ->> 'describe')::boolean
        and coalesce((memory._chosen_chat_model(
          null, memory._policy_section(p_user_id, p_agent_id, 'agent'))).provider <> 'local', false))
    -- "do update" waits for a transaction that stores the same key. A look before the insert would not see it.
    on conflict on constraint artifacts_pkey do update
    set expires_at = case
          when num_nulls(a.expires_at, excluded.expires_at) = 0 then greatest(a.expires_at, excluded.expires_at)
        end
    where a.key = p_key
      and memory._is_unexpired(a.expires_at)
      and memory._is_same_content(a.user_id, a.content_id, excluded.content_id)
    returning a.* into artifact;
    exit when found
      or not memory._has_memory(p_user_id, p_agent_id)
      or exists (
        select from memory.artifacts as a -- an artifact in quarantine keeps its key, too
        where a.user_id = p_user_id and a.key = p_key and memory._is_unexpired(a.expires_at)
          and not memory._is_same_content(p_user_id, a.content_id, stored_id));
    -- Otherwise the artifact of this key was deleted meanwhile, or a made key is taken: the loop tries again.
  end loop;
  if artifact.content_id is distinct from stored_id then
    perform memory._delete_content(p_user_id, stored_id);
  end if;
  return artifact;
end;
$$;

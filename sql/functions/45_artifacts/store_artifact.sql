create or replace function memory.store_artifact(
  user_id text, content text, description text default null, key text default null,
  artifact_type text default 'command_output', agent_id text default 'default', thread_id text default null,
  metadata jsonb default '{}', expires_at timestamptz default null
)
returns memory.stored_artifact
language plpgsql volatile parallel unsafe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  artifact memory.artifacts;
begin
  loop
    insert into memory.artifacts as a (
      user_id, key, artifact_type, content, description, agent_id, thread_id, metadata, expires_at)
    values (
      store_artifact.user_id, store_artifact.key, store_artifact.artifact_type, store_artifact.content,
      store_artifact.description, store_artifact.agent_id, store_artifact.thread_id, store_artifact.metadata,
      store_artifact.expires_at)
    -- The caller's key already has the same content: its later expires_at is kept. The update waits for a session that
    -- is storing the same key, which a look before the insert could not see.
    on conflict on constraint artifacts_pkey do update
    set expires_at = case
          when num_nulls(a.expires_at, excluded.expires_at) = 0 then greatest(a.expires_at, excluded.expires_at)
        end
    where a.key = store_artifact.key
      and a.content = excluded.content
      and (a.expires_at is null or a.expires_at > statement_timestamp())
    returning a.* into artifact;
    exit when found;
    if not memory._has_resource(user_id, agent_id, 'memory') then
      return row(null, null, memory._estimate_tokens(content))::memory.stored_artifact;
    end if;
    perform from memory._current_artifacts(user_id) as a
    where a.key = store_artifact.key and a.content <> store_artifact.content;
    -- If not found, the artifact has gone meanwhile, or the key that was made is taken: the loop tries again.
    if found then
      perform memory._refuse('key', format('"%s" names another artifact of this user', key),
        'Choose another key, or leave it out and one is made. Placeholders in use go on meaning what they meant.',
        '23505');
    end if;
  end loop;
  return (
    artifact.key, memory._memory_ref(artifact.key, artifact.description, artifact.token_count), artifact.token_count);
end;
$$;
comment on function memory.store_artifact(text, text, text, text, text, text, text, jsonb, timestamptz) is
'Stores a long text (10 MiB at most) and returns the placeholder that a context holds in its place: '
'[MemoryRef: <key> - <description> - <n> tokens]. A missing description or key is made from the content. The content '
'of a key never changes: storing the same content again can only prolong its life, other content is refused (23505). '
'For an agent without the resource memory nothing is stored: key is null.';

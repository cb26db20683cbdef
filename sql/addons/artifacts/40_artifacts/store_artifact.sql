create or replace function memory.store_artifact(
  user_id text, content text, description text default null, key text default null,
  artifact_type text default 'command_output', agent_id text default 'default', thread_id text default null,
  metadata jsonb default '{}', expires_at timestamptz default null, upload_id uuid default null
)
returns memory.stored_artifact
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  artifact memory.artifacts;
  token_count constant int := memory._estimate_tokens(content);
begin
  if upload_id is not null then
    perform memory._check_id('user_id', user_id);
    if content is not null then
      perform memory._refuse('upload_id', 'cannot be combined with content', 'Pass null as content.');
    end if;
    delete from memory.artifact_uploads as u
    where u.user_id = store_artifact.user_id and u.upload_id = store_artifact.upload_id;
    if not found then
      perform memory._refuse_upload(upload_id);
    end if;
  end if;
  perform memory._note_expired('artifact', expires_at);
  artifact := memory._keep_artifact(
    user_id, agent_id, thread_id, key, description, artifact_type, content, metadata, expires_at, upload_id);
  if artifact.key is null and memory._has_memory(user_id, agent_id) then
    perform memory._refuse('key', format('"%s" names another artifact of this user', key),
      'Choose another key, or leave it out and one is made. Placeholders in use keep their content.',
      '23505');
  end if;
  return (
    artifact.key, memory._memory_ref(artifact.key, artifact.description, artifact.token_count),
    coalesce(artifact.token_count, token_count));
end;
$$;
comment on function memory.store_artifact(text, text, text, text, text, text, text, jsonb, timestamptz, uuid) is
'Stores a long text (200 MiB at most) and returns the placeholder that a context holds in its place: [MemoryRef: '
'<key> - <description> - <n> tokens]. A missing description or key is made from the content. The content of a key '
'never changes: storing the same content again can only prolong its life, other content is refused (23505). upload_id '
'stores the pieces of memory.add_artifact_piece(); content is null then. For an agent without the resource memory '
'nothing is stored: key is null.';

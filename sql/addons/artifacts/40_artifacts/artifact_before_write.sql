-- Applies the rules and defaults before an artifact is stored, so that a plain INSERT obeys the rules too.
create or replace function memory._artifact_before_write()
returns trigger
language plpgsql volatile parallel unsafe security definer -- the writer may lack rights on policies
set search_path = pg_catalog, pg_temp
as $$
declare
  masks text[];
begin
  new.metadata := coalesce(new.metadata, '{}');
  new.created_at := coalesce(new.created_at, statement_timestamp());
  new.expires_at := nullif(new.expires_at, 'infinity');
  new.description := memory._placeholder_text(left(new.description, 10000));
  if tg_op = 'INSERT' or (new.description, new.metadata) is distinct from (old.description, old.metadata)
    or new.content is not null then
    masks := memory._masks_of(new.user_id, new.agent_id);
    if masks <> '{}' then
      new.description := memory._masked(new.description, masks);
      new.content := memory._masked(new.content, masks);
      new.metadata := memory._json_masked(new.metadata, masks);
    end if;
  end if;
  perform memory._check_artifact(new);
  if tg_op = 'UPDATE' and (new.user_id, new.key) is distinct from (old.user_id, old.key) then
    perform memory._refuse('key', 'user_id and key of an artifact cannot change',
      'Placeholders name it by them; store it again under another key.');
  end if;
  if new.content is not null or not exists (
    select from memory.artifact_parts as p
    where p.user_id = new.user_id and p.content_id = new.content_id and p.content ~ e'\\S') then
    perform memory._check_artifact_content(new.content);
  end if;
  new.description := coalesce(new.description, memory._describe(new.artifact_type,
    coalesce(new.content, memory._content_slice(new.user_id, new.content_id, 0, 10485760)), new.metadata));
  new.token_count := case
    when new.content is null then memory._tokens_of_bytes(memory._content_bytes(new.user_id, new.content_id))
    else memory._estimate_tokens(new.content) end;

  if tg_op = 'INSERT' then
    if not memory._has_memory(new.user_id, new.agent_id) then
      perform memory._note_missing_resource(new.agent_id, 'memory', 'nothing is stored');
      return null;
    end if;
    new.content_id := coalesce(new.content_id, memory._uuid_v7());
    new.key := coalesce(new.key, memory._artifact_key(new.description, new.artifact_type));
    -- An expired artifact that no sweep has removed yet loses its key to the new artifact.
    delete from memory.artifacts as a
    where a.user_id = new.user_id and a.key = new.key and a.expires_at <= statement_timestamp();
    if memory._is_space(new.user_id) and not exists ( -- if the key exists, another session has written it
      select from memory.artifacts as a where a.user_id = new.user_id and a.key = new.key) then
      perform memory._note_writer(new.user_id, 'artifact', new.key, true);
    end if;
    return new;
  end if;
  if new.content is not null then
    new.content_id := memory._uuid_v7();
    perform memory._append_content(new.user_id, new.content_id, new.content);
    new.content := null;
    if old.content is null then -- unless the content was inserted just before
      new.released_at := null;
    end if;
  end if;
  return new;
end;
$$;

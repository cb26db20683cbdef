-- A message keeps its place: its user_id, thread_id and seq cannot be updated. A change of content or metadata renews
-- its token_count.
create or replace function memory._message_before_update()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  settled jsonb[];
  masks text[];
begin
  if (new.user_id, new.thread_id, new.seq) is distinct from (old.user_id, old.thread_id, old.seq) then
    perform memory._refuse('seq', 'user_id, thread_id and seq of a message cannot change',
      'Insert a new message instead.');
  end if;
  new.content := memory._text_of_message(new.role, new.content, new.metadata);
  new.files := old.files;
  if new.metadata <> old.metadata then
    settled := memory._settled_metadata(
      case when old.files is null then new.metadata else memory._with_files(new.metadata, old.files) end, null);
    new.metadata := settled[1];
    new.files := settled[2];
  end if;
  perform memory._check_message(new);
  -- A message names its artifact as long as its text has the placeholder. An update cannot name another artifact.
  new.artifact_key := case when memory._ref_in(new.content, old.artifact_key) is not null then old.artifact_key end;
  new.content_digest := case when new.artifact_key is not null then old.content_digest end;
  if new.content <> old.content or new.metadata <> old.metadata then
    masks := memory._masks(memory._policy(new.user_id, new.agent_id), true);
    if masks <> '{}' then
      new.content := memory._masked_content(new.content, new.artifact_key, masks);
      new.metadata := memory._masked_metadata(new.metadata, masks);
    end if;
    new.token_count := memory._estimated_tokens(new.content, new.metadata);
    new.is_counted := false;
  end if;
  new.updated_at := statement_timestamp();
  return new;
end;
$$;

-- A message keeps its place: its user_id, thread_id and seq cannot be updated. A change of content or metadata renews
-- its words and token_count, and drops its embedding. Where the statement that stores its words (search_vector) does
-- not store their search_keys, the trigger does.
create or replace function memory._message_before_update()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  policy jsonb;
  masks text[];
begin
  if (new.user_id, new.thread_id, new.seq) is distinct from (old.user_id, old.thread_id, old.seq) then
    perform memory._refuse('seq', 'user_id, thread_id and seq of a message cannot change',
      'Insert a new message instead.');
  end if;
  if memory._message_problem(new.user_id, new.thread_id, new.agent_id, new.role, new.content, new.metadata,
                             new.created_at, new.idempotency_key) is not null then
    perform memory._refuse_message(new.user_id, new.thread_id, new.agent_id, new.role, new.content, new.metadata,
                                   new.created_at, new.idempotency_key);
  end if;
  -- A message names its artifact as long as its text does; nobody else may say which artifact that is.
  new.artifact_key := case when memory._ref_in(new.content, old.artifact_key) is not null then old.artifact_key end;
  new.content_digest := case when new.artifact_key is not null then old.content_digest end;
  if new.content <> old.content or new.metadata <> old.metadata then
    policy := memory._policy(new.user_id, new.agent_id);
    masks := memory._masks(policy, true);
    if masks <> '{}' then
      new.content := memory._masked_content(new.content, new.artifact_key, masks);
      new.metadata := memory._masked_metadata(new.metadata, masks);
    end if;
    new.token_count := memory._estimated_tokens(new.content, new.metadata);
    new.is_counted := false;
    new.search_vector := memory._message_vector((policy #>> '{search,language}')::regconfig, new.content, new.metadata,
                                                new.created_at);
    -- A job that is embedding the old text has locked the row. After the wait its embedding is there to be dropped.
    perform from memory.messages as m
    where m.user_id = new.user_id and m.thread_id = new.thread_id and m.seq = new.seq for update;
    perform memory._drop_embeddings(new.user_id, 'message', array[new.thread_id || '/' || new.seq]);
    if (policy #>> '{search,embed_messages}')::boolean then
      perform memory._enqueue_embedding(new.user_id, new.thread_id);
    end if;
  end if;
  if new.search_vector is not null
    and (new.search_keys is null
         or new.search_keys is not distinct from old.search_keys
            and (new.search_vector, new.metadata, new.agent_id)
                  is distinct from (old.search_vector, old.metadata, old.agent_id)) then
    new.search_keys := array(
      select k from memory._search_keys(new.user_id, new.agent_id, new.search_vector, new.metadata) as k);
  end if;
  if (new.agent_id, new.created_at) is distinct from (old.agent_id, old.created_at) then
    update memory.embeddings as e
    set agent_id = new.agent_id, created_at = new.created_at
    where e.user_id = new.user_id
      and e.model = any (array(select m.name from memory.models as m where m.kind = 'embedding'))
      and e.source = 'message' and e.id = new.thread_id || '/' || new.seq;
  end if;
  new.updated_at := statement_timestamp();
  return new;
end;
$$;

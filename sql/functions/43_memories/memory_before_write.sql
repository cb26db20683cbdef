create or replace function memory._memory_before_write()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may write need not have rights on policies and types
set search_path = pg_catalog, pg_temp
as $$
declare
  layers memory.policies[];
  policy jsonb;
  words tsvector;
  is_long boolean;
  has_new_tags boolean;
begin
  new.metadata := coalesce(new.metadata, '{}');
  new.tags := coalesce(new.tags, '{}');
  -- Null says the same as infinity, and every driver can read it.
  new.valid_from := nullif(new.valid_from, 'infinity');
  new.valid_to := nullif(new.valid_to, 'infinity');
  has_new_tags := new.tags <> '{}' and (tg_op = 'INSERT' or new.tags <> old.tags);
  -- One cheap expression lets rows pass that are certainly right. The rules are in memory._check_memory(): a new rule
  -- also needs a condition here that sends doubtful rows there.
  if (length(new.user_id) between 1 and 255 and length(new.agent_id) between 1 and 255
      and (new.thread_id is null or length(new.thread_id) between 1 and 255) and length(new.source) between 1 and 255
      and new.content ~ e'\\S' and octet_length(new.content) <= 262144 and octet_length(coalesce(new.embedding_text, '')) <= 262144
      and jsonb_typeof(new.metadata) = 'object' and pg_column_size(new.metadata) <= 1048576
      and exists (select from memory.memory_types as t where t.memory_type = new.memory_type)
      and new.confidence between 0 and 1 and new.importance between 0 and 1
      and (new.valid_from <= new.valid_to) is not false
      and (new.created_at is null or memory._is_real_moment(new.created_at))
      and (new.valid_from is null or memory._is_real_moment(new.valid_from))
      and (new.valid_to is null or memory._is_real_moment(new.valid_to))
      and (new.expires_at is null or memory._is_real_moment(new.expires_at))
      -- In 255 bytes there are neither more tags nor longer ones than may be.
      and (not has_new_tags or case when array_ndims(new.tags) = 1 then pg_column_size(new.tags) <= 255
        and array_position(new.tags, null) is null end)
     ) is not true then
    perform memory._check_memory(new, has_new_tags);
  end if;
  new.updated_at := statement_timestamp();
  new.is_stated := memory._states(new.source);

  if tg_op = 'INSERT' then
    layers := memory._lock_scope(new.user_id, new.agent_id);
    policy := memory._effective_policy(layers);
    new.memory_id := coalesce(new.memory_id, memory._uuid_v7());
    new.created_at := coalesce(new.created_at, statement_timestamp());
    if new.expires_at is null and policy #>> '{memories,expires_after}' is not null then
      new.expires_at := memory._expiry(policy #>> '{memories,expires_after}');
    end if;
  elsif (new.user_id, new.agent_id, new.memory_id) is distinct from (old.user_id, old.agent_id, old.memory_id) then
    perform memory._refuse('memory_id', 'user_id, agent_id and memory_id of a memory cannot change', 'Add a new memory instead.');
  elsif new.content <> old.content or new.embedding_text is distinct from old.embedding_text then
    policy := memory._policy(new.user_id, new.agent_id);
    perform memory._drop_embedding(new.user_id, 'memory', new.memory_id::text);
    perform memory._enqueue_embedding(new.user_id);
  end if;
  -- not before the policy's default, which an explicit "never" overrules
  new.expires_at := nullif(new.expires_at, 'infinity');
  if policy is not null then -- there are new words
    new.content_hash := memory._content_hash(new.content);
    words := memory._memory_vector((policy #>> '{search,language}')::regconfig, new.content, new.embedding_text);
    -- An entry of memories_recent_idx has room for 2,704 bytes.
    is_long := octet_length(new.user_id) + octet_length(new.agent_id) + pg_column_size(words) > 2500;
    new.search_vector := case when not is_long then words end;
    new.long_search_vector := case when is_long then words end;
  end if;
  if num_nonnulls(new.superseded_at, new.deleted_at) = 0 then
    perform memory._remove_expired_duplicate(new);
  end if;
  if tg_op = 'INSERT' then
    return new;
  end if;
  if (new.created_at, memory._valid_until(new)) is distinct from (old.created_at, memory._valid_until(old)) then
    perform memory._update_embedding(new);
  end if;

  new.version := old.version + 1;
  new.changed_by := session_user;
  if new.operation = old.operation then -- a direct update that does not say what it is
    new.operation := case
      when new.deleted_at is not null and old.deleted_at is null then 'delete'
      when new.superseded_by is not null and new.superseded_by is distinct from old.superseded_by then 'supersede'
      when num_nulls(new.deleted_at, new.superseded_at) > num_nulls(old.deleted_at, old.superseded_at) then 'restore'
      else 'update' end;
  end if;
  insert into memory.memory_history (
    user_id, memory_id, version, operation, content, metadata, tags, confidence, importance, expires_at, superseded_by,
    supersede_reason, changed_at, changed_by)
  values (
    old.user_id, old.memory_id, old.version, old.operation, old.content, old.metadata, old.tags, old.confidence,
    old.importance, old.expires_at, old.superseded_by, old.supersede_reason, old.updated_at, old.changed_by);
  return new;
end;
$$;

-- An expired memory that nobody swept yet must not stand in the way of the same content now.
create or replace function memory._remove_expired_duplicate(p_candidate memory.memories)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  expired uuid;
begin
  -- Looks first: even a delete that finds nothing enters the statement trigger.
  select m.memory_id into expired from memory.memories as m
  where m.user_id = p_candidate.user_id and m.agent_id = p_candidate.agent_id and m.memory_type = p_candidate.memory_type
    and m.content_hash = p_candidate.content_hash and m.memory_id <> p_candidate.memory_id
    and m.superseded_at is null and m.deleted_at is null and m.expires_at <= statement_timestamp();
  if expired is not null then
    delete from memory.memories as m
    where m.user_id = p_candidate.user_id and m.memory_id = expired
      and m.expires_at <= statement_timestamp(); -- unless somebody has just prolonged its life
  end if;
end;
$$;

-- What a keyword finds a memory by.
create or replace function memory._memory_vector(p_language regconfig, p_content text, p_embedding_text text)
returns tsvector
language plpgsql immutable parallel safe -- an SQL function with a SET clause is parsed and planned in every transaction
as $$
begin
  return memory._text_vector(p_language, p_content || coalesce(e'\n' || p_embedding_text, ''));
end;
$$;

-- Before a memory changes, this trigger applies the rules, and writes its history.
create or replace function memory._memory_before_update()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  has_new_tags boolean;
  policy jsonb;
begin
  if {{are copied}} then
    return new;
  end if;
  if not memory._is_user(new.user_id) then -- PostgreSQL would not inline it inside memory._memory_problem()
    -- Functions have locked the space already. memory.sweep() has not, and already holds counters.
    perform memory._check_reader(new.user_id);
    if (new.content, new.embedding_text, new.metadata, new.tags)
         is distinct from (old.content, old.embedding_text, old.metadata, old.tags) then
      perform memory._note_writer(new.user_id, 'memory', new.memory_id::text, false);
    end if;
  end if;
  -- A statement that only deletes, such as the eviction, is not checked: the trigger checks the memory when somebody
  -- restores it. New tags are checked even then.
  has_new_tags := coalesce(new.tags <> old.tags and new.tags <> '{}', false);
  if new.deleted_at is null or old.deleted_at is not null or has_new_tags then
    new := memory._checked_memory(new, has_new_tags);
    new.expires_at := nullif(new.expires_at, 'infinity');
  end if;

  -- A memory that was only said again gets no new version, because the columns in its history have not changed.
  if new.said_at is distinct from old.said_at and to_jsonb(new) - 'said_at' = to_jsonb(old) - 'said_at' then
    return new;
  end if;
  if (new.user_id, new.agent_id, new.memory_id) is distinct from (old.user_id, old.agent_id, old.memory_id) then
    perform memory._refuse('memory_id', 'user_id, agent_id and memory_id of a memory cannot change',
      'Add a new memory instead.');
  end if;

  if (new.content, new.embedding_text, new.metadata)
       is distinct from (old.content, old.embedding_text, old.metadata) then
    policy := memory._policy(new.user_id, new.agent_id);
    new := memory._masked_memory(new, memory._masks(policy, false));
  end if;

  new.updated_at := statement_timestamp();
  -- A caller can only lower trust.
  if (new.source, new.source_seqs, new.metadata, new.trust, new.is_stated)
       is distinct from (old.source, old.source_seqs, old.metadata, old.trust, old.is_stated) then
    new.is_stated := memory._states(new.source);
    if new.source_seqs is distinct from old.source_seqs then -- said again
      new.trust := least(old.trust, memory._memory_trust(new));
    elsif new.is_stated and not old.is_stated then -- extracted before, stated now
      new.trust := memory._memory_trust(new);
    else
      new.trust := least(old.trust, memory._lowered(new.metadata));
    end if;
  end if;

  if new.content <> old.content or new.embedding_text is distinct from old.embedding_text then
    new.content_hash := memory._content_hash(new.content);
    if new.deleted_at is null and (new.released_at is null or new.content <> old.content) then
      new := memory._judged_memory(new, policy -> 'trust');
    end if;
  end if;

  if new.superseded_at is null and new.deleted_at is null then
    perform memory._remove_expired_duplicate(new);
  end if;
  -- A plain UPDATE does not name its operation, so the trigger derives it. A function that may repeat the operation of
  -- the last change, such as a second restore, raises the version itself.
  if new.operation = old.operation and new.version = old.version then
    new.operation := case
      when new.deleted_at is not null and old.deleted_at is null then 'delete'
      when new.superseded_by is not null and new.superseded_by is distinct from old.superseded_by then 'supersede'
      when new.superseded_at is not null and old.superseded_at is null then 'end'
      when num_nulls(new.deleted_at, new.superseded_at) > num_nulls(old.deleted_at, old.superseded_at) then 'restore'
      else 'update'
    end;
  end if;
  new.version := old.version + 1;
  new.changed_by := session_user;
  insert into memory.memory_history (
    user_id, memory_id, version, operation, content, metadata, tags, confidence, importance, expires_at, superseded_by,
    supersede_reason, valid_to, changed_at, changed_by)
  values (
    old.user_id, old.memory_id, old.version, old.operation, old.content, old.metadata, old.tags, old.confidence,
    old.importance, old.expires_at, old.superseded_by, old.supersede_reason, old.valid_to, old.updated_at,
    old.changed_by);
  return new;
end;
$$;

-- The memory with marks of the classes p_masks. Marks can be longer than the data, so limits are checked again.
create or replace function memory._masked_memory(p_memory memory.memories, p_masks text[])
returns memory.memories
language plpgsql stable parallel unsafe
as $$
begin
  if p_masks <> '{}' then
    p_memory.content := memory._masked(p_memory.content, p_masks);
    p_memory.embedding_text := memory._masked(p_memory.embedding_text, p_masks);
    p_memory.metadata := memory._json_masked(p_memory.metadata, p_masks);
    p_memory.subject := left(memory._masked(p_memory.subject, p_masks), 255);
    p_memory.attribute := left(memory._masked(p_memory.attribute, p_masks), 255);
    p_memory.content_hash := memory._content_hash(p_memory.content);
    p_memory := memory._checked_memory(p_memory, false);
  end if;
  return p_memory;
end;
$$;

-- Deletes an expired memory with the same content that no sweep has removed yet, because an index refuses exact
-- duplicates of current memories.
create or replace function memory._remove_expired_duplicate(p_candidate memory.memories)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  delete from memory.memories as m
  where m.user_id = p_candidate.user_id
    and m.agent_id = p_candidate.agent_id
    and m.content_hash = p_candidate.content_hash
    and m.memory_id <> p_candidate.memory_id
    and memory._is_current(m)
    and m.expires_at <= statement_timestamp();
end;
$$;

-- Before a memory is stored, this trigger applies the rules and defaults and computes the words. If a stored memory
-- changes, the trigger also updates its embeddings and writes its history.
create or replace function memory._memory_before_write()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  is_new constant boolean := tg_op = 'INSERT';
  has_new_tags boolean;
  problem text;
  layers memory.policies[];
  policy jsonb; -- null when the words stay as they are
  words tsvector;
  is_long boolean;
  judged memory.memories;
  is_changed boolean;
begin
  if not memory._is_user(new.user_id) then -- PostgreSQL would not inline it inside memory._memory_problem()
    perform memory._check_id('user_id', new.user_id);
  end if;
  -- Values that mean the same get one spelling. Infinity becomes null, which every driver can read.
  new.metadata := coalesce(new.metadata, '{}');
  new.tags := coalesce(new.tags, '{}');
  new.valid_from := nullif(new.valid_from, 'infinity');
  new.valid_to := nullif(new.valid_to, 'infinity');

  -- A statement that only deletes (so does the eviction) is not checked, because the trigger checks the memory when
  -- somebody restores it. Tags are an exception: the trigger checks them only when they are new.
  has_new_tags := new.tags <> '{}' and (is_new or new.tags <> old.tags);
  if is_new or new.deleted_at is null or old.deleted_at is not null or has_new_tags then
    problem := memory._memory_problem(new, has_new_tags);
    if problem is not null then
      perform memory._refuse_memory(problem, new);
    end if;
  end if;

  -- A memory that was only said again, or parsed anew, is no new version, because the columns in its history have not
  -- changed.
  if not is_new and (new.said_at, new.search_vector, new.long_search_vector)
                      is distinct from (old.said_at, old.search_vector, old.long_search_vector) then
    judged := new;
    new.said_at := old.said_at;
    new.search_vector := old.search_vector;
    new.long_search_vector := old.long_search_vector;
    is_changed := new is distinct from old;
    new := judged;
    if not is_changed then
      return new;
    end if;
  end if;

  new.updated_at := statement_timestamp();
  new.is_stated := memory._states(new.source);
  -- A caller can only lower trust. The user states nearly every memory, and such a memory costs two comparisons here.
  if is_new then
    new.trust := case
      when new.source = 'user' and new.source_seqs is null and not new.metadata ? 'trust' then 1
      else memory._memory_trust(new)
    end;
  elsif new.source_seqs is distinct from old.source_seqs then -- said again
    new.trust := least(old.trust, memory._memory_trust(new));
  elsif new.is_stated and not old.is_stated then -- extracted before, stated now
    new.trust := memory._memory_trust(new);
  else
    new.trust := least(old.trust, memory._lowered(new.metadata));
  end if;
  if is_new then
    layers := memory._lock_scope(new.user_id, new.agent_id);
    -- The check comes after the lock: while this session waited for it, another session may have forgotten this
    -- content.
    if memory._stays_out(new.is_stated, new.user_id, new.content) then
      return null;
    end if;
    policy := memory._effective_policy(layers);
    if not (policy #>> '{resources,memory}')::boolean then
      perform memory._note_missing_resource(new.agent_id, 'memory', 'nothing is stored');
      return null;
    end if;
    new.memory_id := coalesce(new.memory_id, memory._uuid_v7());
    new.created_at := coalesce(new.created_at, statement_timestamp());
    if new.expires_at is null and policy #>> '{memories,expires_after}' is not null then
      new.expires_at := memory._expiry(policy #>> '{memories,expires_after}');
    end if;
  elsif (new.user_id, new.agent_id, new.memory_id) is distinct from (old.user_id, old.agent_id, old.memory_id) then
    perform memory._refuse('memory_id', 'user_id, agent_id and memory_id of a memory cannot change',
      'Add a new memory instead.');
  elsif new.content <> old.content or new.embedding_text is distinct from old.embedding_text then
    policy := memory._policy(new.user_id, new.agent_id);
    perform memory._drop_embeddings(new.user_id, 'memory', array[new.memory_id::text]);
    perform memory._enqueue_embedding(new.user_id, '', 'memory', array[new.memory_id::text]);
  end if;
  -- The policy's default comes first and must not replace an explicit "never", so infinity becomes null only here.
  new.expires_at := nullif(new.expires_at, 'infinity');

  if policy is not null then
    new.content_hash := memory._content_hash(new.content);
    words := memory._memory_vector((policy #>> '{search,language}')::regconfig, new.content, new.embedding_text);
    is_long := memory._is_long_entry(new.user_id, new.agent_id, words);
    new.search_vector := case when not is_long then words end;
    new.long_search_vector := case when is_long then words end;
    if is_new and not new.is_stated and memory._is_quarantined_content(new) then
      return null;
    end if;
    if (new.trust < 0.9 or new.embedding_text is not null or memory._may_be_definite(new.content)
        or memory._may_have_credential(new.content))
      and new.deleted_at is null and (policy #>> '{trust,rules}')::boolean
      and (is_new or new.released_at is null or new.content <> old.content) then
      judged := memory._judged_memory(new, is_new);
      if judged.user_id is null then
        return null;
      end if;
      new := judged;
    end if;
  end if;

  if memory._is_current(new) then
    perform memory._remove_expired_duplicate(new);
  end if;
  if is_new then
    return new;
  end if;

  -- The embeddings of all models repeat these two times of their memory.
  if (new.created_at, memory._valid_until(new)) is distinct from (old.created_at, memory._valid_until(old)) then
    update memory.embeddings as e
    set created_at = new.created_at, valid_until = memory._valid_until(new)
    where e.user_id = new.user_id
      and e.model = any (array(select m.name from memory.models as m where m.kind = 'embedding'))
      and e.source = 'memory'
      and e.id = new.memory_id::text;
    if not found and memory._is_current(new) then -- it may have expired before a job embedded it
      perform memory._enqueue_embedding(new.user_id, '', 'memory', array[new.memory_id::text]);
    end if;
  end if;

  -- A direct update does not name its operation. A function that may name the same operation as the previous change,
  -- such as a second restore, raises the version itself.
  if new.operation = old.operation and new.version = old.version then
    new.operation := case
      when new.deleted_at is not null and old.deleted_at is null then 'delete'
      when new.superseded_by is not null and new.superseded_by is distinct from old.superseded_by then 'supersede'
      when num_nulls(new.deleted_at, new.superseded_at) > num_nulls(old.deleted_at, old.superseded_at) then 'restore'
      else 'update'
    end;
  end if;
  new.version := old.version + 1;
  new.changed_by := session_user;
  insert into memory.memory_history (
    user_id, memory_id, version, operation, content, metadata, tags, confidence, importance, expires_at, superseded_by,
    supersede_reason, changed_at, changed_by)
  values (
    old.user_id, old.memory_id, old.version, old.operation, old.content, old.metadata, old.tags, old.confidence,
    old.importance, old.expires_at, old.superseded_by, old.supersede_reason, old.updated_at, old.changed_by);
  return new;
end;
$$;

-- Deletes an expired memory with the same content that no sweep has removed yet, because an index refuses exact
-- duplicates of current memories.
create or replace function memory._remove_expired_duplicate(p_candidate memory.memories)
returns void
language plpgsql volatile parallel unsafe
set jit = off
set enable_seqscan = off -- PostgreSQL would read all of a table of four pages: add_memory took 17 % more instructions
as $$
declare
  expired uuid;
begin
  -- The function looks for the row first, because even a delete that finds no row enters the statement trigger.
  select m.memory_id into expired
  from memory.memories as m
  where m.user_id = p_candidate.user_id
    and m.agent_id = p_candidate.agent_id
    and m.content_hash = p_candidate.content_hash
    and m.memory_id <> p_candidate.memory_id
    and memory._is_current(m)
    and m.expires_at <= statement_timestamp();
  if expired is not null then
    delete from memory.memories as m
    where m.user_id = p_candidate.user_id
      and m.memory_id = expired
      and m.expires_at <= statement_timestamp(); -- another session may have prolonged its life meanwhile
  end if;
end;
$$;

-- The words of a memory for keyword search. The function is in PL/pgSQL, because PostgreSQL parses and plans an SQL
-- function that is not inlined anew in every transaction.
create or replace function memory._memory_vector(p_language regconfig, p_content text, p_embedding_text text)
returns tsvector
language plpgsql immutable parallel safe
as $$
begin
  return memory._text_vector(p_language, p_content || coalesce(e'\n' || p_embedding_text, ''));
end;
$$;

-- Whether these words do not fit into memories_recent_idx, whose entries have room for 2,704 bytes.
create or replace function memory._is_long_entry(p_user_id text, p_agent_id text, p_words tsvector)
returns boolean
language sql stable parallel safe
begin atomic
  select octet_length(p_user_id) + octet_length(p_agent_id) + pg_column_size(p_words) > 2500;
end;

-- The words of a memory that comes without words, and whether these words are too long for the index.
create or replace function memory._memory_words(p_memory memory.memories, out words tsvector, out is_long boolean)
language plpgsql stable parallel safe
as $$
begin
  words := memory._memory_vector(
    memory._language(p_memory.user_id, p_memory.agent_id), p_memory.content, p_memory.embedding_text);
  is_long := memory._is_long_entry(p_memory.user_id, p_memory.agent_id, words);
end;
$$;

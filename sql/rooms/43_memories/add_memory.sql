create or replace function memory.add_memory(
  user_id text, content text, memory_type text default 'fact', agent_id text default 'default',
  thread_id text default null, metadata jsonb default '{}', tags text[] default '{}',
  confidence double precision default 1.0, importance double precision default null,
  valid_from timestamptz default null, valid_to timestamptz default null, expires_at timestamptz default null,
  embedding_text text default null, source text default 'user', on_conflict text default 'ignore',
  memory_id uuid default null
)
returns memory.stored_memory
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  stored memory.stored_memory;
  existing memory.memories;
  hash text;
  quarantine_reason text;
  is_kept boolean;
begin
  if (on_conflict in ('ignore', 'replace', 'error')) is not true then
    perform memory._refuse('on_conflict', format('unknown value "%s"', on_conflict), 'Use ignore, replace or error.');
  end if;
  if expires_at is not null then
    perform memory._note_expired('memory', expires_at);
  end if;
  if memory._has_memory_attributes(metadata) then
    if coalesce(tags, '{}') = '{}' then
      tags := memory._tags_in(metadata);
    end if;
    if confidence = 1.0 then -- a function cannot distinguish a default from the same argument given by the caller
      confidence := coalesce(memory._share_in(metadata, 'confidence'), confidence);
    end if;
    importance := coalesce(importance, memory._share_in(metadata, 'importance'));
  end if;
  importance := coalesce(importance, memory._default_importance());
  if memory_id is not null then
    perform memory._check_id('user_id', user_id); -- the trigger would check it only after the search for the memory
  end if;
  loop
    if memory_id is not null then -- a repetition must not store the memory again, even if the memory is gone
      select m.memory_id, false into stored
      from memory.memories as m
      where m.user_id = add_memory.user_id and m.memory_id = add_memory.memory_id;
      if found then
        return stored;
      end if;
    end if;
    insert into memory.memories as m (
      user_id, memory_id, content, memory_type, agent_id, thread_id, metadata, tags, confidence, importance, valid_from,
      valid_to, expires_at, embedding_text, source)
    values (
      add_memory.user_id, add_memory.memory_id, add_memory.content, add_memory.memory_type, add_memory.agent_id,
      add_memory.thread_id, add_memory.metadata, add_memory.tags, memory._real(add_memory.confidence),
      memory._real(add_memory.importance), add_memory.valid_from, add_memory.valid_to, add_memory.expires_at,
      add_memory.embedding_text, add_memory.source)
    on conflict do nothing
    returning m.memory_id, true into stored;
    if found then
      -- At the limit the new memory itself may be evicted, because it matters least.
      select m.deleted_at is null or m.quarantined_at is not null, m.quarantine_reason
      into is_kept, quarantine_reason
      from memory.memories as m
      where m.user_id = add_memory.user_id and m.memory_id = stored.memory_id;
      stored := (stored.memory_id, is_kept);
      if not is_kept or quarantine_reason is not null then
        perform memory._note_unseen(stored.memory_id, quarantine_reason);
      end if;
      return stored;
    end if;

    -- The insert stored no row, because an exact duplicate exists or the agent lacks the resource memory. If the
    -- duplicate has gone meanwhile, the loop inserts again. The hash is a variable: with the function in the statement,
    -- the planner adds the function's cost to every index, chooses another index than the one of hashes, and reads all
    -- memories of the agent.
    content := memory._masked(content, memory._masks_of(user_id, agent_id));
    hash := memory._content_hash(content);
    select m.* into existing
    from memory.memories as m
    where m.user_id = add_memory.user_id
      and m.agent_id = add_memory.agent_id
      and m.content_hash = hash
      and memory._is_current(m);
    if found then
      stored := (existing.memory_id, false);
      if existing.memory_id = add_memory.memory_id then -- the same call stored it while this one waited
        return stored;
      end if;
      exit;
    end if;
    select m.* into existing
    from memory.memories as m
    where m.user_id = add_memory.user_id
      and m.agent_id = add_memory.agent_id
      and m.content_hash = hash
      and m.quarantined_at is not null
    order by m.quarantined_at desc limit 1;
    if found then
      perform memory._note_unseen(existing.memory_id, existing.quarantine_reason);
      return row(existing.memory_id, false)::memory.stored_memory;
    elsif not memory._has_memory(user_id, agent_id)
      or not memory._states(source) and memory._is_forgotten(user_id, content) then
      return row(null, false)::memory.stored_memory;
    end if;
  end loop;

  if on_conflict = 'error' then
    perform memory._refuse('content', format('is stored already as memory %s', stored.memory_id),
      'Pass on_conflict => ''replace'' to update it.', '23505');
  elsif on_conflict = 'replace' then
    update memory.memories as m
    set content = add_memory.content,
        memory_type = memory._finer_type(m.memory_type, add_memory.memory_type),
        thread_id = add_memory.thread_id,
        metadata = add_memory.metadata,
        tags = add_memory.tags,
        confidence = memory._real(add_memory.confidence),
        importance = memory._real(add_memory.importance),
        valid_from = add_memory.valid_from,
        valid_to = add_memory.valid_to,
        expires_at = coalesce(add_memory.expires_at, m.expires_at),
        embedding_text = add_memory.embedding_text,
        source = add_memory.source,
        said_at = statement_timestamp(),
        operation = 'update'
    where m.user_id = add_memory.user_id and m.memory_id = stored.memory_id;
  else
    perform memory._state_again(existing, source, memory_type, metadata);
    update memory.memory_scopes as s
    set duplicates_skipped = s.duplicates_skipped + 1
    where s.user_id = add_memory.user_id and s.agent_id = add_memory.agent_id;
  end if;
  return stored;
end;
$$;
comment on function memory.add_memory(
  text, text, text, text, text, jsonb, text[], double precision, double precision, timestamptz, timestamptz,
  timestamptz, text, text, text, uuid
) is
'Stores a long-term memory and returns its id. If the agent has the same content already, whatever its type, '
'on_conflict decides: ignore returns the stored memory with inserted = false, replace updates it, error refuses '
'(23505). A stored fact takes the type that the repetition names; every other type stays. '
'tags, confidence and importance that are left out are taken from the metadata if it has them. Over '
'max_per_agent the memory of the agent that matters least is evicted, which may be the new one: then inserted is '
'false too. For an agent without the resource memory nothing is stored: memory_id is null; nor is what the user had '
'forgotten, if a model says it again (source extraction). A call that is repeated '
'with the same memory_id stores once: the memory of this id is returned as it is, also if it was changed or deleted '
'since.';

-- Raises a notice that nobody sees a memory: it is in quarantine for this reason, or the limit evicted it at once.
create or replace function memory._note_unseen(p_memory_id uuid, p_quarantine_reason text)
returns void
language plpgsql stable parallel safe
as $$
begin
  if p_quarantine_reason is not null then
    raise notice 'memory % is in quarantine: %', p_memory_id, p_quarantine_reason
      using hint = 'Nobody sees it. If it is harmless, call memory.release_memory().';
  else
    raise notice 'memory % was evicted at once: the agent is at its limit, and its other memories matter more',
      p_memory_id
      using hint = 'Give it a higher importance, or raise memories.max_per_agent with memory.set_policy().';
  end if;
end;
$$;

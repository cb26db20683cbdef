-- The one writer of memories: memory.add_memory() and memory.add_memories() call it. The triggers of the table apply
-- the rules, so a plain INSERT obeys them as well.

create or replace function memory._check_on_conflict(p_on_conflict text)
returns void
language plpgsql immutable parallel safe
as $$
begin
  if (p_on_conflict in ('ignore', 'replace', 'error')) is not true then
    perform memory._refuse('on_conflict', format('unknown value "%s"', p_on_conflict), 'Use ignore, replace or error.');
  end if;
end;
$$;

-- Stores memories in one statement and returns their ids in order. inserted is false for a memory whose content the
-- agent has already, which is not stored, and for a memory that the limit evicted at once.
create or replace function memory._write_memories(
  p_user_id text, p_memories memory.new_memory[], p_on_conflict text
)
returns setof memory.stored_memory
language plpgsql volatile parallel unsafe
as $$
declare
  written record;
  stored memory.stored_memory;
  is_kept boolean;
  unseen memory.memories;
begin
  perform memory._check_id('user_id', p_user_id); -- before the function reads anything of the user
  -- Locks all counters first, in the order of agent_id that all functions keep. The trigger alone would lock them in
  -- the order of the memories.
  perform memory._lock_scope(p_user_id, a.agent_id)
  from (select distinct n.agent_id from unnest(p_memories) as n where memory._is_id(n.agent_id)) as a
  order by a.agent_id;
  for written in
    with given as materialized (
      select row_number() over () as place, d as memory, coalesce(d.memory_id, memory._uuid_v7()) as id
      from unnest(p_memories) as n
      cross join lateral memory._with_defaults(n) as d
    ), inserted as (
      insert into memory.memories as m (
        user_id, memory_id, content, memory_type, agent_id, thread_id, metadata, tags, confidence, importance,
        valid_from, valid_to, expires_at, embedding_text, source, subject, attribute)
      select p_user_id, g.id, (g.memory).content, (g.memory).memory_type, (g.memory).agent_id, (g.memory).thread_id,
        (g.memory).metadata, (g.memory).tags, memory._real((g.memory).confidence),
        memory._real((g.memory).importance), (g.memory).valid_from, (g.memory).valid_to, (g.memory).expires_at,
        (g.memory).embedding_text, (g.memory).source, (g.memory).subject, (g.memory).attribute
      from given as g
      where (g.memory).memory_id is null or not exists ( -- a repeated call stores nothing, even for a deleted id
        select from memory.memories as m where m.user_id = p_user_id and m.memory_id = g.id)
      order by g.place
      on conflict do nothing
      returning m.memory_id
    )
    select g.id, g.memory,
      i.memory_id is not null and row_number() over (partition by g.id order by g.place) = 1 as is_inserted
    from given as g left join inserted as i on i.memory_id = g.id
    order by g.place
  loop
    if written.is_inserted then
      -- An agent at its limit may lose the new memory itself, if it is the least important.
      is_kept := true;
      select m.* into unseen
      from memory.memories as m
      where m.user_id = p_user_id and m.memory_id = written.id and m.deleted_at is not null;
      if found then
        is_kept := unseen.quarantined_at is not null;
        perform memory._note_unseen(unseen);
      end if;
      stored := (written.id, is_kept);
      if (written.memory).expires_at is not null then
        perform memory._note_expired('memory', (written.memory).expires_at);
      end if;
    else
      stored := memory._write_again(p_user_id, written.memory, p_on_conflict);
    end if;
    if cardinality((written.memory).replaces) > 0 and stored.memory_id is not null then
      perform memory._replace(p_user_id, stored.memory_id, (written.memory).replaces);
    end if;
    return next stored;
  end loop;
end;
$$;

-- The result for a memory that was not stored: it is stored already, it must not be stored, or nobody sees it.
create or replace function memory._write_again(p_user_id text, p_memory memory.new_memory, p_on_conflict text)
returns memory.stored_memory
language plpgsql volatile parallel unsafe
as $$
declare
  -- These are variables, because with a function in the statement the planner adds the function's cost to every index,
  -- and no longer takes the index of hashes.
  content constant text := memory._masked(p_memory.content, memory._masks_of(p_user_id, p_memory.agent_id));
  hash constant text := memory._content_hash(content);
  existing memory.memories;
begin
  select m.* into existing from memory.memories as m where m.user_id = p_user_id and m.memory_id = p_memory.memory_id;
  if found then
    return row(existing.memory_id, false)::memory.stored_memory;
  end if;
  select m.* into existing
  from memory.memories as m
  where m.user_id = p_user_id and m.agent_id = p_memory.agent_id and m.content_hash = hash and memory._is_current(m);
  if not found then
    select m.* into existing
    from memory.memories as m
    where m.user_id = p_user_id and m.agent_id = p_memory.agent_id and m.content_hash = hash
      and m.deleted_at >= statement_timestamp() -- in quarantine, or evicted by this statement
    order by m.deleted_at desc, m.quarantined_at desc limit 1;
    if found then
      perform memory._note_unseen(existing);
    end if;
    -- Otherwise the agent lacks the resource memory, or the user had the content forgotten.
    return row(existing.memory_id, false)::memory.stored_memory;
  elsif p_on_conflict = 'error' then
    perform memory._refuse('content', format('is stored already as memory %s', existing.memory_id),
      'Pass on_conflict => ''replace'' to update it.', '23505');
  elsif p_on_conflict = 'replace' then
    update memory.memories as m
    set content = p_memory.content,
        memory_type = memory._finer_type(m.memory_type, p_memory.memory_type),
        thread_id = p_memory.thread_id,
        metadata = p_memory.metadata,
        tags = p_memory.tags,
        confidence = memory._real(p_memory.confidence),
        importance = memory._real(p_memory.importance),
        valid_from = p_memory.valid_from,
        valid_to = p_memory.valid_to,
        expires_at = coalesce(p_memory.expires_at, m.expires_at),
        embedding_text = p_memory.embedding_text,
        source = p_memory.source,
        subject = p_memory.subject,
        attribute = p_memory.attribute,
        said_at = statement_timestamp(),
        operation = 'update'
    where m.user_id = p_user_id and m.memory_id = existing.memory_id
    returning m.* into existing;
    if existing.attribute is not null then
      perform memory._settle(existing);
    end if;
  else
    perform memory._state_again(existing, p_memory);
    update memory.memory_scopes as s
    set duplicates_skipped = s.duplicates_skipped + 1
    where s.user_id = p_user_id and s.agent_id = p_memory.agent_id;
  end if;
  return row(existing.memory_id, false)::memory.stored_memory;
end;
$$;

-- Ends the memories that a new one replaces, unless nobody sees the new one. Refuses an id of no current memory.
create or replace function memory._replace(p_user_id text, p_winner uuid, p_replaced uuid[])
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  unknown uuid;
  winner memory.memories;
begin
  perform memory._lock_scopes_of(p_user_id, p_replaced);
  select r into unknown
  from unnest(p_replaced) as r
  where not exists (
    select from memory.memories as m
    where m.user_id = p_user_id and m.memory_id = r
      and (memory._is_current(m) or m.superseded_by = p_winner) and memory._is_unexpired(m.expires_at))
  limit 1;
  if found then
    perform memory._refuse_unknown_memory(unknown, 'replaces');
  end if;
  select m.* into winner from memory.memories as m where m.user_id = p_user_id and m.memory_id = p_winner;
  if winner.deleted_at is null then
    perform memory._end_memories(p_user_id, p_replaced, p_winner, 'replaced',
      coalesce(winner.valid_from, memory._said_at(winner)));
  end if;
end;
$$;

-- Raises a notice that nobody sees a memory, because it is in quarantine or the limit evicted it at once.
create or replace function memory._note_unseen(p_memory memory.memories)
returns void
language plpgsql stable parallel unsafe
as $$
begin
  if p_memory.quarantine_reason is not null then
    raise notice 'memory % is in quarantine: %', p_memory.memory_id, p_memory.quarantine_reason
      using hint = 'Nobody sees it. If it is harmless, call memory.release_memory().';
  else
    raise notice 'memory % was evicted at once: the agent is at its limit, and its other memories matter more',
      p_memory.memory_id
      using hint = 'Give it a higher importance, or raise memories.max_per_agent with memory.set_policy().';
  end if;
end;
$$;

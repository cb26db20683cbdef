-- The rules of memories. They live in triggers, so that "insert into memory.memories ..." from psql obeys them too.

-- The rules of a memory, and the error that says which one it breaks. Tags are looked at where they are new: a memory from
-- before there was a limit can go on changing in everything else.
create or replace function memory._check_memory(candidate memory.memories, has_new_tags boolean)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', candidate.user_id);
  perform memory._check_id('agent_id', candidate.agent_id);
  perform memory._check_id('thread_id', coalesce(candidate.thread_id, 'none'));
  perform memory._check_id('source', candidate.source);
  perform memory._check_text(candidate.content, 262144, 'A memory is a sentence worth keeping, such as "Prefers email over phone calls".');
  if octet_length(candidate.embedding_text) > 262144 then
    perform memory._refuse('embedding_text', format('has %s bytes, at most 262144 are allowed', octet_length(candidate.embedding_text)),
      'A few sentences are enough to find a memory by.', '54000');
  end if;
  perform memory._check_metadata(candidate.metadata);
  perform memory._check_memory_types('memory_type', array[candidate.memory_type]);
  if (candidate.confidence between 0 and 1) is not true then
    perform memory._refuse('confidence', format('%s is not between 0 and 1', coalesce(candidate.confidence::text, 'null')), '1 means certain.');
  end if;
  if (candidate.importance between 0 and 1) is not true then
    perform memory._refuse('importance', format('%s is not between 0 and 1', coalesce(candidate.importance::text, 'null')), '0.5 is the default.');
  end if;
  if candidate.valid_from > candidate.valid_to then
    perform memory._refuse('valid_to', format('%s is before valid_from %s', candidate.valid_to, candidate.valid_from), 'Leave valid_to out while it still holds.');
  end if;
  if has_new_tags then
    perform memory._check_list('tags', candidate.tags);
  end if;
end;
$$;

-- Takes the lock of an agent's memories, before any of their rows is touched: one order for all writers, so that adding,
-- superseding, deleting and the limit cannot deadlock each other. Returns the policy layers read on the way.
create or replace function memory._lock_scope(user_id text, agent_id text)
returns memory.policies[]
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  layers memory.policies[];
begin
  loop
    select array(select p from memory.policies as p where p.user_id in ('', _lock_scope.user_id) and p.agent_id in ('', _lock_scope.agent_id))
    into layers
    from memory.memory_scopes as s
    where s.user_id = _lock_scope.user_id and s.agent_id = _lock_scope.agent_id
    for no key update;
    exit when found;
    insert into memory.memory_scopes (user_id, agent_id) values (_lock_scope.user_id, _lock_scope.agent_id)
    on conflict do nothing;
  end loop;
  return layers;
end;
$$;

-- The same for memories that exist: all agents they belong to, in one order.
create or replace function memory._lock_scopes_of(user_id text, memory_ids uuid[])
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from memory.memory_scopes as s
  where s.user_id = _lock_scopes_of.user_id
    and s.agent_id in (select m.agent_id from memory.memories as m
                       where m.user_id = _lock_scopes_of.user_id and m.memory_id = any (memory_ids))
  order by s.agent_id for no key update;
end;
$$;

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
  has_new_tags := new.tags <> '{}' and (tg_op = 'INSERT' or new.tags <> old.tags);
  -- One expression for the case that nothing can be wrong; else memory._check_memory() decides. That is where a rule belongs,
  -- and here whatever keeps its case out.
  if (length(new.user_id) between 1 and 255 and length(new.agent_id) between 1 and 255
      and (new.thread_id is null or length(new.thread_id) between 1 and 255) and length(new.source) between 1 and 255
      and new.content ~ e'\\S' and octet_length(new.content) <= 262144 and octet_length(coalesce(new.embedding_text, '')) <= 262144
      and jsonb_typeof(new.metadata) = 'object' and pg_column_size(new.metadata) <= 1048576
      and exists (select from memory.memory_types as t where t.memory_type = new.memory_type)
      and new.confidence between 0 and 1 and new.importance between 0 and 1
      and (new.valid_from <= new.valid_to) is not false
      -- In 255 bytes there are neither more tags nor longer ones than may be.
      and (not has_new_tags or case when array_ndims(new.tags) = 1 then pg_column_size(new.tags) <= 255 and array_position(new.tags, null) is null end)
     ) is not true then
    perform memory._check_memory(new, has_new_tags);
  end if;
  new.updated_at := statement_timestamp();

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
  if policy is not null then -- there are new words
    new.content_hash := memory._content_hash(new.content);
    words := memory._memory_vector((policy #>> '{search,language}')::regconfig, new.content, new.embedding_text);
    -- An entry of memories_recent_idx has room for 2,704 bytes.
    is_long := octet_length(new.user_id) + octet_length(new.agent_id) + pg_column_size(words) > 2500;
    new.search_vector := case when not is_long then words end;
    new.long_search_vector := case when is_long then words end;
  end if;
  perform memory._remove_expired_duplicate(new);
  if tg_op = 'INSERT' then
    return new;
  end if;
  if (new.created_at, memory._valid_until(new)) is distinct from (old.created_at, memory._valid_until(old)) then
    perform memory._update_embedding(new);
  end if;

  new.version := old.version + 1;
  new.changed_by := session_user;
  if new.operation = old.operation and old.operation <> 'update' and new.superseded_at is not distinct from old.superseded_at
    and new.deleted_at is not distinct from old.deleted_at then
    new.operation := 'update'; -- a direct update that does not say what it is
  end if;
  insert into memory.memory_history (user_id, memory_id, version, operation, content, metadata, tags, confidence, importance, expires_at, changed_at, changed_by)
  values (old.user_id, old.memory_id, old.version, old.operation, old.content, old.metadata, old.tags, old.confidence, old.importance,
          old.expires_at, old.updated_at, old.changed_by);
  return new;
end;
$$;

-- An expired memory that nobody swept yet must not stand in the way of the same content now.
create or replace function memory._remove_expired_duplicate(candidate memory.memories)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  expired uuid;
begin
  -- Looks first: even a delete that finds nothing enters the statement trigger.
  select m.memory_id into expired from memory.memories as m
  where m.user_id = candidate.user_id and m.agent_id = candidate.agent_id and m.memory_type = candidate.memory_type
    and m.content_hash = candidate.content_hash and m.memory_id <> candidate.memory_id
    and m.superseded_at is null and m.deleted_at is null and m.expires_at <= statement_timestamp();
  if expired is not null then
    delete from memory.memories as m where m.user_id = candidate.user_id and m.memory_id = expired;
  end if;
end;
$$;

-- What a keyword finds a memory by.
create or replace function memory._memory_vector(language regconfig, content text, embedding_text text)
returns tsvector
language plpgsql immutable parallel safe -- an SQL function with a SET clause is parsed and planned in every transaction
set search_path = pg_catalog, pg_temp
as $$
begin
  return memory._text_vector(language, content || coalesce(e'\n' || embedding_text, ''));
end;
$$;

-- Counters and the limit, once per statement. The scope's row is locked since before the first memory was written and
-- until commit, so concurrent writers of one agent queue up and the limit is exact.
create or replace function memory._memories_after_insert()
returns trigger
language plpgsql volatile parallel unsafe security definer -- see above
set search_path = pg_catalog, pg_temp
as $$
declare
  scope record;
begin
  for scope in
    select n.user_id, n.agent_id, count(*) as added from new_rows as n
    where n.superseded_at is null and n.deleted_at is null group by 1, 2 order by 1, 2
  loop
    perform memory._count_memories(scope.user_id, scope.agent_id, scope.added);
    perform memory._enqueue_embedding(scope.user_id);
  end loop;
  return null;
end;
$$;

create or replace function memory._memories_after_change()
returns trigger
language plpgsql volatile parallel unsafe security definer -- see above
set search_path = pg_catalog, pg_temp
as $$
declare
  scope record;
begin
  if tg_op = 'DELETE' then
    -- Row by row: a join is planned badly while the table has no statistics, and a session keeps its first plan.
    perform memory._drop_embedding(o.user_id, 'memory', o.memory_id::text) from old_rows as o;
    for scope in
      select o.user_id, o.agent_id, count(*) as removed from old_rows as o
      where o.superseded_at is null and o.deleted_at is null group by 1, 2 order by 1, 2
    loop
      perform memory._count_memories(scope.user_id, scope.agent_id, -scope.removed);
    end loop;
  else
    for scope in
      select c.user_id, c.agent_id, sum(c.change) as added
      from (select o.user_id, o.agent_id, -1 as change from old_rows as o where o.superseded_at is null and o.deleted_at is null
            union all
            select n.user_id, n.agent_id, 1 from new_rows as n where n.superseded_at is null and n.deleted_at is null) as c
      group by 1, 2 having sum(c.change) <> 0 order by 1, 2
    loop
      perform memory._count_memories(scope.user_id, scope.agent_id, scope.added);
      if scope.added > 0 then -- restored, perhaps from before it was embedded
        perform memory._enqueue_embedding(scope.user_id);
      end if;
    end loop;
  end if;
  return null;
end;
$$;

-- Books a change of an agent's memory count and removes the oldest memories over the limit.
create or replace function memory._count_memories(user_id text, agent_id text, change bigint)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  counted bigint;
  layers memory.policies[];
  surplus bigint;
begin
  update memory.memory_scopes as s set memory_count = s.memory_count + change
  where s.user_id = _count_memories.user_id and s.agent_id = _count_memories.agent_id
  returning s.memory_count,
    array(select p from memory.policies as p where p.user_id in ('', _count_memories.user_id) and p.agent_id in ('', _count_memories.agent_id))
  into counted, layers;
  if change > 0 then
    surplus := counted - (memory._effective_policy(layers)
                          #>> '{memories,max_per_agent}')::bigint;
    -- Expired memories go first, then the oldest. The delete comes back here through the trigger and lowers the counter.
    if surplus = 1 then
      -- The usual case. A limit that is a constant, because with a variable one the planner plans anew each time, which
      -- takes longer than the delete.
      delete from memory.memories as m
      where m.user_id = _count_memories.user_id
        and m.memory_id = coalesce(
          (select o.memory_id from memory.memories as o
           where o.user_id = _count_memories.user_id and o.agent_id = _count_memories.agent_id
             and o.superseded_at is null and o.deleted_at is null and o.expires_at <= statement_timestamp()
           order by o.expires_at limit 1),
          (select o.memory_id from memory.memories as o
           where o.user_id = _count_memories.user_id and o.agent_id = _count_memories.agent_id
             and o.superseded_at is null and o.deleted_at is null
           order by o.created_at, o.memory_id limit 1));
    elsif surplus > 1 then
      delete from memory.memories as m
      where m.user_id = _count_memories.user_id
        and m.memory_id in (
          select o.memory_id from memory.memories as o
          where o.user_id = _count_memories.user_id and o.agent_id = _count_memories.agent_id
            and o.superseded_at is null and o.deleted_at is null
          order by (o.expires_at <= statement_timestamp()) is not true, o.created_at, o.memory_id limit surplus);
    end if;
  end if;
end;
$$;

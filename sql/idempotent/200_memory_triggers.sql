-- The rules of memories. They live in triggers, so that "insert into memory.memories ..." from psql obeys them too.

-- The rules of a memory, and the error that says which one it breaks. Tags are looked at where they are new: a memory
-- from before there was a limit can go on changing in everything else.
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
  perform memory._check_moment('created_at', candidate.created_at);
  perform memory._check_bound('valid_from', candidate.valid_from), memory._check_bound('valid_to', candidate.valid_to),
    memory._check_bound('expires_at', candidate.expires_at);
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

-- The same for memories that exist: all agents that they, and what they hide, belong to, in one order.
create or replace function memory._lock_scopes_of(user_id text, memory_ids uuid[])
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from memory.memory_scopes as s
  where s.user_id = _lock_scopes_of.user_id
    -- Looked up one by one: the plan of a session that began with an empty table would read all memories of the user.
    and s.agent_id in (select f.agent_id from unnest(memory_ids) as i (id) cross join lateral (
                         select m.agent_id from memory.memories as m
                         where m.user_id = _lock_scopes_of.user_id and m.memory_id = i.id
                         union all
                         select m.agent_id from memory.memories as m
                         where m.user_id = _lock_scopes_of.user_id and m.superseded_by = i.id) as f)
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
    delete from memory.memories as m
    where m.user_id = candidate.user_id and m.memory_id = expired
      and m.expires_at <= statement_timestamp(); -- unless somebody has just prolonged its life
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
language plpgsql volatile parallel unsafe security definer -- writers need no rights on counters, policies, embeddings
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
language plpgsql volatile parallel unsafe security definer -- writers need no rights on counters, policies, embeddings
set search_path = pg_catalog, pg_temp
as $$
declare
  scope record;
  gone memory.memories;
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
    perform memory._release_hidden(o.user_id, o.memory_id, o.superseded_by)
    from (select r.* from old_rows as r where r.operation <> 'evict' order by r.superseded_at nulls last,
      r.memory_id desc) as o;
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
    for gone in
      select r.* from new_rows as r where r.deleted_at is not null order by r.superseded_at nulls last, r.memory_id desc
    loop
      if gone.operation = 'evict' then
        perform memory._evict_hidden(gone);
      else
        perform memory._release_hidden(gone.user_id, gone.memory_id, gone.superseded_by);
      end if;
    end loop;
  end if;
  return null;
end;
$$;

-- What a memory or an article hid comes back when its winner goes, unless the winner has a winner itself (the heir),
-- which goes on hiding it, or the same was stored again meanwhile. Of winners that go at once the one that was
-- superseded first comes first, so that what it hid passes from heir to heir. Hidden memories of an agent whose counter
-- somebody else holds are left to the next sweep: whoever calls this holds a counter already, and two that wait for
-- each other's would deadlock.
create or replace function memory._release_hidden(user_id text, winner uuid, heir uuid)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  agents text[] := array(
    select m.agent_id from memory.memories as m
    where m.user_id = _release_hidden.user_id and m.superseded_by = winner and m.deleted_at is null);
  hidden memory.memories;
  new_winner uuid;
begin
  if agents = '{}' then -- most memories hide nothing
    return;
  end if;
  agents := memory._lock_free_scopes(user_id, agents);
  for hidden in
    select m.* from memory.memories as m
    where m.user_id = _release_hidden.user_id and m.superseded_by = winner and m.deleted_at is null
      and m.agent_id = any (agents)
    order by m.created_at desc, m.memory_id desc -- of several with the same text the newest comes back
  loop
    new_winner := coalesce(heir, (
      select o.memory_id from memory.memories as o
      where o.user_id = hidden.user_id and o.agent_id = hidden.agent_id and o.memory_type = hidden.memory_type
        and o.content_hash = hidden.content_hash and o.superseded_at is null and o.deleted_at is null));
    update memory.memories as m
    set superseded_by = new_winner,
        superseded_at = case when new_winner is not null then m.superseded_at end,
        supersede_reason = case when heir is not null then m.supersede_reason when new_winner is not null
          then 'duplicate' end,
        operation = case when new_winner is null then 'restore' else 'supersede' end
    where m.user_id = hidden.user_id and m.memory_id = hidden.memory_id
      and m.superseded_by = winner and m.deleted_at is null; -- still: a change by hand takes no counter's lock
  end loop;
end;
$$;

-- Hides again what memory._release_hidden() brought back when this winner was deleted, unless it was changed since.
create or replace function memory._hide_released(user_id text, winner uuid, deleted_at timestamptz)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  hidden memory.memory_history;
begin
  for hidden in
    select h.* from memory.memory_history as h where h.user_id = _hide_released.user_id and h.superseded_by = winner
  loop
    update memory.memories as m
    set superseded_by = winner, superseded_at = statement_timestamp(), supersede_reason = hidden.supersede_reason,
        operation = 'supersede'
    where m.user_id = hidden.user_id and m.memory_id = hidden.memory_id and m.version = hidden.version + 1
      and m.operation = 'restore' and m.updated_at >= _hide_released.deleted_at
      and m.agent_id = any (memory._lock_free_scopes(_hide_released.user_id, array[m.agent_id]));
  end loop;
end;
$$;

-- Takes the locks of those of these agents that nobody holds, and returns these agents.
create or replace function memory._lock_free_scopes(user_id text, agent_ids text[])
returns text[]
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select s.agent_id from memory.memory_scopes as s
    where s.user_id = _lock_free_scopes.user_id and s.agent_id = any (agent_ids)
    order by s.agent_id for no key update skip locked);
end;
$$;

-- When the limit removes a memory, what it had superseded goes along where that matters no more than the memory itself;
-- the rest comes back.
create or replace function memory._evict_hidden(winner memory.memories)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  hidden constant uuid[] := array(
    select m.memory_id from memory.memories as m
    where m.user_id = winner.user_id and m.superseded_by = winner.memory_id and m.deleted_at is null
      and m.agent_id = winner.agent_id and (m.is_stated, m.importance) <= (winner.is_stated, winner.importance));
begin
  if hidden <> '{}' then -- even an update of nothing enters the triggers
    update memory.memories as m set deleted_at = statement_timestamp(), operation = 'evict'
    where m.user_id = winner.user_id and m.memory_id = any (hidden)
      and m.superseded_by = winner.memory_id and m.deleted_at is null; -- still
  end if;
  perform memory._release_hidden(winner.user_id, winner.memory_id, winner.superseded_by);
end;
$$;

-- Books a change of an agent's memory count and keeps the limit.
create or replace function memory._count_memories(user_id text, agent_id text, change bigint)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  counted bigint;
  layers memory.policies[];
begin
  update memory.memory_scopes as s set memory_count = s.memory_count + change
  where s.user_id = _count_memories.user_id and s.agent_id = _count_memories.agent_id
  returning s.memory_count,
    array(select p from memory.policies as p where p.user_id in ('', _count_memories.user_id) and p.agent_id in ('', _count_memories.agent_id))
  into counted, layers;
  if change > 0 then
    perform memory._keep_limit(user_id, agent_id, counted, memory._effective_policy(layers) -> 'memories');
  end if;
end;
$$;

-- Removes what is more than the limit of so many memories.
create or replace function memory._keep_limit(user_id text, agent_id text, counted bigint, settings jsonb)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  surplus constant bigint := counted - (settings ->> 'max_per_agent')::bigint;
begin
  if surplus > 0 then
    perform memory._evict(user_id, agent_id, surplus, settings ->> 'eviction');
  end if;
end;
$$;

-- Soft-deletes what goes at the limit. The update comes back to memory._count_memories() through the trigger and lowers
-- the counter. What a memory hid that has expired comes back, as when a sweep removes it.
create or replace function memory._evict(user_id text, agent_id text, surplus bigint, eviction text)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  gone uuid;
begin
  -- One at a time: an update of an array of them is planned anew each time, which takes a fifth of its time, and more than
  -- one goes only where the limit was lowered or many came at once.
  foreach gone in array memory._evictable(user_id, agent_id, surplus, eviction) loop
    update memory.memories as m
    set deleted_at = statement_timestamp(),
        operation = case when m.expires_at <= statement_timestamp() then 'delete' else 'evict' end
    where m.user_id = _evict.user_id and m.memory_id = gone and m.superseded_at is null and m.deleted_at is null;
  end loop;
end;
$$;

-- What goes first: expired memories, then those that matter least (extracted before stated, then the less important,
-- then the older), or by eviction "fifo" the oldest. A function of its own, because its settings would hold for the
-- triggers too.
create or replace function memory._evictable(user_id text, agent_id text, surplus bigint, eviction text)
returns uuid[]
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
-- Each choice is the beginning of an index. Planned once for all limits: planning anew takes longer than the choice.
set plan_cache_mode = force_generic_plan
set enable_sort = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  first uuid[] := array(
    select m.memory_id from memory.memories as m
    where m.user_id = _evictable.user_id and m.agent_id = _evictable.agent_id and m.superseded_at is null
      and m.deleted_at is null
      and m.expires_at <= statement_timestamp()
    order by m.expires_at limit surplus);
begin
  return case
    when cardinality(first) = surplus then first
    when eviction = 'fifo' then first || array(
      select m.memory_id from memory.memories as m
      where m.user_id = _evictable.user_id and m.agent_id = _evictable.agent_id and m.superseded_at is null
        and m.deleted_at is null
        and (m.expires_at is null or m.expires_at > statement_timestamp())
      order by m.created_at, m.memory_id limit surplus - cardinality(first))
    else first || array(
      select m.memory_id from memory.memories as m
      where m.user_id = _evictable.user_id and m.agent_id = _evictable.agent_id and m.superseded_at is null
        and m.deleted_at is null
        and (m.expires_at is null or m.expires_at > statement_timestamp())
      order by m.is_stated, m.importance, m.created_at, m.memory_id limit surplus - cardinality(first)) end;
end;
$$;

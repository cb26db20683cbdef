-- What a memory or an article hid comes back when its winner goes, unless the winner has a winner itself (the heir),
-- which goes on hiding it, or the same was stored again meanwhile. Of winners that go at once the one that was
-- superseded first comes first, so that what it hid passes from heir to heir. Hidden memories of an agent whose counter
-- somebody else holds are left to the next sweep: whoever calls this holds a counter already, and two that wait for
-- each other's would deadlock.
create or replace function memory._release_hidden(p_user_id text, p_winner uuid, p_heir uuid)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  agents text[] := array(
    select m.agent_id from memory.memories as m
    where m.user_id = p_user_id and m.superseded_by = p_winner and m.deleted_at is null);
  hidden memory.memories;
  new_winner uuid;
begin
  if agents = '{}' then -- most memories hide nothing
    return;
  end if;
  agents := memory._lock_free_scopes(p_user_id, agents);
  for hidden in
    select m.* from memory.memories as m
    where m.user_id = p_user_id and m.superseded_by = p_winner and m.deleted_at is null
      and m.agent_id = any (agents)
    order by m.created_at desc, m.memory_id desc -- of several with the same text the newest comes back
  loop
    new_winner := coalesce(p_heir, (
      select o.memory_id from memory.memories as o
      where o.user_id = hidden.user_id and o.agent_id = hidden.agent_id and o.memory_type = hidden.memory_type
        and o.content_hash = hidden.content_hash and o.superseded_at is null and o.deleted_at is null));
    update memory.memories as m
    set superseded_by = new_winner,
        superseded_at = case when new_winner is not null then m.superseded_at end,
        supersede_reason = case when p_heir is not null then m.supersede_reason when new_winner is not null
          then 'duplicate' end,
        operation = case when new_winner is null then 'restore' else 'supersede' end
    where m.user_id = hidden.user_id and m.memory_id = hidden.memory_id
      and m.superseded_by = p_winner and m.deleted_at is null; -- still: a change by hand takes no counter's lock
  end loop;
end;
$$;

-- Hides again what memory._release_hidden() brought back when this winner was deleted, unless it was changed since.
create or replace function memory._hide_released(p_user_id text, p_winner uuid, p_deleted_at timestamptz)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  hidden memory.memory_history;
begin
  for hidden in
    select h.* from memory.memory_history as h where h.user_id = p_user_id and h.superseded_by = p_winner
  loop
    update memory.memories as m
    set superseded_by = p_winner, superseded_at = statement_timestamp(), supersede_reason = hidden.supersede_reason,
        operation = 'supersede'
    where m.user_id = hidden.user_id and m.memory_id = hidden.memory_id and m.version = hidden.version + 1
      and m.operation = 'restore' and m.updated_at >= p_deleted_at
      and m.agent_id = any (memory._lock_free_scopes(p_user_id, array[m.agent_id]));
  end loop;
end;
$$;

-- When the limit removes a memory, what it had superseded goes along where that matters no more than the memory itself;
-- the rest comes back.
create or replace function memory._evict_hidden(p_winner memory.memories)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  hidden constant uuid[] := array(
    select m.memory_id from memory.memories as m
    where m.user_id = p_winner.user_id and m.superseded_by = p_winner.memory_id and m.deleted_at is null
      and m.agent_id = p_winner.agent_id and (m.is_stated, m.importance) <= (p_winner.is_stated, p_winner.importance));
begin
  if hidden <> '{}' then -- even an update of nothing enters the triggers
    update memory.memories as m set deleted_at = statement_timestamp(), operation = 'evict'
    where m.user_id = p_winner.user_id and m.memory_id = any (hidden)
      and m.superseded_by = p_winner.memory_id and m.deleted_at is null; -- still
  end if;
  perform memory._release_hidden(p_winner.user_id, p_winner.memory_id, p_winner.superseded_by);
end;
$$;

-- Memories whose winner is gone, which could not come back with its end because their agent's counter was in use.
create or replace function memory._release_left_hidden(p_row_limit int)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._release_hidden(h.user_id, h.superseded_by, null)
  from (
    select distinct m.user_id, m.superseded_by from memory.memories as m
    where m.superseded_by is not null and m.deleted_at is null
      and not exists (select from memory.memories as w
                      where w.user_id = m.user_id and w.memory_id = m.superseded_by
                        and w.deleted_at is null)
      and not exists (select from memory.documents as d where d.user_id = m.user_id and d.document_id = m.superseded_by)
    limit p_row_limit) as h;
end;
$$;

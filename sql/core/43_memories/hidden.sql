-- The superseded_by of a hidden memory names the memory or article that replaced it. This file calls the replacement
-- the winner. When a winner is deleted or evicted, each memory that it hid is released, hidden by another winner, or
-- evicted together with its winner.

-- The winner of a memory, if it still hides. A memory hides while it is not deleted (a memory in quarantine counts as
-- deleted), and an article while it is not in quarantine. If the winner no longer hides, the result is the winner's own
-- winner, and so on; null when none of them hides.
create or replace function memory._present_winner(p_user_id text, p_winner uuid)
returns uuid
language plpgsql stable parallel safe
as $$
begin
  return (
    with recursive winner as (
      select p_winner as memory_id
      union
      select m.superseded_by
      from winner as w join memory.memories as m on m.user_id = p_user_id and m.memory_id = w.memory_id
      where m.deleted_at is not null
    )
    select w.memory_id from winner as w
    where exists (
        select from memory.memories as m
        where m.user_id = p_user_id and m.memory_id = w.memory_id and m.deleted_at is null)
      or exists (
        select from memory.documents as d
        where d.user_id = p_user_id and d.document_id = w.memory_id and d.quarantined_at is null)
    limit 1);
end;
$$;

-- Releases the memories that a deleted or evicted winner hid. Each memory becomes current again, with four exceptions:
--   - If the winner was evicted or has expired (p_is_undone is false), a value that it replaced or corrected does not
--     become true again: the value has ended, without a successor.
--   - If the winner had a winner itself (p_heir), that winner hides the memory from now on.
--   - If the same content was stored meanwhile, the memory with that content hides the memory as a duplicate.
--   - If another session holds the counter of the memory's agent, memory.sweep() releases the memory later. The caller
--     already holds a counter, and two sessions that wait for each other's counters would deadlock.
-- If several winners are deleted at once, the caller begins with the winner that was superseded first, so that a hidden
-- memory passes from heir to heir.
create or replace function memory._release_hidden(p_user_id text, p_winner uuid, p_heir uuid, p_is_undone boolean)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  agents text[] := array(
    select m.agent_id
    from memory.memories as m
    where m.user_id = p_user_id and m.superseded_by = p_winner and m.deleted_at is null);
  hidden memory.memories;
  problem text;
  new_winner uuid;
  stays_ended boolean;
begin
  if agents = '{}' then -- most memories hide no other memory
    return;
  end if;
  agents := memory._lock_free_scopes(p_user_id, agents);
  for hidden in
    select m.*
    from memory.memories as m
    where m.user_id = p_user_id
      and m.superseded_by = p_winner
      and m.deleted_at is null
      and m.agent_id = any (agents)
    order by m.created_at desc, m.memory_id desc -- the newest of several memories with the same content becomes current
  loop
    -- Passes by a row that only plain SQL can store: a trigger would refuse the update, and sweep() would fail.
    problem := case when hidden.version not between 1 and 1000000000 then 'version'
      else memory._memory_problem(hidden, false) end;
    if problem is not null then
      raise notice 'memory % of user "%" stays hidden: its % is not valid', hidden.memory_id, hidden.user_id, problem
        using hint = 'Correct it by plain SQL, or call memory.forget_memory().';
      continue;
    end if;
    new_winner := coalesce(p_heir, (
      select o.memory_id
      from memory.memories as o
      where o.user_id = hidden.user_id
        and o.agent_id = hidden.agent_id
        and o.content_hash = hidden.content_hash
        and memory._is_current(o)));
    stays_ended := not p_is_undone and p_heir is null and hidden.supersede_reason in ('replaced', 'corrected');
    update memory.memories as m
    set superseded_by = case when not stays_ended then new_winner end,
        superseded_at = case when stays_ended or new_winner is not null then m.superseded_at end,
        supersede_reason = case
          when stays_ended or p_heir is not null then m.supersede_reason
          when new_winner is not null then 'duplicate'
        end,
        valid_to = case when stays_ended or new_winner is not null then m.valid_to
                        else memory._valid_to_before(hidden) end,
        operation = case when stays_ended then 'end' when new_winner is null then 'restore' else 'supersede' end
    where m.user_id = hidden.user_id
      and m.memory_id = hidden.memory_id
      -- A direct update takes no lock on the counter, so the row may have changed since the loop read it.
      and m.superseded_by = p_winner
      and m.deleted_at is null;
  end loop;
end;
$$;

-- Hides again the memories that memory._release_hidden() released when this winner was deleted, except memories that
-- have changed since.
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
    set superseded_by = p_winner,
        superseded_at = statement_timestamp(),
        supersede_reason = hidden.supersede_reason,
        valid_to = hidden.valid_to,
        operation = 'supersede'
    where m.user_id = hidden.user_id
      and m.memory_id = hidden.memory_id
      and m.version = hidden.version + 1
      and m.operation in ('restore', 'end')
      and m.updated_at >= p_deleted_at
      and m.agent_id = any (memory._lock_free_scopes(p_user_id, array[m.agent_id]));
  end loop;
end;
$$;

-- Releases memories whose winner is gone, which memory._release_hidden() left because another session held the counter
-- of their agent. Each call releases the memories of at most p_row_limit winners.
create or replace function memory._release_left_hidden(p_row_limit int)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._release_hidden(h.user_id, h.superseded_by, null, true)
  from (
    select distinct m.user_id, m.superseded_by
    from memory.memories as m
    where m.superseded_by is not null
      and m.deleted_at is null
      and not exists (
        select from memory.memories as w
        where w.user_id = m.user_id and w.memory_id = m.superseded_by and w.deleted_at is null)
      and not exists (
        select from memory.documents as d where d.user_id = m.user_id and d.document_id = m.superseded_by)
    limit p_row_limit) as h;
end;
$$;

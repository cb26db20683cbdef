-- Soft deletions end without memory.sweep(): the call that deletes notes when they are due, and a later call that
-- deletes, or a worker that finds no job, removes the rows.

-- Notes that messages of a thread, or memories of the user when p_thread_id is '', were deleted now; and finishes what
-- is due of this user.
create or replace function memory._note_deletion(p_user_id text, p_thread_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  hour constant timestamptz := date_trunc('hour', clock_timestamp()) + interval '1 hour';
  delay constant interval := (memory._policy_section(p_user_id, null, 'erasure') ->> 'delete_after')::interval;
begin
  perform memory._finish_deletions(100, p_user_id);
  if delay is not null then
    insert into memory.due_deletions (user_id, thread_id, deleted_before, due_at)
    values (p_user_id, p_thread_id, hour, hour + delay)
    on conflict do nothing;
  end if;
end;
$$;

-- Removes rows whose deletion is due, p_row_limit at most, of one user or of all. Threads and counters that somebody
-- holds are left for the next call, because a caller may hold locks already.
create or replace function memory._finish_deletions(p_row_limit int, p_user_id text default null)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  moment constant timestamptz := clock_timestamp(); -- a volatile function in the condition could use no index
  due memory.due_deletions;
  removed bigint;
begin
  for due in
    select d.* from memory.due_deletions as d
    where d.due_at <= moment and (p_user_id is null or d.user_id = p_user_id)
    order by d.due_at limit 10
    for update skip locked
  loop
    if due.thread_id <> '' then
      perform from memory.threads as t
      where t.user_id = due.user_id and t.thread_id = due.thread_id for no key update skip locked;
      continue when not found and exists (
        select from memory.threads as t where t.user_id = due.user_id and t.thread_id = due.thread_id);
      delete from memory.messages as m
      where m.user_id = due.user_id and m.thread_id = due.thread_id and m.seq = any (array(
        select c.seq from memory.messages as c
        where c.user_id = due.user_id and c.thread_id = due.thread_id and not c.is_active and c.summary_id is null
          and c.updated_at <= due.deleted_before
        limit p_row_limit));
    else
      with free as materialized (
        select s.agent_id from memory.memory_scopes as s
        where s.user_id = due.user_id order by s.agent_id for no key update skip locked
      )
      delete from memory.memories as m
      where m.user_id = due.user_id and m.memory_id = any (array(
        select c.memory_id from memory.memories as c
        where c.user_id = due.user_id and c.deleted_at <= due.deleted_before
          and c.agent_id in (select f.agent_id from free as f)
        limit p_row_limit));
    end if;
    get diagnostics removed = row_count;
    p_row_limit := p_row_limit - removed;
    exit when p_row_limit <= 0;
    if not exists (
      select from memory.messages as m
      where due.thread_id <> '' and m.user_id = due.user_id and m.thread_id = due.thread_id and not m.is_active
        and m.summary_id is null and m.updated_at <= due.deleted_before
      union all
      select from memory.memories as m
      where due.thread_id = '' and m.user_id = due.user_id and m.deleted_at <= due.deleted_before) then
      delete from memory.due_deletions as d
      where d.user_id = due.user_id and d.thread_id = due.thread_id and d.deleted_before = due.deleted_before;
    end if;
  end loop;
end;
$$;

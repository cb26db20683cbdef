-- Shared parts of the functions that delete many rows, and the end of soft deletions that are due.

-- Refuses a deletion of many rows without a condition, with ids that are null, or with a dry_run that is null.
create or replace function memory._check_deletion(
  p_ids_argument text, p_ids anyarray, p_has_condition boolean, p_dry_run boolean
)
returns void
language plpgsql immutable parallel unsafe
as $$
begin
  if p_ids is null and not p_has_condition then
    perform memory._refuse(p_ids_argument, 'must not be null when no other condition says what goes',
      'Pass ids or one of the filters; memory.forget_user() removes everything of a user.');
  elsif array_position(p_ids, null) is not null then
    perform memory._refuse(p_ids_argument, 'must be an array without nulls', 'Take the nulls out.');
  elsif p_dry_run is null then
    perform memory._refuse('dry_run', 'must not be null', 'Pass true to see what would go, and false to delete it.');
  end if;
end;
$$;

-- The result of a function that deletes many rows: the number of rows, the first ten of p_ids, and whether the rows are
-- still there because the call was a dry run.
create or replace function memory._deletion(p_count bigint, p_ids text[], p_dry_run boolean)
returns jsonb
language sql immutable parallel safe
begin atomic
  select jsonb_build_object('count', p_count, 'sample', p_ids[:10], 'dry_run', p_dry_run);
end;

-- Soft deletions end without memory.sweep(). The call that deletes rows notes when their deletion is due. A later call
-- that deletes, or a worker that finds no job, removes the rows.

-- Notes that messages of these threads were deleted now; the thread '' stands for the user's memories. Also removes
-- rows of this user whose deletion is due.
create or replace function memory._note_deletion(p_user_id text, p_thread_ids text[])
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
    select p_user_id, t, hour, hour + delay from unnest(p_thread_ids) as t
    on conflict do nothing;
  end if;
end;
$$;

-- Removes rows whose deletion is due, p_row_limit at most, of one user or of all. The function leaves threads and
-- counters that another transaction holds for the next call, because its caller may hold locks already.
create or replace function memory._finish_deletions(p_row_limit int, p_user_id text default null)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  -- This is a constant, because a condition with a volatile function could use no index.
  moment constant timestamptz := clock_timestamp();
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

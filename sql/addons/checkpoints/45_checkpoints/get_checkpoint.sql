create or replace function memory.get_checkpoint(
  user_id text, thread_id text, namespace text default '', checkpoint_id text default null
)
returns setof memory.checkpoint
language plpgsql stable parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  newest memory.checkpoint;
begin
  if (memory._may_reach(user_id) and memory._is_here(user_id)) is not true then
    perform memory._check_checkpoint(user_id, thread_id, namespace, coalesce(checkpoint_id, 'newest'));
  end if;
  -- A graph loads the newest checkpoint in each run, and this checkpoint has no writes as a rule. Sorting and gathering
  -- no writes took 47,000 of 554,000 instructions, and a statement of its own for the expiry took 20,000 (2026-11). So
  -- this statement only asks whether there are writes: write_tasks is an empty list if there are any, and null
  -- otherwise.
  if checkpoint_id is null then
    select get_checkpoint.thread_id, get_checkpoint.namespace, c.checkpoint_id, c.parent_id, c.checkpoint, c.metadata,
      c.created_at, v.channels, v.types, v.blobs,
      case when exists (
        select from memory.checkpoint_writes as w
        where w.user_id = get_checkpoint.user_id and w.thread_id = get_checkpoint.thread_id
          and w.namespace = get_checkpoint.namespace and w.checkpoint_id = c.checkpoint_id) then '{}'::text[] end,
      null::text[], null::text[], null::bytea[]
    into newest
    from (
      select c.checkpoint_id, c.parent_id, c.checkpoint, c.metadata, c.created_at,
        c.checkpoint -> 'blobless_versions' as blobless
      from memory.checkpoints as c
      where c.user_id = get_checkpoint.user_id and c.thread_id = get_checkpoint.thread_id
        and c.namespace = get_checkpoint.namespace
        and ((select e.at
              from memory._expiry_of_checkpoints(get_checkpoint.user_id, get_checkpoint.thread_id) as e (at))
          <= statement_timestamp()) is not true
      order by c.checkpoint_id desc
      limit 1) as c
    cross join lateral memory._checkpoint_values(
      get_checkpoint.user_id, get_checkpoint.thread_id, get_checkpoint.namespace, c.checkpoint, c.blobless) as v;
    if found and newest.write_tasks is null then
      return next newest;
    elsif found then
      return query
      select newest.thread_id, newest.namespace, newest.checkpoint_id, newest.parent_id, newest.checkpoint,
        newest.metadata, newest.created_at, newest.channels, newest.types, newest.blobs,
        w.tasks, w.channels, w.types, w.blobs
      from memory._writes_of_checkpoint(user_id, thread_id, namespace, newest.checkpoint_id) as w;
    end if;
  elsif not memory._checkpoints_have_expired(user_id, thread_id) then
    return query
    select w.*
    from (select c, c.checkpoint -> 'blobless_versions' as blobless
          from memory.checkpoints as c
          where c.user_id = get_checkpoint.user_id and c.thread_id = get_checkpoint.thread_id
            and c.namespace = get_checkpoint.namespace and c.checkpoint_id = get_checkpoint.checkpoint_id
          limit 1) as n
    cross join lateral memory._whole_checkpoint(n.c, n.blobless) as w;
  end if;
  if not found then -- an existing checkpoint has allowed ids
    perform memory._check_checkpoint(user_id, thread_id, namespace, coalesce(checkpoint_id, 'newest'));
  end if;
end;
$$;
comment on function memory.get_checkpoint(text, text, text, text) is
'A checkpoint of a thread with its values and the writes of its tasks: the one of this id, or the newest one. No row '
'if there is none.';

-- The values of a checkpoint, in one row. The planner inlines the function.
--
-- p_blobless has versions of channels which the client knows to have no value here. The function does not look them up,
-- because a look takes 5 us, but looks up another version of such a channel. Each version is looked up by itself,
-- because a thread may have thousands of versions of a channel: "limit 1" keeps the planner from another join, whatever
-- number of rows it expects.
create or replace function memory._checkpoint_values(
  p_user_id text, p_thread_id text, p_namespace text, p_checkpoint jsonb, p_blobless jsonb
)
returns table (channels text[], types text[], blobs bytea[])
language sql stable parallel safe
begin atomic
  select array_agg(b.channel), array_agg(b.type), array_agg(b.blob)
  from jsonb_each_text(p_checkpoint -> 'channel_versions') as c (channel, version)
  cross join lateral (
    select b.channel, b.type, b.blob
    from memory.checkpoint_blobs as b
    where b.user_id = p_user_id and b.thread_id = p_thread_id and b.namespace = p_namespace
      and b.channel = c.channel and b.version = c.version
    limit 1) as b
  where (p_blobless ->> c.channel) is distinct from c.version;
end;

-- The writes of tasks for a checkpoint, in one row, in the order in which they apply. The planner inlines this.
create or replace function memory._writes_of_checkpoint(
  p_user_id text, p_thread_id text, p_namespace text, p_checkpoint_id text
)
returns table (tasks text[], channels text[], types text[], blobs bytea[])
language sql stable parallel safe
begin atomic
  select array_agg(o.task_id), array_agg(o.channel), array_agg(o.type), array_agg(o.blob)
  from (
    select w.task_id, w.channel, w.type, w.blob
    from memory.checkpoint_writes as w
    where w.user_id = p_user_id and w.thread_id = p_thread_id and w.namespace = p_namespace
      and w.checkpoint_id = p_checkpoint_id
    order by w.task_path collate "C", w.task_id collate "C", w.place) as o;
end;

-- A checkpoint, even an expired one, with its values and the writes of its tasks. The planner inlines the function.
create or replace function memory._whole_checkpoint(p_checkpoint memory.checkpoints, p_blobless jsonb)
returns setof memory.checkpoint
language sql stable parallel safe
begin atomic
  select p_checkpoint.thread_id, p_checkpoint.namespace, p_checkpoint.checkpoint_id, p_checkpoint.parent_id,
    p_checkpoint.checkpoint, p_checkpoint.metadata, p_checkpoint.created_at,
    v.channels, v.types, v.blobs, w.tasks, w.channels, w.types, w.blobs
  from memory._checkpoint_values(
    p_checkpoint.user_id, p_checkpoint.thread_id, p_checkpoint.namespace, p_checkpoint.checkpoint, p_blobless) as v
  cross join memory._writes_of_checkpoint(
    p_checkpoint.user_id, p_checkpoint.thread_id, p_checkpoint.namespace, p_checkpoint.checkpoint_id) as w;
end;

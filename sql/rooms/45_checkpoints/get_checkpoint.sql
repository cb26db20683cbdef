create or replace function memory.get_checkpoint(
  user_id text, thread_id text, namespace text default '', checkpoint_id text default null
)
returns setof memory.checkpoint
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if (memory._may_reach(user_id) and memory._is_here(user_id)) is not true then
    perform memory._check_checkpoint(user_id, thread_id, namespace, coalesce(checkpoint_id, 'newest'));
  end if;
  if not memory._checkpoints_have_expired(user_id, thread_id) then
    if checkpoint_id is null then
      return query
      select w.*
      from (select c, c.checkpoint -> 'blobless_versions' as blobless
            from memory.checkpoints as c
            where c.user_id = get_checkpoint.user_id and c.thread_id = get_checkpoint.thread_id
              and c.namespace = get_checkpoint.namespace
            order by c.checkpoint_id desc
            limit 1) as n
      cross join lateral memory._whole_checkpoint(n.c, n.blobless) as w;
    else
      return query
      select w.*
      from (select c, c.checkpoint -> 'blobless_versions' as blobless
            from memory.checkpoints as c
            where c.user_id = get_checkpoint.user_id and c.thread_id = get_checkpoint.thread_id
              and c.namespace = get_checkpoint.namespace and c.checkpoint_id = get_checkpoint.checkpoint_id
            limit 1) as n
      cross join lateral memory._whole_checkpoint(n.c, n.blobless) as w;
    end if;
  end if;
  if not found then -- A checkpoint that is there was stored with allowed ids.
    perform memory._check_checkpoint(user_id, thread_id, namespace, coalesce(checkpoint_id, 'newest'));
  end if;
end;
$$;
comment on function memory.get_checkpoint(text, text, text, text) is
'A checkpoint of a thread with its values and the writes of its tasks: the one of this id, or the newest one. No row '
'if there is none.';

-- A checkpoint with its values and the writes of its tasks, also if it has expired. The planner inlines the function.
--
-- p_blobless has the versions of channels of which the client knows that they have no value here, so that they are not
-- looked up: a look takes 5 us. Another version of such a channel is looked up.
-- Each version is looked up by itself, because a thread may have thousands of versions of a channel: "limit 1" keeps
-- the planner from another join, whatever it believes of the number of rows.
create or replace function memory._whole_checkpoint(p_checkpoint memory.checkpoints, p_blobless jsonb)
returns setof memory.checkpoint
language sql stable parallel safe
begin atomic
  select p_checkpoint.thread_id, p_checkpoint.namespace, p_checkpoint.checkpoint_id, p_checkpoint.parent_id,
    p_checkpoint.checkpoint, p_checkpoint.metadata, p_checkpoint.created_at,
    v.channels, v.types, v.blobs, w.tasks, w.channels, w.types, w.blobs
  from (
    select array_agg(b.channel) as channels, array_agg(b.type) as types, array_agg(b.blob) as blobs
    from jsonb_each_text(p_checkpoint.checkpoint -> 'channel_versions') as c (channel, version)
    cross join lateral (
      select b.channel, b.type, b.blob
      from memory.checkpoint_blobs as b
      where b.user_id = p_checkpoint.user_id and b.thread_id = p_checkpoint.thread_id
        and b.namespace = p_checkpoint.namespace and b.channel = c.channel and b.version = c.version
      limit 1) as b
    where (p_blobless ->> c.channel) is distinct from c.version) as v
  cross join (
    select array_agg(o.task_id) as tasks, array_agg(o.channel) as channels, array_agg(o.type) as types,
      array_agg(o.blob) as blobs
    from (
      select w.task_id, w.channel, w.type, w.blob
      from memory.checkpoint_writes as w
      where w.user_id = p_checkpoint.user_id and w.thread_id = p_checkpoint.thread_id
        and w.namespace = p_checkpoint.namespace and w.checkpoint_id = p_checkpoint.checkpoint_id
      order by w.task_path collate "C", w.task_id collate "C", w.place) as o) as w;
end;

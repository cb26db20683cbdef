create or replace function memory.get_checkpoint(
  user_id text, thread_id text, namespace text default '', checkpoint_id text default null
)
returns setof memory.checkpoint
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  found memory.checkpoints;
begin
  perform memory._check_checkpoint(user_id, thread_id, namespace, coalesce(checkpoint_id, 'newest'));
  if checkpoint_id is null then
    select c.* into found
    from memory.checkpoints as c
    where c.user_id = get_checkpoint.user_id and c.thread_id = get_checkpoint.thread_id
      and c.namespace = get_checkpoint.namespace
    order by c.checkpoint_id desc
    limit 1;
  else
    select c.* into found
    from memory.checkpoints as c
    where c.user_id = get_checkpoint.user_id and c.thread_id = get_checkpoint.thread_id
      and c.namespace = get_checkpoint.namespace and c.checkpoint_id = get_checkpoint.checkpoint_id;
  end if;
  if found.user_id is not null and not memory._checkpoints_have_expired(user_id, thread_id) then
    return next memory._whole_checkpoint(found);
  end if;
end;
$$;
comment on function memory.get_checkpoint(text, text, text, text) is
'A checkpoint of a thread with its values and the writes of its tasks: the one of this id, or the newest one. No row '
'if there is none.';

-- A checkpoint with its values and the writes of its tasks.
create or replace function memory._whole_checkpoint(p_checkpoint memory.checkpoints)
returns memory.checkpoint
language plpgsql stable parallel safe
as $$
declare
  whole memory.checkpoint;
begin
  whole.thread_id := p_checkpoint.thread_id;
  whole.namespace := p_checkpoint.namespace;
  whole.checkpoint_id := p_checkpoint.checkpoint_id;
  whole.parent_id := p_checkpoint.parent_id;
  whole.checkpoint := p_checkpoint.checkpoint;
  whole.metadata := p_checkpoint.metadata;
  whole.created_at := p_checkpoint.created_at;
  -- Each version is looked up by itself: a thread may have thousands of versions of a channel. "limit 1" keeps the
  -- planner from another join, whatever it believes of the number of rows.
  select array_agg(v.channel), array_agg(v.type), array_agg(v.blob)
  into whole.channels, whole.types, whole.blobs
  from jsonb_each_text(p_checkpoint.checkpoint -> 'channel_versions') as c (channel, version)
  cross join lateral (
    select v.channel, v.type, v.blob
    from memory.checkpoint_blobs as v
    where v.user_id = p_checkpoint.user_id and v.thread_id = p_checkpoint.thread_id
      and v.namespace = p_checkpoint.namespace and v.channel = c.channel and v.version = c.version
    limit 1) as v;
  select array_agg(w.task_id order by w.task_path, w.task_id, w.place),
    array_agg(w.channel order by w.task_path, w.task_id, w.place),
    array_agg(w.type order by w.task_path, w.task_id, w.place),
    array_agg(w.blob order by w.task_path, w.task_id, w.place)
  into whole.write_tasks, whole.write_channels, whole.write_types, whole.write_blobs
  from memory.checkpoint_writes as w
  where w.user_id = p_checkpoint.user_id and w.thread_id = p_checkpoint.thread_id
    and w.namespace = p_checkpoint.namespace and w.checkpoint_id = p_checkpoint.checkpoint_id;
  return whole;
end;
$$;

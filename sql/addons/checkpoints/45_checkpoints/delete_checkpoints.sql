create or replace function memory.delete_checkpoints(
  user_id text, thread_ids text[] default null, run_ids text[] default null
)
returns bigint
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan -- a plan for any list compares each row with each entry of the list
as $$
declare
  deleted bigint;
begin
  perform memory._check_id('user_id', user_id);
  if num_nonnulls(thread_ids, run_ids) <> 1 then
    perform memory._refuse('thread_ids', 'must be given, or run_ids instead',
      'Pass the threads whose checkpoints go, or the runs.');
  end if;
  if thread_ids is not null then
    deleted := (select sum(memory._delete_checkpoints_of_thread(delete_checkpoints.user_id, t.thread_id))
                from (
                  select distinct u as thread_id from unnest(thread_ids) as u
                  where memory._has_checkpoints(delete_checkpoints.user_id, u) order by 1) as t);
  else
    perform from memory.checkpoints as c
    where c.user_id = delete_checkpoints.user_id and c.metadata ? 'run_id'
      and c.metadata ->> 'run_id' = any (delete_checkpoints.run_ids)
    order by c.thread_id, c.namespace, c.checkpoint_id for update;
    deleted := (
      select sum(memory._delete_some_checkpoints(delete_checkpoints.user_id, r.thread_id, r.namespace, r.ids))
      from (
        select c.thread_id, c.namespace, array_agg(c.checkpoint_id) as ids
        from memory.checkpoints as c
        where c.user_id = delete_checkpoints.user_id and c.metadata ? 'run_id'
          and c.metadata ->> 'run_id' = any (delete_checkpoints.run_ids)
        group by c.thread_id, c.namespace) as r);
  end if;
  return coalesce(deleted, 0);
end;
$$;
comment on function memory.delete_checkpoints(text, text[], text[]) is
'Deletes a user''s checkpoints for good, those of these threads or those of these runs (run_id of their metadata), and '
'returns how many. Messages and memories of the threads stay; memory.delete_thread() deletes a thread with all it has.';

-- Whether a thread has a checkpoint, or rows left of one. A caller may name many thousand threads that have none.
create or replace function memory._has_checkpoints(p_user_id text, p_thread_id text)
returns boolean
language sql stable parallel safe
begin atomic
  select exists (select from memory.checkpoints as c where c.user_id = p_user_id and c.thread_id = p_thread_id)
    or exists (select from memory.checkpoint_writes as w where w.user_id = p_user_id and w.thread_id = p_thread_id)
    or exists (select from memory.checkpoint_blobs as b where b.user_id = p_user_id and b.thread_id = p_thread_id);
end;

-- Deletes all checkpoints of a thread, and returns their number. A caller that deletes several threads has locked the
-- checkpoints before, in the order of their keys, as memory.forget_user() does; writes and values follow.
create or replace function memory._delete_checkpoints_of_thread(p_user_id text, p_thread_id text)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  deleted bigint;
begin
  perform from memory.checkpoints as c where c.user_id = p_user_id and c.thread_id = p_thread_id
  order by c.namespace, c.checkpoint_id for update;
  delete from memory.checkpoints as c where c.user_id = p_user_id and c.thread_id = p_thread_id;
  get diagnostics deleted = row_count;
  delete from memory.checkpoint_writes as w where w.user_id = p_user_id and w.thread_id = p_thread_id;
  delete from memory.checkpoint_blobs as b where b.user_id = p_user_id and b.thread_id = p_thread_id;
  if memory._is_space(p_user_id) then -- other members may begin the thread anew
    delete from memory.space_writes as w
    where w.user_id = p_user_id and w.source = 'checkpoint' and w.id = p_thread_id;
  end if;
  return deleted;
end;
$$;

-- Deletes these checkpoints, and the values that no other checkpoint has. Returns the number of deleted checkpoints.
create or replace function memory._delete_some_checkpoints(
  p_user_id text, p_thread_id text, p_namespace text, p_ids text[]
)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  channels text[];
  versions text[];
  expiry timestamptz; -- the expiry of the whole thread, if its last checkpoint is deleted
  deleted bigint;
begin
  with gone as (
    delete from memory.checkpoints as c
    where c.user_id = p_user_id and c.thread_id = p_thread_id and c.namespace = p_namespace
      and c.checkpoint_id = any (p_ids)
    returning c.checkpoint -> 'channel_versions' as versions, c.expires_at
  ), named as (
    select distinct v.key as channel, v.value as version
    from gone as g cross join lateral jsonb_each_text(g.versions) as v
  )
  select (select count(*) from gone), (select max(g.expires_at) from gone as g), array_agg(n.channel),
    array_agg(n.version)
  into deleted, expiry, channels, versions from named as n;
  if expiry is not null then
    update memory.checkpoints as c set expires_at = expiry
    where c.user_id = p_user_id and c.thread_id = p_thread_id and c.checkpoint_id = (
      select max(n.checkpoint_id) from memory.checkpoints as n
      where n.user_id = p_user_id and n.thread_id = p_thread_id);
  end if;
  delete from memory.checkpoint_writes as w
  where w.user_id = p_user_id and w.thread_id = p_thread_id and w.namespace = p_namespace
    and w.checkpoint_id = any (p_ids);
  -- A second statement reads the remaining checkpoints, because a run may have stored one meanwhile. Each value is
  -- looked up by its key: a session may keep a plan for one row, which took 50 s for 24,000 values.
  delete from memory.checkpoint_blobs as b
  where b.ctid = any (array(
    select v.place
    from (
      select u.channel, u.version from unnest(channels, versions) as u (channel, version)
      except
      select v.key, v.value
      from memory.checkpoints as c cross join lateral jsonb_each_text(c.checkpoint -> 'channel_versions') as v
      where c.user_id = p_user_id and c.thread_id = p_thread_id and c.namespace = p_namespace) as u
    cross join lateral (
      select k.ctid as place
      from memory.checkpoint_blobs as k
      where k.user_id = p_user_id and k.thread_id = p_thread_id and k.namespace = p_namespace
        and k.channel = u.channel and k.version = u.version
      limit 1) as v));
  return deleted;
end;
$$;

create or replace function memory.prune_checkpoints(user_id text, thread_ids text[])
returns bigint
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan -- for the reason given in memory.delete_checkpoints()
as $$
declare
  thread text;
  doomed record;
  deleted bigint := 0;
begin
  perform memory._check_id('user_id', user_id);
  thread := (
    select c.thread_id
    from memory.checkpoints as c
    where c.user_id = prune_checkpoints.user_id and c.thread_id = any (thread_ids)
      and (
        c.metadata ?| array['counters_since_delta_snapshot', 'delta_writes_versioned']
        or exists ( -- the checkpoint has "true" for its snapshot, whose value is in memory.checkpoint_blobs
          select from jsonb_each(c.checkpoint -> 'channel_values') as v
          join memory.checkpoint_blobs as b
            on b.user_id = c.user_id and b.thread_id = c.thread_id and b.namespace = c.namespace
              and b.channel = v.key and b.version = c.checkpoint -> 'channel_versions' ->> v.key
          where v.value = 'true'))
    limit 1);
  if thread is not null then
    perform memory._refuse('thread_ids',
      format('thread "%s" has a DeltaChannel, whose value is made of earlier checkpoints', left(thread, 100)),
      'Nothing was deleted. Leave this thread out, or delete it with memory.delete_checkpoints().', '0A000');
  end if;
  perform from memory.checkpoints as c
  where c.user_id = prune_checkpoints.user_id and c.thread_id = any (thread_ids)
  order by c.thread_id, c.namespace, c.checkpoint_id for update;
  foreach thread in array array(
    select distinct u from unnest(thread_ids) as u
    where memory._has_checkpoints(prune_checkpoints.user_id, u) order by 1)
  loop
    -- One statement chooses all checkpoints to delete, so that checkpoints that a run stores meanwhile stay.
    for doomed in
      with placed as materialized ( -- reads the thread once: a join of two readings compared each with each
        select c.namespace, c.checkpoint_id, first_value(c.checkpoint_id) over newest_first as newest,
          first_value(c.metadata #>> array['parents', '']) over newest_first as root
        from memory.checkpoints as c
        where c.user_id = prune_checkpoints.user_id and c.thread_id = thread
        window newest_first as (partition by c.namespace order by c.checkpoint_id desc)
      )
      select p.namespace, array_agg(p.checkpoint_id) as ids
      from placed as p
      where p.checkpoint_id <> p.newest
        -- The namespace of one call of a subgraph has the id of its task after a colon. This namespace is deleted with
        -- the root's checkpoint with which the call began. A subgraph that keeps its own state has no colon.
        or p.namespace ~ ':[^|]*$'
          and p.root <> (select max(r.checkpoint_id) from placed as r where r.namespace = '')
          and exists (
            select from memory.checkpoints as r
            where r.user_id = prune_checkpoints.user_id and r.thread_id = thread and r.namespace = ''
              and r.checkpoint_id = p.root)
      group by p.namespace
    loop
      deleted := deleted + memory._delete_some_checkpoints(user_id, thread, doomed.namespace, doomed.ids);
      update memory.checkpoints as c set parent_id = null
      where c.user_id = prune_checkpoints.user_id and c.thread_id = thread and c.namespace = doomed.namespace
        and c.parent_id = any (doomed.ids);
    end loop;
  end loop;
  return deleted;
end;
$$;
comment on function memory.prune_checkpoints(text, text[]) is
'Deletes all checkpoints of these threads but the newest one of each namespace, and the values that no other '
'checkpoint names, and returns how many checkpoints. The call of a subgraph that began before the newest checkpoint of '
'the root loses all its checkpoints. Threads whose graphs have a DeltaChannel are refused (0A000).';

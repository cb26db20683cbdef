create or replace function memory.put_checkpoint_writes(
  user_id text, thread_id text, checkpoint_id text, task_id text, places int[], channels text[], types text[],
  blobs bytea[], namespace text default '', task_path text default ''
)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if (memory._is_plain_checkpoint(user_id, thread_id, namespace, checkpoint_id, task_id)
      and cardinality(channels) = all (array[cardinality(places), cardinality(types), cardinality(blobs)])
      and num_nulls(variadic channels) + num_nulls(variadic places) + num_nulls(variadic types) = 0) is not true
  then
    perform memory._check_checkpoint(user_id, thread_id, namespace, checkpoint_id,
      array[cardinality(channels), cardinality(places), cardinality(types), cardinality(blobs)],
      num_nulls(variadic channels) + num_nulls(variadic places) + num_nulls(variadic types));
    perform memory._check_id('task_id', task_id);
    perform memory._check_key('task_id', 'the id', task_id);
  end if;
  if memory._is_space(user_id) then
    perform memory._note_writer(user_id, 'checkpoint', thread_id, false);
  end if;
  -- A task that runs again writes the same values, so the first write to a place stays. Concurrent calls insert the
  -- places in one order, so that they do not wait for each other in a circle. Nearly all tasks write to these places in
  -- this order, so nothing needs sorting.
  if places = (array[0, 1, 2, 3, 4, 5, 6, 7, 8, 9])[:cardinality(places)] then
    insert into memory.checkpoint_writes (
      user_id, thread_id, namespace, checkpoint_id, task_id, task_path, place, channel, type, blob)
    select put_checkpoint_writes.user_id, put_checkpoint_writes.thread_id, put_checkpoint_writes.namespace,
      put_checkpoint_writes.checkpoint_id, put_checkpoint_writes.task_id, coalesce(put_checkpoint_writes.task_path, ''),
      unnest(places), unnest(channels), unnest(types), unnest(blobs)
    on conflict on constraint checkpoint_writes_pkey do nothing;
    return;
  end if;
  -- Signals, such as an interrupt and the answer to it, replace each other, so the last one stays.
  insert into memory.checkpoint_writes as w (
    user_id, thread_id, namespace, checkpoint_id, task_id, task_path, place, channel, type, blob)
  select distinct on (v.place) put_checkpoint_writes.user_id, put_checkpoint_writes.thread_id,
    put_checkpoint_writes.namespace, put_checkpoint_writes.checkpoint_id, put_checkpoint_writes.task_id,
    coalesce(put_checkpoint_writes.task_path, ''), v.place, v.channel, v.type, v.blob
  from unnest(places, channels, types, blobs) with ordinality as v (place, channel, type, blob, number)
  order by v.place, case when v.place < 0 then -v.number else v.number end
  on conflict on constraint checkpoint_writes_pkey do update
  set channel = excluded.channel, type = excluded.type, blob = excluded.blob
  where w.place < 0;
end;
$$;
comment on function memory.put_checkpoint_writes(text, text, text, text, int[], text[], text[], bytea[], text, text) is
'Stores what a task of the step after a checkpoint has written. places, channels, types and blobs are arrays of one '
'length. A write that is there already stays; a signal, whose place is negative, is replaced.';

create or replace function memory.copy_checkpoints(user_id text, thread_id text, new_thread_id text)
returns bigint
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  copied bigint;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  perform memory._check_id('new_thread_id', new_thread_id);
  if memory._checkpoints_have_expired(user_id, new_thread_id) then
    perform memory._delete_checkpoints_of_thread(user_id, new_thread_id);
  elsif exists (
    select from memory.checkpoints as c
    where c.user_id = copy_checkpoints.user_id and c.thread_id = new_thread_id)
  then
    perform memory._refuse('new_thread_id', format('thread "%s" has checkpoints already', left(new_thread_id, 100)),
      'Pass the id of a new thread, or delete these with memory.delete_checkpoints().', '23505');
  end if;
  if memory._checkpoints_have_expired(user_id, thread_id) then
    return 0;
  end if;
  -- One statement copies all tables, so that the copy has the state of one moment.
  with copied_blobs as (
    insert into memory.checkpoint_blobs ({{columns of checkpoint_blobs}})
    select {{columns of checkpoint_blobs as b, thread_id = new_thread_id}}
    from memory.checkpoint_blobs as b
    where b.user_id = copy_checkpoints.user_id and b.thread_id = copy_checkpoints.thread_id
  ), copied_writes as (
    insert into memory.checkpoint_writes ({{columns of checkpoint_writes}})
    select {{columns of checkpoint_writes as w, thread_id = new_thread_id}}
    from memory.checkpoint_writes as w
    where w.user_id = copy_checkpoints.user_id and w.thread_id = copy_checkpoints.thread_id
  )
  insert into memory.checkpoints ({{columns of checkpoints}})
  select {{columns of checkpoints as c, thread_id = new_thread_id}}
  from memory.checkpoints as c
  where c.user_id = copy_checkpoints.user_id and c.thread_id = copy_checkpoints.thread_id;
  get diagnostics copied = row_count;
  if memory._is_space(user_id) then
    insert into memory.space_writes (user_id, member, source, id)
    select w.user_id, w.member, w.source, new_thread_id from memory.space_writes as w
    where w.user_id = copy_checkpoints.user_id and w.source = 'checkpoint' and w.id = copy_checkpoints.thread_id;
  end if;
  return copied;
end;
$$;
comment on function memory.copy_checkpoints(text, text, text) is
'Copies all checkpoints of a thread, with their values and writes, to a thread that has none, and returns how many. '
'The id of a thread that has some is refused (23505).';

-- Notes for each copied message of a space, and for title and metadata, who wrote it, and forgets who wrote in an
-- earlier thread of the name.
create or replace function memory._sharing_thread_copied(p_user_id text, p_thread_id text, p_new_thread_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  if not memory._is_space(p_user_id) then
    return;
  end if;
  delete from memory.space_writes as w
  using memory.messages as m
  where m.user_id = p_user_id and m.thread_id = p_new_thread_id
    and w.user_id = p_user_id and w.source = 'message' and w.id = p_new_thread_id || '/' || m.seq;
  delete from memory.space_writes as w
  where w.user_id = p_user_id and w.source in ('title', 'metadata') and w.id = p_new_thread_id;
  insert into memory.space_writes (user_id, member, source, id)
  select p_user_id, w.member, 'message', p_new_thread_id || '/' || m.seq
  from memory.messages as m
  join memory.space_writes as w
    on w.user_id = p_user_id and w.source = 'message' and w.id = p_thread_id || '/' || m.seq
  where m.user_id = p_user_id and m.thread_id = p_new_thread_id
  union all
  select p_user_id, w.member, w.source, p_new_thread_id
  from memory.space_writes as w
  where w.user_id = p_user_id and w.source in ('title', 'metadata') and w.id = p_thread_id;
end;
$$;

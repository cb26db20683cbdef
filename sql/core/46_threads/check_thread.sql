-- Refuses an invalid thread_id, and a thread that the user does not have. The caller has checked the user.
create or replace function memory._check_thread(p_user_id text, p_thread_id text)
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._check_id('thread_id', p_thread_id);
  if not exists (select from memory.threads as t where t.user_id = p_user_id and t.thread_id = p_thread_id) then
    perform memory._refuse('thread_id', format('this user has no thread "%s"', p_thread_id),
      'memory.list_threads(user_id) lists the threads.', 'P0002');
  end if;
end;
$$;

-- Refuses a recent_k below 1. Null means all new messages.
create or replace function memory._check_recent_k(p_recent_k int)
returns void
language plpgsql immutable parallel safe
as $$
begin
  if p_recent_k < 1 then
    perform memory._refuse('recent_k', format('%s is less than 1', p_recent_k), 'Leave it out to read everything new.');
  end if;
end;
$$;

create or replace function memory.delete_thread(user_id text, thread_id text, memories text default 'keep')
returns bigint
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  is_there boolean;
  deleted bigint := 0;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  if (memories in ('keep', 'forget')) is not true then
    perform memory._refuse('memories', format('unknown value "%s"', left(memories, 50)), 'Use keep or forget.');
  end if;
  is_there := memory._lock_existing_thread(user_id, thread_id);
  if memories = 'forget' then
    perform memory._delete_derived(user_id, thread_id, true);
  end if;
  if is_there then
    deleted := (select count(*) from memory.messages as m
                where m.user_id = delete_thread.user_id and m.thread_id = delete_thread.thread_id);
    -- The trigger on threads deletes the messages and everything else that belongs to the thread.
    delete from memory.threads as t where t.user_id = delete_thread.user_id and t.thread_id = delete_thread.thread_id;
  else -- Add-ons may have rows of a thread that never had a message.
    {{each addon with thread_deleted: perform memory._<addon>_thread_deleted(user_id, thread_id);}}
  end if;
  return deleted;
end;
$$;
comment on function memory.delete_thread(text, text, text) is
'Deletes a thread for good: its messages, summaries, artifacts, checkpoints, jobs, and the memories extracted from it. '
'Returns the number of messages deleted. Memories that somebody stated in the thread stay, unless memories is forget: '
'then they go as well, and no model or import brings any memory of the thread back.';

-- Deletes the memories extracted from a thread, the memories into which they were merged, and the articles made of any
-- of them. Triggers restore the memories that a deleted memory had superseded. Articles are deleted last, because they
-- would otherwise restore memories that are deleted next. With p_forgets the memories that somebody stated in the
-- thread are deleted as well, and tombstones keep the stated and the extracted memories from coming back. The caller
-- has locked the thread.
create or replace function memory._delete_derived(p_user_id text, p_thread_id text, p_forgets boolean)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  derived uuid[];
begin
  perform memory._lock_scopes_of_threads(p_user_id, array[p_thread_id]);
  derived := array(
    select m.memory_id from memory.memories as m
    where m.user_id = p_user_id and m.thread_id = p_thread_id and (p_forgets or not m.is_stated));
  if derived = '{}' then
    return;
  end if;
  if p_forgets then
    perform memory._bury(p_user_id, array(
      select m.content from memory._memories_by_ids(p_user_id, derived) as m));
  end if;
  delete from memory.memories as m where m.user_id = p_user_id and m.memory_id = any (derived);
  delete from memory.documents as d
  where d.user_id = p_user_id and memory._is_article_of(d, derived);
end;
$$;

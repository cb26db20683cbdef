create or replace function memory.delete_messages(
  user_id text, thread_id text default null, seqs bigint[] default null, roles text[] default null,
  filter jsonb default null, created_after timestamptz default null, created_before timestamptz default null,
  dry_run boolean default false
)
returns jsonb
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  chosen record; -- threads, seqs and ids of the messages
  deleted bigint;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', coalesce(thread_id, 'any'));
  perform memory._check_filter(filter);
  roles := memory._checked_roles(roles);
  if seqs <> '{}' and thread_id is null then
    perform memory._refuse('thread_id', 'must not be null with seqs', 'The numbers are those of one thread.');
  end if;
  perform memory._check_deletion('seqs', seqs,
    num_nonnulls(thread_id, roles, nullif(filter, '{}'), created_after, created_before) > 0, dry_run);
  chosen := memory._messages_to_delete(user_id, thread_id, seqs, roles, filter, created_after, created_before);
  deleted := cardinality(chosen.ids);
  if not dry_run and deleted > 0 then
    perform from (select distinct c as thread_id from unnest(chosen.threads) as c order by 1) as c
    cross join lateral ( -- each by its key, because the user may have very many threads
      select from memory.threads as t
      where t.user_id = delete_messages.user_id and t.thread_id = c.thread_id offset 0 for update) as t;
    -- Chooses once more, because another session may have changed a message before its thread was locked.
    chosen := memory._messages_to_delete(user_id, thread_id, seqs, roles, filter, created_after, created_before,
                                         chosen.threads);
    deleted := memory._delete_messages(user_id, chosen.threads, chosen.seqs);
  end if;
  return memory._deletion(deleted, chosen.ids, dry_run);
end;
$$;
comment on function memory.delete_messages(
  text, text, bigint[], text[], jsonb, timestamptz, timestamptz, boolean
) is
'Soft-deletes messages as memory.delete_message() does, all or none: those of a thread with these numbers, or those '
'under the filters of memory.get_messages(), of one thread or of all. thread_id alone deletes all messages of the '
'thread. Returns {"count": n, "sample": the ids (thread_id/seq) of the first ten by thread and seq, "dry_run": false}; '
'with dry_run nothing is deleted. A call without any condition is refused (22023); an empty list deletes nothing.';

-- The messages that meet these conditions, by thread and seq, in three arrays of equal length. p_locked limits the
-- result to messages of these threads.
create or replace function memory._messages_to_delete(
  p_user_id text, p_thread_id text, p_seqs bigint[], p_roles text[], p_filter jsonb, p_created_after timestamptz,
  p_created_before timestamptz, p_locked text[] default null, out threads text[], out seqs bigint[], out ids text[]
)
language plpgsql stable parallel safe
set plan_cache_mode = force_custom_plan -- the primary key finds one thread, and single messages
as $$
begin
  select coalesce(array_agg(f.thread_id), '{}'), coalesce(array_agg(f.seq), '{}'),
    coalesce(array_agg(f.thread_id || '/' || f.seq), '{}')
  into threads, seqs, ids
  from (
    select m.thread_id, m.seq
    from (
      select n.* from memory.messages as n
      where p_seqs is null and n.user_id = p_user_id and (p_thread_id is null or n.thread_id = p_thread_id)
      union all
      select s.* from memory._messages_by_seqs(p_user_id, p_thread_id, p_seqs) as s) as m
    where (p_locked is null or m.thread_id in (select unnest(p_locked)))
      and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
      and memory._is_chosen_message(m, p_roles, p_filter, p_created_after, p_created_before)
    order by m.thread_id, m.seq) as f;
end;
$$;

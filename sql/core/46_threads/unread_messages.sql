-- The messages that no job has read, of a thread or of all threads (null) but one, the newest threads first.
create or replace function memory._unread_messages(
  p_user_id text, p_thread_id text, p_row_limit int, p_except_thread_id text default null
)
returns setof memory.messages
language sql stable parallel safe
begin atomic
  select m.*
  from (
    select t.thread_id, k.position
    from memory.threads as t
    cross join lateral ( -- each by its key: a join may read all marks of the user
      select coalesce((
        select m.position from memory.marks as m
        where m.user_id = p_user_id and m.scope = t.thread_id and m.kind = 'words'), -1) as position offset 0) as k
    where t.user_id = p_user_id and t.settled_at is null and t.next_seq - 1 > k.position
      and (p_thread_id is null or t.thread_id = p_thread_id) and t.thread_id is distinct from p_except_thread_id
    order by t.last_at desc, t.thread_id offset 0) as t
  cross join lateral (
    select m.* from memory.messages as m
    where m.user_id = p_user_id and m.thread_id = t.thread_id and m.seq > t.position
      and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
      and not memory._is_parsed(p_user_id, 'message', m.thread_id || '/' || m.seq)
    order by m.seq desc limit p_row_limit) as m
  limit p_row_limit;
end;

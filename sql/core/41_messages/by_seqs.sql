-- The messages of a thread that have these numbers. Each is looked up by itself, because for "seq = any (p_seqs)"
-- PostgreSQL reads all messages of the thread if it takes the array for longer than the thread.
create or replace function memory._messages_by_seqs(p_user_id text, p_thread_id text, p_seqs bigint[])
returns setof memory.messages
language sql stable parallel safe
begin atomic
  select f.*
  from (select distinct s.seq from unnest(p_seqs) as s (seq)) as g
  cross join lateral (
    select m.* from memory.messages as m
    where m.user_id = p_user_id and m.thread_id = p_thread_id and m.seq = g.seq offset 0) as f;
end;

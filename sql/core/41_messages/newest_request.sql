-- The user's newest message, and whether its round is open: no assistant has answered it without calling tools. A
-- compression may have put an open request away meanwhile. The function looks among the newest thousand messages, and
-- returns no row if none of them is the user's.
create or replace function memory._newest_request(p_user_id text, p_thread_id text, p_agent_id text)
returns table (seq bigint, content text, metadata jsonb, token_count int, is_counted boolean, is_open boolean)
language plpgsql stable parallel safe
set enable_sort = off -- for the reason of memory._newest_units()
as $$
declare
  newest record;
begin
  select m.role, m.metadata into newest
  from memory._newest_thousand(p_user_id, p_thread_id, p_agent_id) as m limit 1;
  is_open := newest.role = 'user'
    or newest.role in ('assistant', 'tool') and not memory._ends_round(newest.role, newest.metadata);
  return query
  select m.seq, m.content, m.metadata, m.token_count, m.is_counted, _newest_request.is_open
  from memory._newest_thousand(p_user_id, p_thread_id, p_agent_id) as m
  where m.role = 'user' and (_newest_request.is_open or m.is_active) limit 1;
end;
$$;

-- The readable ones of the newest thousand messages of a thread, newest first, including compressed messages.
create or replace function memory._newest_thousand(p_user_id text, p_thread_id text, p_agent_id text)
returns setof memory.messages
language sql stable parallel safe
begin atomic
  select m.*
  from (select n.* from memory.messages as n
        where n.user_id = p_user_id and n.thread_id = p_thread_id
        order by n.seq desc
        -- no more messages than the thread has counted
        limit (select least(t.next_seq, 1000) from memory.threads as t
               where t.user_id = p_user_id and t.thread_id = p_thread_id)) as m
  where (p_agent_id is null or m.agent_id = p_agent_id)
    and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
  order by m.seq desc;
end;

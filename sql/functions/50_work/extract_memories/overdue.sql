-- Threads that have been quiet for an hour and have messages that no extraction has read, because they are fewer than
-- the cadence.
create or replace function memory._extract_memories_overdue(p_row_limit int)
returns table (user_id text, scope text)
language plpgsql stable parallel safe
as $$
begin
  return query
  with unread as materialized (
    select t.user_id, t.thread_id, t.next_seq
    from memory.threads as t
    left join memory.marks as k on k.user_id = t.user_id and k.scope = t.thread_id and k.kind = 'extract_memories'
    where t.message_count > 0 and t.next_seq > coalesce(k.position, -1) + 1
      and t.last_at between statement_timestamp() - interval '8 days' and statement_timestamp() - interval '1 hour'
  )
  select u.user_id, u.thread_id from unread as u
  where not memory._is_queued(u.user_id, 'extract_memories', u.thread_id)
    -- The policy is read last, because that costs more than all other conditions together.
    and (memory._policy_section(u.user_id, memory._agent_of_message(u.user_id, u.thread_id, u.next_seq - 1), 'cadence')
         ->> 'fact_extraction_every_n')::int > 0
  limit p_row_limit;
end;
$$;

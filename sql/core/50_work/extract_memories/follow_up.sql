-- Another job follows when this one left messages over, or when enough messages have come meanwhile, because appends
-- queue no job while one is open.
create or replace function memory._extract_memories_follow_up(p_job memory.jobs)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  unread bigint;
  policy jsonb;
begin
  if (p_job.input ->> 'is_partial')::boolean then
    return jsonb '{}';
  end if;
  select t.next_seq - 1 - (p_job.input ->> 'through_seq')::bigint into unread
  from memory.threads as t where t.user_id = p_job.user_id and t.thread_id = p_job.scope;
  if unread > 0 then -- without unread messages no policy is read
    select memory._policy(m.user_id, m.agent_id) into policy
    from memory.messages as m
    where m.user_id = p_job.user_id and m.thread_id = p_job.scope order by m.seq desc limit 1;
    if memory._extracts(policy) and unread >= (policy #>> '{cadence,fact_extraction_every_n}')::int then
      return jsonb '{}';
    end if;
  end if;
  return null;
end;
$$;

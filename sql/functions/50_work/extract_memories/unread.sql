-- What extraction has not read yet: for memory.sweep(), which has it read before it expires, and for memory.status().

-- Whether the policy has what this user says to this agent extracted.
create or replace function memory._extracts(p_user_id text, p_agent_id text)
returns boolean
language plpgsql stable parallel safe
as $$
declare
  policy constant jsonb := memory._policy(p_user_id, p_agent_id);
begin
  return (policy #>> '{cadence,fact_extraction_every_n}')::int > 0
    and (policy #>> '{resources,memory}')::boolean
    and (policy #>> '{memories,max_extracted_per_day}')::int > 0
    and ((policy #>> '{budget,tokens_per_user_per_day}')::bigint is distinct from 0
           and (policy #>> '{budget,tokens_per_agent_per_day}')::bigint is distinct from 0
         or (memory._chosen_chat_model(null, policy -> 'agent')).provider = 'local');
end;
$$;

-- The threads whose extractions died with what is still unread, how often within the 30 days for which dead jobs are
-- kept, and when last.
create or replace function memory._dead_extractions()
returns table (user_id text, thread_id text, deaths bigint, died_at timestamptz)
language sql stable parallel safe
begin atomic
  select j.user_id, j.scope, count(*), max(j.finished_at)
  from memory.jobs as j
  left join memory.marks as k on k.user_id = j.user_id and k.scope = j.scope and k.kind = 'extract_memories'
  where j.status = 'dead' and j.kind = 'extract_memories'
    and coalesce((j.input ->> 'from_seq')::bigint > k.position, true)
  group by j.user_id, j.scope;
end;

-- How many extractions of the same messages may die before sweeps give up; they queue one a day. So an outage of the
-- model for some days loses nothing, and a thread that no model can read does not cost calls for ever.
create or replace function memory._max_dead_extractions()
returns int
language sql immutable parallel safe
begin atomic
  select 7;
end;

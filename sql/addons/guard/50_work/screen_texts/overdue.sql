-- Threads and users with texts that wait for a verdict but without a job that brings one. Messages and artifacts queue
-- no job when they are stored, because nobody recalls them at once. If no policy switches screening on, the function
-- reads no texts.
create or replace function memory._screen_texts_overdue(p_row_limit int)
returns table (user_id text, scope text)
language plpgsql stable parallel safe
as $$
begin
  if not exists (select from memory.policies as p where p.settings @> '{"trust": {"screen": true}}') then
    return;
  end if;
  return query
  select w.user_id, w.scope
  from (
    select t.user_id, t.thread_id as scope from memory.threads as t
    where t.next_seq - 1 > memory._screened_up_to(t.user_id, t.thread_id)
    union
    select m.user_id, '' from memory.memories as m
    where m.quarantined_at is not null and m.quarantine_reason = memory._waiting_reason()
    union
    select d.user_id, '' from memory.documents as d
    where d.quarantined_at is not null and d.quarantine_reason = memory._waiting_reason()
    union
    select a.user_id, '' from memory.artifacts as a
    where a.quarantined_at is null and a.released_at is null and memory._artifact_awaits_verdict(a)
  ) as w
  where (memory._policy_section(w.user_id, null, 'trust') ->> 'screen')::boolean
    and not memory._is_queued(w.user_id, 'screen_texts', w.scope)
  limit p_row_limit;
end;
$$;

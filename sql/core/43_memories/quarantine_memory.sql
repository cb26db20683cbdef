create or replace function memory.quarantine_memory(user_id text, memory_id uuid, reason text)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  present memory.memories;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('reason', reason);
  reason := memory._masked_note(user_id, null, reason);
  present := memory._locked_memory(user_id, memory_id);
  if present.quarantined_at is null then
    perform memory._quarantine_memories(user_id, array[memory_id], reason);
  else -- from now on the memory stays in quarantine when its source is released
    update memory.memories as m
    set quarantine_reason = quarantine_memory.reason, quarantined_with = null, operation = 'quarantine',
        version = m.version + 1
    where m.user_id = quarantine_memory.user_id and m.memory_id = quarantine_memory.memory_id;
  end if;
  perform memory._audit('quarantine_memory', jsonb_build_object('memory_id', memory_id), user_id);
end;
$$;
comment on function memory.quarantine_memory(text, uuid, text) is
'Puts a memory into quarantine: no search, context, prompt, extraction or merge sees it any more, and memories that it '
'had superseded are current again. It is kept until it is released or deleted; '
'list_memories(include_quarantined => true) shows it. What else came from the same message or document stays.';

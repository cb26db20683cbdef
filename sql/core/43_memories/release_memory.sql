create or replace function memory.release_memory(user_id text, memory_id uuid)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  present memory.memories;
begin
  perform memory._check_id('user_id', user_id);
  present := memory._locked_memory(user_id, memory_id);
  if present.quarantined_at is null then
    perform memory._refuse('memory_id', format('memory %s is not in quarantine', memory_id),
      'memory.list_memories(user_id, include_quarantined => true) shows what is.', 'P0002');
  elsif not memory._release_quarantined(present, true) then
    perform memory._refuse('memory_id', 'the same content is stored by now as another memory of this agent',
      'Delete or supersede that one first.', '23505');
  end if;
  perform memory._audit('release_memory', jsonb_build_object('memory_id', memory_id), user_id);
end;
$$;
comment on function memory.release_memory(text, uuid) is
'Takes a memory out of quarantine. It is used again as before, and no rule and no model quarantines it again while its '
'content stays. One that waited for a review (policy extraction.review) now ends the memories whose place it takes. At '
'the limit another memory is evicted.';

-- The rules of memories. They live in triggers, so that "insert into memory.memories ..." from psql obeys them too.

-- The rules of a memory, and the error that says which one it breaks. Tags are looked at where they are new: a memory
-- from before there was a limit can go on changing in everything else.
create or replace function memory._check_memory(p_candidate memory.memories, p_has_new_tags boolean)
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._check_id('user_id', p_candidate.user_id);
  perform memory._check_id('agent_id', p_candidate.agent_id);
  perform memory._check_id('thread_id', coalesce(p_candidate.thread_id, 'none'));
  perform memory._check_id('source', p_candidate.source);
  perform memory._check_text(p_candidate.content, 262144, 'A memory is a sentence worth keeping, such as "Prefers email over phone calls".');
  if octet_length(p_candidate.embedding_text) > 262144 then
    perform memory._refuse('embedding_text', format('has %s bytes, at most 262144 are allowed', octet_length(p_candidate.embedding_text)),
      'A few sentences are enough to find a memory by.', '54000');
  end if;
  perform memory._check_metadata(p_candidate.metadata);
  perform memory._check_memory_types('memory_type', array[p_candidate.memory_type]);
  if (p_candidate.confidence between 0 and 1) is not true then
    perform memory._refuse('confidence', format('%s is not between 0 and 1', coalesce(p_candidate.confidence::text, 'null')), '1 means certain.');
  end if;
  if (p_candidate.importance between 0 and 1) is not true then
    perform memory._refuse('importance', format('%s is not between 0 and 1', coalesce(p_candidate.importance::text, 'null')), '0.5 is the default.');
  end if;
  perform memory._check_moment('created_at', p_candidate.created_at);
  perform memory._check_bound('valid_from', p_candidate.valid_from), memory._check_bound('valid_to', p_candidate.valid_to),
    memory._check_bound('expires_at', p_candidate.expires_at);
  if p_candidate.valid_from > p_candidate.valid_to then
    perform memory._refuse('valid_to', format('%s is before valid_from %s', p_candidate.valid_to, p_candidate.valid_from), 'Leave valid_to out while it still holds.');
  end if;
  if p_has_new_tags then
    perform memory._check_list('tags', p_candidate.tags);
  end if;
end;
$$;

create or replace function memory._check_memory_types(p_argument text, p_memory_types text[])
returns void
language plpgsql stable parallel safe
as $$
declare
  unknown text;
begin
  select coalesce('unknown type "' || left(t, 50) || '"', 'must not be null') into unknown
  from unnest(p_memory_types) as t
  where not exists (select from memory.memory_types as known where known.memory_type = t) limit 1;
  if found then
    perform memory._refuse(p_argument, unknown,
      'Known types: ' || (select string_agg(known.memory_type, ', ' order by known.position, known.memory_type) from memory.memory_types as known)
      || '. Add one with: insert into memory.memory_types (memory_type, heading, description) values (...).');
  end if;
end;
$$;

-- The rules of memories. They live in triggers, so that "insert into memory.memories ..." from psql obeys them too.

-- The rules of a memory, and the error that says which one it breaks. Tags are looked at where they are new: a memory
-- from before there was a limit can go on changing in everything else.
create or replace function memory._check_memory(candidate memory.memories, has_new_tags boolean)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', candidate.user_id);
  perform memory._check_id('agent_id', candidate.agent_id);
  perform memory._check_id('thread_id', coalesce(candidate.thread_id, 'none'));
  perform memory._check_id('source', candidate.source);
  perform memory._check_text(candidate.content, 262144, 'A memory is a sentence worth keeping, such as "Prefers email over phone calls".');
  if octet_length(candidate.embedding_text) > 262144 then
    perform memory._refuse('embedding_text', format('has %s bytes, at most 262144 are allowed', octet_length(candidate.embedding_text)),
      'A few sentences are enough to find a memory by.', '54000');
  end if;
  perform memory._check_metadata(candidate.metadata);
  perform memory._check_memory_types('memory_type', array[candidate.memory_type]);
  if (candidate.confidence between 0 and 1) is not true then
    perform memory._refuse('confidence', format('%s is not between 0 and 1', coalesce(candidate.confidence::text, 'null')), '1 means certain.');
  end if;
  if (candidate.importance between 0 and 1) is not true then
    perform memory._refuse('importance', format('%s is not between 0 and 1', coalesce(candidate.importance::text, 'null')), '0.5 is the default.');
  end if;
  perform memory._check_moment('created_at', candidate.created_at);
  perform memory._check_bound('valid_from', candidate.valid_from), memory._check_bound('valid_to', candidate.valid_to),
    memory._check_bound('expires_at', candidate.expires_at);
  if candidate.valid_from > candidate.valid_to then
    perform memory._refuse('valid_to', format('%s is before valid_from %s', candidate.valid_to, candidate.valid_from), 'Leave valid_to out while it still holds.');
  end if;
  if has_new_tags then
    perform memory._check_list('tags', candidate.tags);
  end if;
end;
$$;

create or replace function memory._check_memory_types(argument text, memory_types text[])
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  unknown text;
begin
  select coalesce('unknown type "' || left(t, 50) || '"', 'must not be null') into unknown
  from unnest(memory_types) as t
  where not exists (select from memory.memory_types as known where known.memory_type = t) limit 1;
  if found then
    perform memory._refuse(argument, unknown,
      'Known types: ' || (select string_agg(known.memory_type, ', ' order by known.position, known.memory_type) from memory.memory_types as known)
      || '. Add one with: insert into memory.memory_types (memory_type, heading, description) values (...).');
  end if;
end;
$$;

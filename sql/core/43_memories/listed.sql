-- A memory in the form in which get_memory() and list_memories() return it.
create or replace function memory._memory_result(p_memory memory.memories, p_total_count bigint)
returns setof memory.memory
language sql stable parallel safe
begin atomic
  select (p_memory).memory_id, (p_memory).memory_type, (p_memory).content, (p_memory).agent_id, (p_memory).thread_id,
    (p_memory).metadata, (p_memory).tags, (p_memory).confidence, (p_memory).importance,
    memory._real_or_null((p_memory).valid_from), memory._real_or_null((p_memory).valid_to), (p_memory).created_at,
    (p_memory).updated_at, memory._real_or_null((p_memory).expires_at), (p_memory).superseded_by,
    (p_memory).supersede_reason, (p_memory).superseded_at, (p_memory).version, p_total_count, (p_memory).source,
    (p_memory).source_seqs, (p_memory).trust, (p_memory).quarantined_at, (p_memory).quarantine_reason,
    memory._space_of((p_memory).user_id), (p_memory).subject, (p_memory).attribute, memory._state(p_memory);
end;

-- Refuses wrong arguments of list_memories() and count_memories().
create or replace function memory._check_listing(
  p_user_id text, p_agent_id text, p_memory_type text, p_search text, p_tags_all text[], p_thread_id text,
  p_filter jsonb, p_subject text default null, p_attribute text default null
)
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._check_reader(p_user_id);
  perform memory._check_id('agent_id', coalesce(p_agent_id, 'any'));
  perform memory._check_id('thread_id', coalesce(p_thread_id, 'any'));
  perform memory._check_memory_types('memory_type', array_remove(array[p_memory_type], null));
  perform memory._check_id('subject', coalesce(p_subject, 'any')),
    memory._check_id('attribute', coalesce(p_attribute, 'any'));
  perform memory._check_list('tags_all', p_tags_all);
  perform memory._check_filter(p_filter);
  -- The length is limited, because neither a cancel nor a timeout interrupts the search in one text: a search for 128
  -- KiB took 10 s in a memory of 256 KiB.
  if length(p_search) > 1000 then
    perform memory._refuse('search', format('has %s characters, at most 1000 are allowed', length(p_search)),
      'Pass a word or a sentence; memory.search() takes longer questions.', '54000');
  end if;
end;
$$;

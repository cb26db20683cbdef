-- What a list and a count take.
create or replace function memory._check_listing(user_id text, agent_id text, memory_type text, search text,
  tags_all text[])
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('agent_id', coalesce(agent_id, 'any'));
  perform memory._check_memory_types('memory_type', array_remove(array[memory_type], null));
  perform memory._check_list('tags_all', tags_all);
  -- A text is searched in one go that nothing can end: 128 KiB in a memory of 256 KiB took 10 s.
  if length(search) > 1000 then
    perform memory._refuse('search', format('has %s characters, at most 1000 are allowed', length(search)),
      'Pass a word or a sentence; memory.search() takes longer questions.', '54000');
  end if;
end;
$$;

-- What a list shows and a count counts. Inlined by the planner, hence no SET clause.
create or replace function memory._listed_memories(
  user_id text, agent_id text, memory_type text, search text, tags_all text[], as_of timestamptz,
    include_superseded boolean
)
returns setof memory.memories
language sql stable parallel safe
begin atomic
  select m.*
  from memory._shown_memories(_listed_memories.user_id, _listed_memories.as_of, _listed_memories.include_superseded)
    as m
  where (_listed_memories.agent_id is null or m.agent_id = _listed_memories.agent_id)
    and (_listed_memories.memory_type is null or m.memory_type = _listed_memories.memory_type)
    and (_listed_memories.tags_all is null or memory._comparable_tags(m.tags,
      _listed_memories.tags_all) @> _listed_memories.tags_all)
    and (_listed_memories.search is null
         or strpos(lower(m.content), lower(_listed_memories.search)) > 0
         or strpos(lower(m.embedding_text), lower(_listed_memories.search)) > 0);
end;

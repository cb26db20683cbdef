-- needs pgvector on the search_path

-- What a search without filters compares with: memories that may be found, by their embeddings alone.
create or replace function memory._compared_memories(user_id text, agent_id text, model text, target halfvec)
returns table (id text, created_at timestamptz, similarity double precision)
language sql stable parallel safe
begin atomic
  select e.id, e.created_at, memory._cosine_similarity(e.embedding, target)
  from memory.embeddings as e
  where e.user_id = _compared_memories.user_id and e.model = _compared_memories.model and e.source = 'memory'
    and memory._dimensions(e.embedding) = memory._dimensions(target) and e.valid_until > statement_timestamp()
    and (_compared_memories.agent_id is null or e.agent_id = _compared_memories.agent_id);
end;

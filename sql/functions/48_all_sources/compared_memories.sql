-- needs pgvector on the search_path

-- What a search without filters compares with: memories that may be found, by their embeddings alone.
create or replace function memory._compared_memories(p_user_id text, p_agent_id text, p_model text, p_target halfvec)
returns table (id text, created_at timestamptz, similarity double precision)
language sql stable parallel safe
begin atomic
  select e.id, e.created_at, memory._cosine_similarity(e.embedding, p_target)
  from memory.embeddings as e
  where e.user_id = p_user_id and e.model = p_model and e.source = 'memory'
    and memory._dimensions(e.embedding) = memory._dimensions(p_target) and e.valid_until > statement_timestamp()
    and (p_agent_id is null or e.agent_id = p_agent_id);
end;

-- needs pgvector on the search_path

-- The parts of an artifact, the first p_most of them: their words, or their content where no job has read it, and how
-- similar they are to an embedding of the model.
create or replace function memory._part_texts(
  p_user_id text, p_key text, p_content_id uuid, p_model text, p_target halfvec, p_most int
)
returns table (first_byte int, vector tsvector, unparsed text, similarity double precision)
language sql stable parallel safe
begin atomic
  select p.first_byte,
    (select t.words from memory.texts as t
     where t.user_id = p_user_id and t.source = 'artifact' and t.id = p_key || '/' || p.first_byte),
    case when not p.is_parsed then p.content end,
    (select memory._cosine_similarity(e.embedding, p_target)
     from memory._embeddings_of(p_user_id, p_model) as e
     where p_target is not null and e.source = 'artifact' and e.id = p_key || '/' || p.first_byte)
  from memory.artifact_parts as p
  where p.user_id = p_user_id and p.content_id = p_content_id
  order by p.first_byte limit p_most;
end;

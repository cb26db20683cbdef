-- Copies texts of a user with their embeddings to other ids.
create or replace function memory._copy_texts(
  p_user_id text, p_source text, p_ids text[], p_copies text[], p_thread_id text
)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  insert into memory.texts (user_id, source, id, thread_id, number, agent_id, created_at, valid_until, words, keys,
    hash, model, embedding, code)
  select t.user_id, t.source, c.copy, p_thread_id, t.number, t.agent_id, t.created_at, t.valid_until, t.words, t.keys,
    t.hash, t.model, t.embedding, t.code
  from unnest(p_ids, p_copies) as c (id, copy)
  cross join lateral ( -- each by its key: without statistics all texts of the user would be read for each
    select f.* from memory.texts as f
    where f.user_id = p_user_id and f.source = p_source and f.id = c.id offset 0) as t;
  insert into memory.embeddings (user_id, source, id, model, hash, embedding)
  select e.user_id, e.source, c.copy, e.model, e.hash, e.embedding
  from unnest(p_ids, p_copies) as c (id, copy)
  cross join lateral (
    select f.* from memory.embeddings as f
    where f.user_id = p_user_id and f.source = p_source and f.id = c.id offset 0) as e;
end;
$$;

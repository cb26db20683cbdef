-- Copies texts of a user with their embeddings to other ids.
create or replace function memory._copy_texts(
  p_user_id text, p_source text, p_ids text[], p_copies text[], p_thread_id text
)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  insert into memory.texts ({{columns of texts}})
  select {{columns of texts as t, id = c.copy, thread_id = p_thread_id}}
  from unnest(p_ids, p_copies) as c (id, copy)
  cross join lateral ( -- each by its key: without statistics all texts of the user would be read for each
    select f.* from memory.texts as f
    where f.user_id = p_user_id and f.source = p_source and f.id = c.id offset 0) as t;
  insert into memory.embeddings ({{columns of embeddings}})
  select {{columns of embeddings as e, id = c.copy}}
  from unnest(p_ids, p_copies) as c (id, copy)
  cross join lateral (
    select f.* from memory.embeddings as f
    where f.user_id = p_user_id and f.source = p_source and f.id = c.id offset 0) as e;
end;
$$;

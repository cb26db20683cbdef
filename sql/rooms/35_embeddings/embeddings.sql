-- Whether a text has an embedding of the model. A function of PL/pgSQL, so that a plan made without statistics cannot
-- read all embeddings of the user.
create or replace function memory._is_embedded(p_user_id text, p_model text, p_source text, p_id text)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return exists (select from memory.embeddings as e
                 where e.user_id = p_user_id and e.model = p_model and e.source = p_source and e.id = p_id);
end;
$$;

-- Deletes the embeddings of texts under every embedding model. The inner query looks up each embedding by its whole
-- key, and locks it, so that its place stays: with "id = any (p_ids)" PostgreSQL read all embeddings of the user. One
-- call for each row took 30 of the 45 s in which a thread of 1,000,000 messages was deleted.
create or replace function memory._drop_embeddings(p_user_id text, p_source text, p_ids text[])
returns void
language plpgsql volatile parallel unsafe
set enable_seqscan = off -- a plan made while the table was empty would read all of it
set jit = off
as $$
declare
  places constant tid[] := array(
    select f.place
    from unnest(p_ids) as i (id)
    cross join memory.models as m
    cross join lateral (
      select e.ctid as place from memory.embeddings as e
      where e.user_id = p_user_id and e.model = m.name and e.source = p_source and e.id = i.id
      for update) as f
    where m.kind = 'embedding');
begin
  if places <> '{}' then
    delete from memory.embeddings as e where e.ctid = any (places);
  end if;
end;
$$;

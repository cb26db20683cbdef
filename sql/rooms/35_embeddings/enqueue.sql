-- Queues the embedding of texts, if an embedding model is active: of the messages of a thread (p_scope), or of these
-- texts of a user. Without ids the job looks for all texts of the user that have no embedding, which takes longer the
-- more texts the user has.
create or replace function memory._enqueue_embedding(
  p_user_id text, p_scope text default '', p_source text default '', p_ids text[] default '{""}'
)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  if exists (select from memory.models as m where m.kind = 'embedding' and m.is_active) then
    if p_scope = '' then
      insert into memory.texts_to_embed (user_id, source, id) select p_user_id, p_source, i from unnest(p_ids) as i;
    end if;
    perform memory._enqueue_due(p_user_id, 'embed', p_scope);
  end if;
end;
$$;

-- Queues the embedding of the messages of a thread (p_scope), or of everything else that a user has (p_scope ''), if an
-- embedding model is active.
create or replace function memory._enqueue_embedding(p_user_id text, p_scope text default '')
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  if exists (select from memory.models as m where m.kind = 'embedding' and m.is_active) then
    perform memory._enqueue_due(p_user_id, 'embed', p_scope);
  end if;
end;
$$;

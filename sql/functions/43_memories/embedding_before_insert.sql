-- An embedding knows of its memory what a search without filters asks, which then need not join the two.
create or replace function memory._embedding_before_insert()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may write need not have rights on memories
set search_path = pg_catalog, pg_temp
as $$
declare
  found_one memory.memories;
begin
  select m.* into found_one from memory.memories as m where m.user_id = new.user_id and m.memory_id = new.id::uuid
  for share; -- whoever is changing it would not see the embedding
  if found then -- else it keeps what it comes with, as from a copy that brings embeddings first
    new.agent_id := found_one.agent_id;
    new.created_at := found_one.created_at;
    new.valid_until := memory._valid_until(found_one);
  end if;
  return new;
end;
$$;

-- Keeps that true when a memory changes; under all models, as above.
create or replace function memory._update_embedding(p_changed memory.memories)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  update memory.embeddings as e set created_at = p_changed.created_at, valid_until = memory._valid_until(p_changed)
  where e.user_id = p_changed.user_id and e.model = any (array(select m.name from memory.models as m where m.kind = 'embedding'))
    and e.source = 'memory' and e.id = p_changed.memory_id::text;
end;
$$;

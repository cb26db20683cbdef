-- Users with a text that lacks an embedding of an inactive model, and without a job that makes it. The function reads
-- all texts while such a model is registered and not switched off.
create or replace function memory._backfill_overdue(p_row_limit int)
returns table (user_id text, scope text)
language plpgsql stable parallel safe
as $$
begin
  return query
  select l.user_id, '' from (
    select distinct t.user_id
    from memory.models as m
    join memory.texts as t on t.model is distinct from m.name and t.hash is not null and t.source <> 'message'
    where m.kind = 'embedding' and not m.is_off and not m.is_active and t.valid_until > statement_timestamp()
      and exists (select from memory.models as a where a.kind = 'embedding' and a.is_active)
      and not exists (
        select from memory.embeddings as e
        where e.user_id = t.user_id and e.model = m.name and e.source = t.source and e.id = t.id)) as l
  where not memory._is_queued(l.user_id, 'backfill', '')
  limit p_row_limit;
end;
$$;

-- Users who have a memory, document or artifact without an embedding of a model that is not active, and no job to make
-- it. Reads all texts while such a model is registered and not switched off.
create or replace function memory._backfill_overdue(p_row_limit int)
returns table (user_id text, scope text)
language plpgsql stable parallel safe
as $$
begin
  return query
  select l.user_id, '' from (
    select distinct t.user_id
    from memory.models as e
    cross join lateral (
      select m.user_id, 'memory' as source, m.memory_id::text as id from memory.memories as m
      where memory._is_current(m)
        and memory._is_unexpired(m.expires_at)
        and (m.valid_to is null or m.valid_to > statement_timestamp())
      union all
      select c.user_id, 'document', c.document_id || '/' || c.number
      from memory.document_chunks as c
      where c.token_count is not null and not exists (
        select from memory.documents as d
        where d.user_id = c.user_id and d.document_id = c.document_id and d.quarantined_at is not null)
      union all
      select a.user_id, 'artifact', a.key || '/0' -- the other passages are embedded after the first
      from memory.artifacts as a
      where a.quarantined_at is null and memory._is_unexpired(a.expires_at)
    ) as t
    where e.kind = 'embedding' and not e.is_off and not e.is_active
      and exists (select from memory.models as m where m.kind = 'embedding' and m.is_active)
      and not exists (
        select from memory.embeddings as v
        where v.user_id = t.user_id and v.model = e.name and v.source = t.source and v.id = t.id)) as l
  where not memory._is_queued(l.user_id, 'backfill', '')
  limit p_row_limit;
end;
$$;

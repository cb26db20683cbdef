-- Users with texts to embed and without a job to embed them: the last job died, or ended before a text was committed.
create or replace function memory._embed_overdue(p_row_limit int)
returns table (user_id text, scope text)
language plpgsql stable parallel safe
as $$
begin
  return query
  select u.user_id, ''
  from (
    select distinct t.user_id from memory.texts as t
    -- The first line repeats the condition of texts_unembedded_idx.
    where t.embedding is null and t.hash is not null and t.valid_until > '-infinity'
      and t.valid_until > statement_timestamp() and t.source <> 'message') as u
  where exists (select from memory.models as m where m.kind = 'embedding' and m.is_active)
    and not memory._is_queued(u.user_id, 'embed', '') and not memory._is_queued(u.user_id, 'backfill', '')
  limit p_row_limit;
end;
$$;

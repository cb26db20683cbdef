-- Users with texts to embed and without a job to do it: the last job died, or ended before a text was committed.
create or replace function memory._embed_overdue(p_row_limit int)
returns table (user_id text, scope text)
language plpgsql stable parallel safe
as $$
begin
  return query
  select u.user_id, ''
  from (select distinct t.user_id from memory.texts_to_embed as t) as u
  where exists (select from memory.models as m where m.kind = 'embedding' and m.is_active)
    and not memory._is_queued(u.user_id, 'embed', '')
  limit p_row_limit;
end;
$$;

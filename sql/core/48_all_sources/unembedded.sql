-- The texts of a scope that lack an embedding of a model: of one thread (p_scope is the thread_id), of the other
-- sources (''), or of both (null). A message that no job has read yet has no row in memory.texts; the job that embeds
-- the message makes the row.
create or replace function memory._unembedded(p_user_id text, p_scope text, p_model text, p_row_limit int)
returns table (source text, id text)
language plpgsql stable parallel safe
as $$
declare
  embeds_messages constant boolean := p_scope is not null
    or (memory._policy_section(p_user_id, null, 'search') ->> 'embed_messages')::boolean;
  has_others constant boolean := exists (
    select from memory.models as m where m.kind = 'embedding' and m.name <> p_model);
begin
  return query
  select u.source, u.id
  from (
    select t.source, t.id, t.valid_until, t.thread_id from memory.texts as t
    where t.user_id = p_user_id and t.embedding is null and t.hash is not null and t.valid_until > '-infinity'
    union all -- the embeddings of another model stand where those of this one would
    select t.source, t.id, t.valid_until, t.thread_id from memory.texts as t
    where has_others and t.user_id = p_user_id and t.model <> p_model) as u
  where u.valid_until > statement_timestamp()
    and case
      when p_scope is null then u.source <> 'message' or embeds_messages
      when p_scope = '' then u.source <> 'message'
      else u.source = 'message' and u.thread_id = p_scope end
    and not (has_others and exists (
      select from memory.embeddings as e
      where e.user_id = p_user_id and e.source = u.source and e.id = u.id and e.model = p_model))
  union all
  select 'message', m.thread_id || '/' || m.seq
  from memory._unread_messages(p_user_id, nullif(p_scope, ''), p_row_limit) as m
  where embeds_messages and p_scope is distinct from '' and m.content <> ''
  limit p_row_limit;
end;
$$;

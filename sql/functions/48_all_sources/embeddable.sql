-- Embeddings: what their jobs read, and how their results are stored. Anything without an embedding of the active model
-- is to be embedded, so that nothing needs to be remembered and a lost job loses nothing.

-- A message is found far better with its date and speaker than by its bare text. Models read 8,192 tokens, so this and all
-- other texts are cut at 24,000 characters.
create or replace function memory._embedded_text(p_said_at timestamptz, p_speaker text, p_content text)
returns text
language sql stable parallel safe
begin atomic
  -- Cut before as well: of 10 MiB that are stored compressed, only the beginning is then fetched.
  select left(format('[%s] %s: %s', to_char(p_said_at at time zone 'UTC', 'YYYY-MM-DD'), p_speaker, left(p_content, 24000)),
              24000);
end;

-- What a scope holds for search, as it is embedded: messages of one thread, everything else of a user (''), or all of a
-- user (null). Inlined by the planner, hence no SET clause.
create or replace function memory._embeddable(p_user_id text, p_scope text, p_from_seq bigint default 0, p_to_seq bigint default 9223372036854775807)
returns table (source text, id text, text text)
language sql stable parallel safe
begin atomic
  select 'message', m.thread_id || '/' || m.seq, memory._embedded_text(m.created_at, coalesce(m.metadata ->> 'name', m.role), m.content)
  from memory.messages as m
  where p_scope <> '' and m.user_id = p_user_id and m.thread_id = p_scope and m.seq between p_from_seq and p_to_seq
    and m.is_active and m.expires_at > statement_timestamp() and m.content <> ''
  union all
  select 'message', m.thread_id || '/' || m.seq, memory._embedded_text(m.created_at, coalesce(m.metadata ->> 'name', m.role), m.content)
  from memory.messages as m
  where p_scope is null and m.user_id = p_user_id and (memory._policy(p_user_id, null) #>> '{search,embed_messages}')::boolean
    and m.is_active and m.expires_at > statement_timestamp() and m.content <> ''
  union all
  select 'memory', m.memory_id::text, left(case when m.embedding_text ~ e'\\S' then m.embedding_text else m.content end, 24000)
  from memory._visible_memories(p_user_id, null, false) as m where coalesce(p_scope, '') = ''
  union all
  select 'summary', s.summary_id::text, left(s.summary, 24000)
  from memory._current_summaries(p_user_id, null) as s
  where coalesce(p_scope, '') = ''
  union all
  select 'document', d.document_id || '/' || c.number, left(concat_ws(e'\n', d.title, left(c.content, 24000)), 24000)
  from memory.documents as d join memory.document_chunks as c on c.user_id = d.user_id and c.document_id = d.document_id
  where coalesce(p_scope, '') = '' and d.user_id = p_user_id and c.user_id = p_user_id
    and c.token_count is not null -- not before it is cut
  union all
  select 'artifact', a.key, left(concat_ws(e'\n', a.description, left(a.content, 24000)), 24000)
  from memory._current_artifacts(p_user_id) as a where coalesce(p_scope, '') = '';
end;

-- Who may have any of it.
create or replace function memory._users_with_texts()
returns setof text
language sql stable parallel safe
begin atomic
  select t.user_id from memory.threads as t where t.message_count > 0
  union select s.user_id from memory.memory_scopes as s where s.memory_count > 0
  union select s.user_id from memory.summaries as s where s.status = 'completed'
  union select d.user_id from memory.documents as d
  union select a.user_id from memory.artifacts as a;
end;

create or replace function memory._has_unembedded(p_user_id text, p_scope text, p_model text)
returns boolean
language plpgsql stable parallel safe
set enable_nestloop = off -- hash joins it shall be: the planner takes thousands of texts for a few and would compare each with each
set enable_mergejoin = off
set jit = off -- a plan with what is forbidden counts as so dear that it would be compiled, which takes half a second
as $$
begin
  return exists (
    select from memory._embeddable(p_user_id, p_scope) as t
    where not exists (select from memory.embeddings as e
                      where e.user_id = p_user_id and e.model = p_model and e.source = t.source and e.id = t.id));
end;
$$;

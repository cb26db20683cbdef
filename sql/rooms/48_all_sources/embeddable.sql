-- These functions choose the texts to embed: every text without an embedding of the active model. No table lists these
-- texts, so a lost job loses nothing.

-- The texts of a scope in the form in which they are embedded. The scope is one thread (p_scope is the thread_id, and
-- only messages from p_from_seq to p_to_seq), all other texts of a user (''), or all texts of a user (null). The
-- function cuts each text at 24,000 characters, because models read 8,192 tokens. Jobs embed the sources in the order
-- of this function.
create or replace function memory._embeddable(
  p_user_id text, p_scope text, p_from_seq bigint default 0, p_to_seq bigint default 9223372036854775807
)
returns table (source text, id text, text text)
language sql stable parallel safe
begin atomic
  {{each source, union all:
  select '<source>', t.* from memory._<source>_embeddable(p_user_id, p_scope, p_from_seq, p_to_seq) as t}}
  ;
end;

-- Users who own at least one text that can be searched.
create or replace function memory._users_with_texts()
returns setof text
language sql stable parallel safe
begin atomic
  {{each source, union: select o.user_id from memory._<source>_owners() as o (user_id)}}
  ;
end;

-- Whether a text of the scope has no embedding of the model. The settings force hash joins: the planner expects a few
-- texts where there are thousands, and would compare each text with each embedding, which takes seconds.
create or replace function memory._has_unembedded(p_user_id text, p_scope text, p_model text)
returns boolean
language plpgsql stable parallel safe
set enable_nestloop = off
set enable_mergejoin = off
set jit = off -- A forbidden join counts as so expensive that PostgreSQL would compile the plan, for half a second.
as $$
begin
  return exists (
    select from memory._embeddable(p_user_id, p_scope) as t
    where not exists (select from memory.embeddings as e
                      where e.user_id = p_user_id and e.model = p_model and e.source = t.source and e.id = t.id));
end;
$$;

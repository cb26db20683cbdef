-- Which texts are embedded. A text is to be embedded if it has no embedding of the active model. Nothing else records
-- that, so a lost job loses nothing.

-- The texts of a scope as they are embedded: those of one thread (p_scope is the thread_id, and only messages from
-- p_from_seq to p_to_seq), everything else of a user (''), or everything of a user (null). Of each text the first
-- 24,000 characters, because models read 8,192 tokens. The order of the sources is the order in which jobs embed them.
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

-- Whether a text of the scope has no embedding of the model. Hash joins are forced: the planner expects a few texts
-- where there are thousands, and would compare each text with each embedding, which takes seconds.
create or replace function memory._has_unembedded(p_user_id text, p_scope text, p_model text)
returns boolean
language plpgsql stable parallel safe
set enable_nestloop = off
set enable_mergejoin = off
set jit = off -- A plan with a forbidden join counts as so expensive that it would be compiled, for half a second.
as $$
begin
  return exists (
    select from memory._embeddable(p_user_id, p_scope) as t
    where not exists (select from memory.embeddings as e
                      where e.user_id = p_user_id and e.model = p_model and e.source = t.source and e.id = t.id));
end;
$$;

-- These functions choose the texts to embed. The scope of texts is one thread (p_scope is the thread_id), all other
-- texts of a user (''), or all texts of a user (null). Jobs embed the sources in the order of these functions.

-- The texts of a scope that are embedded.
create or replace function memory._embeddable(p_user_id text, p_scope text)
returns table (source text, id text)
language sql stable parallel safe
begin atomic
  {{each source, union all: select '<source>', t.* from memory._<source>_embeddable(p_user_id, p_scope) as t}}
  ;
end;

-- These texts of a user (p_sources[n] and p_ids[n] name one), as far as they are there, in the form in which they are
-- embedded. The sources cut each text at 24,000 characters, because models read 8,192 tokens. A statement for each
-- source that occurs, because a statement for all of them takes longer to start than to run.
create or replace function memory._embeddable_texts(p_user_id text, p_sources text[], p_ids text[])
returns table (source text, id text, text text)
language plpgsql stable parallel safe
as $$
begin
  {{each source:
  if '<source>' = any (p_sources) then
    return query select '<source>', t.* from memory._<source>_texts(p_user_id, p_sources, p_ids) as t;
  end if;}}
end;
$$;

-- Users who own at least one text that can be searched.
create or replace function memory._users_with_texts()
returns setof text
language sql stable parallel safe
begin atomic
  {{each source, union: select o.user_id from memory._<source>_owners() as o (user_id)}}
  ;
end;

-- The first p_row_limit texts of the scope that have no embedding of the model. The settings force hash joins: the
-- planner expects a few texts where there are thousands, and would compare each text with each embedding, which takes
-- seconds.
create or replace function memory._unembedded(p_user_id text, p_scope text, p_model text, p_row_limit int)
returns table (source text, id text)
language plpgsql stable parallel safe
set enable_nestloop = off
set enable_mergejoin = off
set jit = off -- A forbidden join counts as so expensive that PostgreSQL would compile the plan, for half a second.
as $$
begin
  return query
  select t.source, t.id from memory._embeddable(p_user_id, p_scope) as t
  where not exists (select from memory.embeddings as e
                    where e.user_id = p_user_id and e.model = p_model and e.source = t.source and e.id = t.id)
  limit p_row_limit;
end;
$$;

-- needs pgvector on the search_path

create or replace function memory.render_memories(
  user_id text, agent_id text default null, query text default null,
  max_memories int default 20, max_tokens int default null, query_embedding vector default null
)
returns text
-- Volatile, because the function keeps the embedding of the query.
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  policy jsonb;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('agent_id', coalesce(agent_id, 'any'));
  if (max_memories >= 1) is not true then
    perform memory._refuse('max_memories', format('%s is less than 1', coalesce(max_memories::text, 'null')),
      '20 is the default.');
  end if;
  if max_tokens < 1 then
    perform memory._refuse('max_tokens', format('%s is less than 1', max_tokens), 'Leave it out for no limit.');
  end if;
  policy := memory._policy(render_memories.user_id, render_memories.agent_id);
  if not (policy #>> '{resources,memory}')::boolean then
    perform memory._note_missing_resource(agent_id, 'memory', 'nothing is recalled');
    return '';
  end if;
  query := memory._query_or_null(query);
  return (
    select coalesce(r.block, '')
    from memory._query_model(render_memories.user_id, query, query_embedding) as m
    cross join lateral memory._query_embedding(render_memories.user_id, query, query_embedding, m) as k
    cross join lateral memory._query_target(
      render_memories.user_id, render_memories.agent_id, query, policy, query_embedding is not null, m,
      k.embedding, k.problem, 'hybrid') as t
    cross join lateral memory._render_memories(
      render_memories.user_id, render_memories.agent_id, query, m.name, t.embedding, policy, max_memories,
      max_tokens) as r);
end;
$$;
comment on function memory.render_memories(text, text, text, int, int, vector) is
'The memories of a user as a block for a system prompt, headed "## Your Memories" and grouped by type: chosen by '
'relevance to the query, importance and recency (policy context), at most max_memories and max_tokens. Empty text '
'when there are none.';

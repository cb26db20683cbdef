-- needs pgvector on the search_path

-- The most similar of very many memories, found by the HNSW index of memory.vector_index(); null where that index is
-- not used. Searches by meaning alone, without filters, use it for users with more memories than
-- search.approximate_above (10,000): 6 ms instead of 115 at 50,000. With ef_search 200 it finds 94 to 97 % of the
-- nearest ten (bench/results/search.md). Comparing all memories is as fast for more than 100 results, and for a user
-- with less than a fiftieth of the index: the scan then passes 50 memories of other users for each that it finds.
create or replace function memory._nearest_memories(
  p_user_id text, p_agent_id text, p_model text, p_target halfvec, p_settings jsonb, p_row_limit int
)
returns text[]
language plpgsql stable parallel unsafe -- changes settings, so its callers are parallel unsafe, too
as $$
declare
  -- The test for -infinity repeats the condition of the partial index; without the test the planner could not use the
  -- index.
  statement constant text := format($sql$
    select array_agg(n.id)
    from (
      select e.id, memory._cosine_similarity(e.embedding, $3) as similarity
      from memory.texts as e
      where e.user_id = $1 and e.model = $2 and e.source = 'memory'
        and e.valid_until > '-infinity' and e.valid_until > statement_timestamp()
        and ($4 is null or e.agent_id = $4)
      order by e.embedding::%1$I.halfvec(%2$s) operator(%1$I.<=>) $3::%1$I.halfvec(%2$s)
      limit $5) as n
    where n.similarity is not null
  $sql$, memory._vector_schema(), memory._dimensions(p_target));
  made constant regclass := memory._vector_index(p_model);
  ef_search constant text := current_setting('hnsw.ef_search');
  iterative_scan constant text := current_setting('hnsw.iterative_scan');
  may_sort constant text := current_setting('enable_sort');
  nearest text[];
begin
  if p_row_limit > 100
    or (select sum(s.memory_count) from memory.memory_scopes as s where s.user_id = p_user_id) > greatest(
      (p_settings ->> 'approximate_above')::bigint,
      (select c.reltuples / 50 from pg_class as c where c.oid = made)) is not true
    or not exists (select from pg_index as i where i.indexrelid = made and i.indisvalid)
    or exists (select from memory.embeddings as e where e.user_id = p_user_id and e.model = p_model) then
    return null;
  end if;
  -- The function has no SET clauses for these settings, because only a superuser could restore such clauses from a
  -- dump. The planner does not know how many rows belong to this user, because PostgreSQL keeps no statistics of single
  -- users; the caller knows that the user has enough rows for the index. With sorting disabled, the plan reads the rows
  -- in the order of the index.
  perform set_config('hnsw.ef_search', '200', true), set_config('hnsw.iterative_scan', 'strict_order', true),
    set_config('enable_sort', 'off', true);
  execute statement into nearest using p_user_id, p_model, p_target, p_agent_id, p_row_limit;
  perform set_config('hnsw.ef_search', ef_search, true),
    set_config('hnsw.iterative_scan', iterative_scan, true), set_config('enable_sort', may_sort, true);
  return case when cardinality(nearest) = p_row_limit then nearest end; -- fewer: the index has found too few
end;
$$;

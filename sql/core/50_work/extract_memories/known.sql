-- At most p_most memories of these agents that new messages can concern: current memories, so that a model can say
-- which of them no longer hold, and memories that await a review. Those memories come first whose attribute or subject
-- the messages name, that were said in this thread, or that share words with the messages or are near them in meaning.
-- Then come the newest.
create or replace function memory._memories_concerned(
  p_user_id text, p_agent_ids text[], p_thread_id text, p_messages jsonb, p_most int
)
returns setof memory.memories
language plpgsql stable parallel safe
set plan_cache_mode = force_custom_plan
set enable_sort = off -- without statistics PostgreSQL sorted all memories to find the newest
as $$
declare
  said constant text := (
    select string_agg(m.value ->> 'content', e'\n' order by m.place desc)
    from jsonb_array_elements(p_messages) with ordinality as m (value, place) where m.value ->> 'role' = 'user');
  spelled constant text := memory._plainly_spelled(left(said, 20000));
  named constant text[] := memory._attributes_named(said);
  any_word constant tsquery := (
    select string_agg(quote_literal(w), ' | ')::tsquery
    from unnest(memory._query_words(
      memory._languages(p_user_id, p_agent_ids[1], memory._language(p_user_id, p_agent_ids[1])::text),
      said, 200)) as w);
  embedder constant text := (memory._embedding_model()).name;
begin
  return query
  with asked as materialized ( -- some messages have embeddings already, because other jobs embed messages
    select e.embedding
    from jsonb_path_query(p_messages, '$[*] ? (@.role == "user").seq') as s
    cross join lateral (
      select e.embedding from memory._embeddings_of(p_user_id, embedder) as e
      where e.source = 'message' and e.id = p_thread_id || '/' || s::text
      offset 0 -- so that each message is looked up by its key
    ) as e
    limit 10
  )
  select m.*
  from memory._memories_by_ids(p_user_id, array(
    select c.memory_id
    from unnest(p_agent_ids) as a (id)
    cross join lateral (
      (select n.memory_id from memory.memories as n
       where n.user_id = p_user_id and n.agent_id = a.id and memory._is_valid(n)
       order by n.created_at desc, n.memory_id desc limit 1000)
      union all
      select v.memory_id from memory.memories as v
      where v.user_id = p_user_id and v.agent_id = a.id and memory._is_valid(v) and v.attribute is not null
        and lower(v.attribute) = any (named)
      union all
      (select w.memory_id from memory.memories as w -- a model would otherwise extract again what awaits a review
       where w.user_id = p_user_id and w.agent_id = a.id and w.quarantined_at is not null
         and w.quarantine_reason = 'review' limit 1000)) as c)) as m
  left join lateral (
    select max(memory._cosine_similarity(e.embedding, a.embedding)) as near
    from asked as a
    join memory._embeddings_of(p_user_id, embedder) as e on e.source = 'memory' and e.id = m.memory_id::text
  ) as e on true
  where m.source <> 'thread_summary'
  order by
    (case when memory._kind_of_attribute(m.attribute) = any (named) then 1 else 0 end
      + case when memory._subject(m.subject) <> 'user'
          and strpos(spelled, split_part(memory._subject(m.subject), ' ', -1)) > 0 then 1 else 0 end
      + coalesce(memory._word_rank(p_user_id, m.memory_id, any_word), 0)
      + coalesce(e.near, 0) + case when m.thread_id = p_thread_id then 0.1 else 0 end) desc,
    m.created_at desc, m.memory_id desc
  limit p_most;
end;
$$;

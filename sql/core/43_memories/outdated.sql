-- Those of these messages whose statement no longer holds: memories were drawn from the message, and all of them have
-- ended or were replaced or corrected. successor is the current memory that took the place of one of them, or null.
create or replace function memory._outdated_messages(p_user_id text, p_thread_ids text[], p_seqs bigint[])
returns table (thread_id text, seq bigint, successor uuid)
language plpgsql stable parallel safe
as $$
begin
  if not exists ( -- most users have no such memory
    select from memory.memories as m
    where m.user_id = p_user_id and m.superseded_at is not null and m.deleted_at is null
      and m.supersede_reason not in ('duplicate', 'near-duplicate', 'consolidated')) then
    return;
  end if;
  return query
  select g.thread_id, g.seq, (
    with recursive later as (
      select unnest(g.ended) as memory_id
      union
      select m.superseded_by from later as l
      join memory.memories as m on m.user_id = p_user_id and m.memory_id = l.memory_id
      where m.superseded_by is not null)
    select m.memory_id from later as l
    cross join lateral memory._memories_by_ids(p_user_id, array[l.memory_id]) as m
    where memory._is_visible(m)
    order by m.created_at desc limit 1)
  from (
    -- The subquery reads the memories of each thread once, and not once for each message.
    select t.thread_id, s.seq,
      array_agg((f.m).memory_id) filter (where memory._state(f.m) in ('ended', 'replaced', 'corrected')) as ended,
      bool_or(memory._is_current(f.m) or memory._state(f.m) = 'duplicate') as holds
    from (
      select g.thread_id, array_agg(distinct g.seq) as seqs
      from unnest(p_thread_ids, p_seqs) as g (thread_id, seq) group by g.thread_id) as t
    cross join lateral (
      select m from memory.memories as m
      where m.user_id = p_user_id and m.thread_id = t.thread_id and m.source_seqs && t.seqs and m.deleted_at is null
      offset 0) as f
    cross join lateral unnest((f.m).source_seqs) as s (seq)
    where s.seq = any (t.seqs)
    group by t.thread_id, s.seq
  ) as g
  where g.ended is not null and not g.holds;
end;
$$;

-- The memories that a question asks for by an attribute, newest first. The question names the attribute by a word of
-- the lists or by the attribute's own words. "Where does my brother work?" asks for the brother's employer; a question
-- that names nobody asks for the user's. With p_asks_then the result has the former values instead, and also the
-- memories that were replaced by memories among p_found, and former memories that share words with the question.
create or replace function memory._values_asked(
  p_user_id text, p_agent_id text, p_query text, p_asks_then boolean, p_found uuid[], p_row_limit int
)
returns setof memory.memories
language plpgsql stable parallel safe
as $$
declare
  named constant text[] := memory._attributes_named(p_query);
  spelled constant text := ' ' || array_to_string(memory._words_of(left(p_query, 2000)), ' ') || ' ';
  any_word constant tsquery := case when p_asks_then then (
    select string_agg(quote_literal(w), ' | ')::tsquery
    from unnest(memory._query_words(
      memory._languages(p_user_id, p_agent_id, memory._language(p_user_id, p_agent_id)::text), p_query, 50)) as w) end;
begin
  return query
  with found as (
    select a.m as row,
      (a.m).attribute is not null and (memory._kind_of_attribute((a.m).attribute) = any (named) or not exists (
        select from unnest(memory._words_of(memory._kind_of_attribute((a.m).attribute))) as w
        -- The last letter of a longer word may be another one: hobby, hobbies.
        where strpos(spelled, ' ' || case when length(w) < 5 then w || ' ' else left(w, -1) end) = 0)) as is_asked,
      exists (
        select from regexp_split_to_table(memory._subject((a.m).subject), ' ') as w
        where length(w) > 2 and w <> 'user' and strpos(spelled, ' ' || w || ' ') > 0) as is_named,
      (a.m).superseded_by = any (p_found) as was_before,
      memory._word_rank(p_user_id, (a.m).memory_id, any_word) as words
    from (
      select c as m from memory.memories as c
      where not p_asks_then and c.user_id = p_user_id and c.attribute is not null and memory._is_valid(c)
      union all
      select f from memory.memories as f
      where p_asks_then and f.user_id = p_user_id and f.deleted_at is null
        and memory._state(f) in ('ended', 'replaced') and memory._is_unexpired(f.expires_at)) as a
    where p_agent_id is null or (a.m).agent_id = p_agent_id
  )
  select (f.row).*
  from found as f
  where f.is_asked and (f.is_named or memory._subject((f.row).subject) = 'user'
                        and not exists (select from found as o where o.is_named and o.is_asked))
    or p_asks_then and (f.was_before or f.words > 0)
  order by f.is_asked desc, f.was_before desc nulls last, f.words desc nulls last, memory._said_at(f.row) desc,
    (f.row).memory_id desc
  limit p_row_limit;
end;
$$;

-- How well the words of a memory match a query; null without a query. This is a function of PL/pgSQL, so that each
-- memory is looked up by its key.
create or replace function memory._word_rank(p_user_id text, p_memory_id uuid, p_any_word tsquery)
returns real
language plpgsql stable parallel safe
as $$
begin
  return case when p_any_word is not null then (
    select ts_rank(t.words, p_any_word) from memory.texts as t
    where t.user_id = p_user_id and t.source = 'memory' and t.id = p_memory_id::text) end;
end;
$$;

-- The best p_limit of the scored texts, with scores from 0 to 1 that count the features for which other tables are
-- read.
--
-- speaker: the query names a speaker, and another speaker with a name said the message.
-- day: the query names days, and the message is of them (0), of another day of the month (-0.5), or neither (-1).
-- reply: an assistant without a name said the message, because the answer is more often in the person's own words; or a
--   person without a name, if the query asks for the assistant's words (asks_the_assistant.sql).
-- use: of a memory that was wrong (memory.record_use()), how likely it is wrong by what was recorded of it, times
--   policy search.use_weight: the mean of a Beta distribution of its wrong and helpful outcomes (Laplace's rule of
--   succession, with one imagined helpful outcome and no imagined wrong one). Nothing rises because it was used: with a
--   prior that rises with uses, recall@1 of evidence that nobody had used fell by up to 3.7 points
--   (bench/results/uses.md).
create or replace function memory._judged_texts(
  p_user_id text, p_query text, p_scored memory._scored[], p_any_word tsquery, p_language regconfig,
  p_use_weight double precision, p_has_spaces boolean, p_limit int
)
returns memory._scored[]
language plpgsql stable parallel unsafe
as $$
declare
  meant constant jsonb := memory._days_meant(p_query, p_user_id);
  asks_the_assistant constant boolean := coalesce(memory._asks_the_assistant(p_query), false);
begin
  return array(
    with spoken as materialized (
      -- The speaker and the time of each message.
      select s.*, m.role, m.name, n.wrong_share,
        case when meant is not null and m.role is not null
          then memory._share_within(s.created_at, memory._zone_of(p_user_id, s.thread_id, s.number), meant)
        end as within
      from unnest(p_scored) as s
      left join lateral (
        select m.role, m.metadata ->> 'name' as name
        from memory.messages as m
        where s.source = 'message' and m.user_id = p_user_id and m.thread_id = s.thread_id and m.seq = s.number
        offset 0 -- so that each message is looked up by its key
      ) as m on true
      left join lateral (
        select n.wrong / (n.wrong + n.helpful + 1)::double precision as wrong_share
        from memory.memory_uses as n
        where p_use_weight > 0 and n.user_id = coalesce(case when p_has_spaces then s.thread_id end, p_user_id)
          and n.memory_id = case when s.source = 'memory' then s.id::uuid end and n.wrong > 0
        offset 0
      ) as n on true
    ), asked as (
      -- The speakers whom the query names.
      select n.name from (select distinct s.name from spoken as s where s.name is not null offset 0) as n -- parsed once
      where memory._text_vector(p_language, left(n.name, 200)) @@ p_any_word
    ), judged as (
      select s.source, s.id, s.thread_id, s.number, s.created_at, s.similarity, s.terms, s.vector_rank, s.keyword_rank,
        s.words, s.meaning, s.near, s.neighbour, s.length, s.relevance, s.score,
        (s.name not in (select a.name from asked as a) and exists (select from asked))::int::double precision
          as speaker,
        case when max(s.within) over () > 0 then s.within - 1 end as day,
        (s.name is null and (s.role = 'user') = asks_the_assistant)::int::double precision as reply,
        p_use_weight * s.wrong_share as use
      from spoken as s
    )
    select row(j.source, j.id, j.thread_id, j.number, j.created_at, j.similarity, j.terms, j.vector_rank,
               j.keyword_rank, j.words, j.meaning, j.near, j.neighbour, j.length, j.speaker, j.day, j.reply, j.use,
               j.relevance, 1 / (1 + exp(-j.logit)))::memory._scored
    from (
      select j.*, j.score + {{weight speaker}} * coalesce(j.speaker, 0) + {{weight day}} * coalesce(j.day, 0)
          + {{weight reply}} * coalesce(j.reply, 0) + {{weight use}} * coalesce(j.use, 0) as logit
      from judged as j
    ) as j
    order by j.logit desc, j.created_at desc, j.id collate "C" limit p_limit);
end;
$$;

-- How a text came to its score, as memory.search() returns it with explain: the value of each feature that it has, and
-- its part of the logarithm of the odds of the score.
create or replace function memory._explanation(
  p_text memory._scored, p_fusion text, p_model text, p_beside_messages boolean, p_is_approximate boolean
)
returns jsonb
language plpgsql immutable parallel safe
as $$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'vector', case when p_text.similarity is not null then jsonb_build_object(
      'rank', p_text.vector_rank, 'score', memory._real(p_text.similarity), 'model', p_model,
      'approximate', nullif(p_is_approximate and p_text.source = 'memory', false)) end,
    'keyword', case when p_text.words > 0 then jsonb_build_object(
      'rank', p_text.keyword_rank, 'score', memory._real(p_text.words), 'terms', p_text.terms) end,
    'fused', jsonb_build_object('by', p_fusion, 'score', memory._real(p_text.score)),
    'features', case when p_fusion in ('score', 'keyword') then (
      select jsonb_object_agg(f.name, jsonb_build_object('value', memory._real(f.value),
                                                         'part', memory._real(f.value * f.weight)))
      from (values
        ('meaning', p_text.meaning, {{weight meaning}}), ('words', p_text.words, {{weight words}}),
        ('near', p_text.near, {{weight near}}), ('neighbour', p_text.neighbour, {{weight neighbour}}),
        ('length', p_text.length, {{weight length}}), ('speaker', p_text.speaker, {{weight speaker}}),
        ('day', p_text.day, {{weight day}}), ('reply', p_text.reply, {{weight reply}}),
        ('use', p_text.use, {{weight use}}),
        ('memory', (p_text.source = 'memory')::int, {{weight memory}}),
        ('summary', (p_text.source = 'summary' and p_beside_messages)::int, {{weight summary}}),
        ('intercept', 1, {{weight intercept}})
      ) as f (name, value, weight)
      where f.value <> 0) end));
end;
$$;

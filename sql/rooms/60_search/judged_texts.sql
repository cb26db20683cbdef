-- The best p_limit of the scored texts, with their scores after the last step, which judges messages by their speakers,
-- their days and their figures, in the form that ranking.sql describes.
create or replace function memory._judged_texts(
  p_user_id text, p_query text, p_model text, p_scored memory._scored[], p_any_word tsquery, p_fusion text,
  p_language regconfig, p_limit int
)
returns memory._scored[]
language plpgsql stable parallel safe
as $$
declare
  meant constant jsonb := memory._days_meant(p_query, statement_timestamp());
  asks_the_assistant constant boolean := coalesce(memory._asks_the_assistant(p_query), false);
begin
  return array(
    with spoken as materialized (
      -- The speaker and the time of each message.
      select s.*, m.role, m.name,
        case when meant is not null then memory._share_within(s.created_at, meant) end as within
      from unnest(p_scored) as s
      left join lateral (
        select m.role, m.metadata ->> 'name' as name
        from memory.messages as m
        where s.source = 'message' and m.user_id = p_user_id and m.thread_id = s.thread_id and m.seq = s.number
        offset 0 -- so that each message is looked up by its key
      ) as m on true
    ), asked as (
      -- The speakers whom the query names.
      select n.name from (select distinct s.name from spoken as s where s.name is not null offset 0) as n -- parsed once
      where memory._text_vector(p_language, left(n.name, 200)) @@ p_any_word
    ), weighed as materialized (
      select j.*, j.result * coalesce(j.of_reply, 1) * coalesce(j.of_speaker, 1) * coalesce(j.of_dates, 1) as final
      from (
        select s.*,
          case when s.name is null and (s.role = 'user') = asks_the_assistant
            then 0.9::double precision end as of_reply,
          case when s.name not in (select a.name from asked as a) and exists (select from asked)
            then 0.8::double precision end as of_speaker,
          case when s.role is not null and max(s.within) filter (where s.role is not null) over () > 0
            then nullif(0.85 + 0.15 * s.within, 1) end as of_dates
        from spoken as s) as j
    ), newer as materialized (
      select n.*
      from (select array_agg(w.id) as ids, array_agg(w.similarity) as similarities, array_agg(w.final) as scores
            from (select w.* from weighed as w where p_fusion = 'score'
                  order by w.final desc, w.created_at desc, w.id collate "C" limit 50) as w
            where w.role = 'user' and w.similarity is not null) as b
      cross join lateral memory._newer_figures(p_user_id, p_model, b.ids, b.similarities, b.scores) as n
    )
    select row(w.source, w.id, w.thread_id, w.number, w.created_at, w.similarity, w.keyword, w.terms, w.vector_rank,
               w.keyword_rank, w.keyword_share, w.keyword_around, w.keyword_weight, w.score, w.neighbour, w.of_reply,
               w.of_speaker, w.of_dates, n.score, coalesce(n.score, w.final))::memory._scored
    from weighed as w
    left join newer as n on w.role = 'user' and n.id = w.id
    order by coalesce(n.score, w.final) desc, w.created_at desc, w.id collate "C" limit p_limit);
end;
$$;

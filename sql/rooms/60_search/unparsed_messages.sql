-- A search parses messages that neither a job nor a sweep has parsed yet.

-- The candidates with the words of the texts that are not parsed yet, if one of these words is in the query: of the
-- newest text whatever its cost, then of whole texts, newest first, until the budget is spent. Of the other texts the
-- first 200 characters are compared, beginning with those that have most words of the query. A text costs its bytes
-- (256 KiB at most) plus 100. Half a MiB is 3,000 short messages and takes 90 ms for prose, 300 ms for Chinese. The
-- search keeps no parsed words: a search that wrote to messages would hold their locks until its transaction ends, and
-- would wait for a session that clears the thread.
create or replace function memory._with_words(
  p_chosen memory._candidate[], p_words text[], p_any_word tsquery, p_language regconfig
)
returns memory._candidate[]
language plpgsql stable parallel safe
as $$
declare
  beginnings constant text[] := memory._beginnings(p_words);
  budget constant bigint := 524288;
  waiting record;
begin
  select count(c.content) as texts, sum(100 + least(octet_length(c.content), 262144)) as cost into waiting
  from unnest(p_chosen) as c
  where c.content is not null;
  if waiting.cost > budget then
    raise notice
      'degraded: % texts are not parsed yet; of all but the newest the first 200 characters are compared', waiting.texts
      using errcode = '01AM7', hint = 'A worker or memory.sweep() parses them.';
  end if;
  return array(
    with candidates as materialized (
      select f.*, case when f.content is not null then 100 + least(octet_length(f.content), 262144) end as cost
      from unnest(p_chosen) with ordinality
        as f (source, id, thread_id, number, created_at, similarity, vector, content, metadata, place)
    ), unparsed as materialized (
      select c.*, sum(c.cost) over newest_first as cost_so_far, row_number() over newest_first as age
      from candidates as c
      where c.content is not null
      window newest_first as (order by c.created_at desc, c.thread_id, c.number desc rows unbounded preceding)
    ), parsed as materialized (
      select p.place,
        case p.source
          when 'message' then memory._message_vector(p_language, p.said, p.metadata, p.created_at)
          else memory._text_vector(p_language, p.said) end as vector
      from (
        select u.*, u.content as said
        from unparsed as u
        where u.age = 1 or u.cost_so_far <= budget
        union all
        (select u.*
         from (
           select u.*, lower(left(u.content, 200)) as said
           from unparsed as u
           where u.age > 1 and u.cost_so_far > budget
           offset 0 -- so that each text is cut once
         ) as u
         cross join lateral (select memory._words_that_begin(u.said, beginnings) as words offset 0) as k
         where k.words > 0
         order by k.words desc, u.age limit 3000)
      ) as p
    )
    select row(c.source, c.id, c.thread_id, c.number, c.created_at, c.similarity,
               coalesce(c.vector, case when p.vector @@ p_any_word then p.vector end), null, null)::memory._candidate
    from candidates as c left join parsed as p on p.place = c.place
    order by c.place);
end;
$$;

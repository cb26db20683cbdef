-- The texts that no job has parsed yet, so that a search finds a text by its words as soon as the text is stored: the
-- newest 3,000 messages, and the first 64 KiB and the end of artifacts. A text costs its bytes (256 KiB at most) plus
-- 100. If all texts cost at most half a MiB, all are parsed: that is 3,000 short messages, and takes 90 ms for prose,
-- 300 ms for Chinese. Otherwise the function parses the newest text, and the first 8 KiB of other texts until half a
-- MiB is spent, beginning with the texts that may have most words of the query. The search keeps no parsed words: a
-- search that wrote would hold locks until its transaction ends. matched is null for a text without words of the query.
create or replace function memory._unread_candidates(
  p_user_id text, p_agent_id text, p_sources text[], p_filters memory._search_filters, p_words text[],
  p_queries tsquery[], p_any_word tsquery, p_language regconfig
)
returns setof memory._candidate
language plpgsql stable parallel safe
as $$
declare
  budget constant bigint := 524288;
  found record;
begin
  -- Nearly always there is none. This question takes a tenth of the time of the statement below.
  if not (
    'message' = any (p_sources)
      and exists (
        select from memory._unread_messages(p_user_id, p_filters.thread_id, 1, p_filters.exclude_thread_id))
    {{each addon with unread: or exists (select from memory._<addon>_unread(p_user_id, p_sources))}}
  ) then
    return;
  end if;
  for found in
    -- These rows only refer to the contents. PostgreSQL fetches a content when the step "compared" takes it or its
    -- beginning: 3,000 contents may have 30 GB.
    with unread as materialized (
      select 'message' as source, m.thread_id || '/' || m.seq as id, m.thread_id, m.seq as number, m.agent_id,
        m.created_at, m.metadata, memory._said_in_message('', m.metadata, m.created_at) as about, m.content
      from memory._unread_messages(p_user_id, p_filters.thread_id, 3000, p_filters.exclude_thread_id) as m
      where 'message' = any (p_sources)
      {{each addon with unread: union all select a.* from memory._<addon>_unread(p_user_id, p_sources) as a}}
    ), passing as materialized (
      select u.*, row_number() over (order by u.created_at desc, u.thread_id, u.number desc) as age,
        sum(100 + least(octet_length(u.content), 262144)) over () as cost
      from unread as u
      where memory._is_asked_for(u.source, u.thread_id, u.agent_id, u.created_at, p_agent_id, p_filters)
        and (p_filters.filter is null or u.metadata @> p_filters.filter)
    ), compared as materialized (
      select p.source, p.id, p.thread_id, p.number, p.created_at, p.age, p.cost,
        p.about || case when p.age = 1 or p.cost <= budget then p.content else left(p.content, 8192) end as said
      from passing as p
    ), parsed as (
      select c.*, case when c.age = 1 or c.so_far <= budget then memory._text_vector(p_language, c.said) end as words
      from (
        select c.*, sum(100 + least(octet_length(c.said), 262144)) over (
            order by c.age = 1 desc, c.hits desc, c.age rows unbounded preceding) as so_far
        from (select c.*, case when c.cost > budget
                         then memory._words_that_begin(
                           memory._folded(lower(c.said)), (select memory._beginnings(p_words))) end as hits
              from compared as c) as c) as c
      offset 0
    )
    select p.id, row(p_user_id, p.source, p.id, p.thread_id, p.number, p.created_at, null,
        case when p.words @@ p_any_word then array(
          select n from generate_subscripts(p_queries, 1) as n where p.words @@ p_queries[n]) end,
        length(p.words))::memory._candidate as text,
      n.unread, p.cost > budget or n.messages >= 3000 as are_some_left_out
    from (select count(*) as unread, count(*) filter (where u.source = 'message') as messages from unread as u) as n
    left join parsed as p on true
  loop
    if found.id is not null then
      return next found.text;
    end if;
  end loop;
  if found.are_some_left_out then
    raise notice 'degraded: % or more texts are not parsed yet; not all of them are found by their words', found.unread
      using errcode = '01AM7', hint = 'A worker or memory.sweep() parses them.';
  end if;
end;
$$;

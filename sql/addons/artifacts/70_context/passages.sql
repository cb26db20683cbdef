-- needs pgvector on the search_path

-- The passages of artifacts that say most about a query, best first. Each passage is a line or a piece of a long line.
--
-- The function ranks parts of artifacts first, by two values: the idf of the query's words that a part has (among equal
-- parts the one whose words stand nearer to each other comes first); and the part's similarity to the query, as far as
-- it is above the average. Then the function parses the lines of the best parts. A line gets the whole weight of a word
-- that stands in the line, less if the word stands in a line around it, and half if the word stands in the key or the
-- description of the artifact. The score is the line's share of the weight of all words of the query.
--
-- p_max_parts limits the parts that are read; the parts at the beginning of each artifact come first.
create or replace function memory._passages_about(
  p_asking memory._asking, p_keys text[], p_max_parts int, p_max_passages int
)
returns setof memory._passage
language plpgsql stable parallel safe
set enable_sort = off -- so that "order by key" looks up artifacts by primary key, also in a plan for an empty table
set enable_nestloop = off -- as in memory._ranked()
set enable_mergejoin = off
as $$
declare
  -- The share of its weight that a word has for the lines around its own line, by their distance.
  decay constant double precision[] := array[0.8, 0.7, 0.6, 0.5, 0.5, 0.4, 0.4, 0.3]::double precision[];
  language constant regconfig := (p_asking.policy #>> '{search,language}')::regconfig;
  lexemes text[];
  words tsquery[];
  all_words tsquery;
  beginnings text; -- a regular expression that finds lines which may have a word of the query
begin
  -- A longer word also matches words that begin with it: "mail" matches "mailer".
  select array_agg(q.lexeme order by q.place),
    array_agg((quote_literal(q.lexeme) || case when length(q.lexeme) > 3 then ':*' else '' end)::tsquery
              order by q.place),
    string_agg(regexp_replace(memory._beginning(q.lexeme), '([^[:alnum:]])', e'\\\1', 'g'), '|')
  into lexemes, words, beginnings
  from unnest(memory._query_words(memory._languages(p_asking.user_id, null, language::text), p_asking.query, 100))
    with ordinality as q (lexeme, place);
  all_words := array_to_string(words, ' & ')::tsquery;
  if words is null and p_asking.target is null then
    return;
  end if;
  return query
  with named as materialized (
    select a.key, a.content_id, k.place, case when memory._folded(lower(a.said)) ~ beginnings
        then memory._word_numbers(memory._text_vector(language, a.said), words) end as numbers
    from unnest(p_keys) with ordinality as k (key, place)
    cross join lateral (
      select c.key, c.content_id, concat_ws(e'\n', c.key, c.description) as said
      from memory._current_artifacts(p_asking.user_id) as c
      where c.key between k.key and k.key order by c.key limit 1) as a
  ), parts as materialized (
    select row_number() over () as part, p.*, avg(p.similarity) over () as usual
    from (
      select n.key, n.content_id, n.place, n.numbers as about, p.*
      from named as n
      cross join lateral memory._part_texts(
        p_asking.user_id, n.key, n.content_id, p_asking.model, p_asking.target, p_max_parts) as p
      order by p.first_byte, n.place limit p_max_parts) as p
  ), unparsed as materialized (
    -- Of the first 8 MiB that no job has parsed yet, the statement parses half a MiB, as a search does: the parts that
    -- have most words of the query.
    select u.part, u.unparsed, sum(octet_length(u.unparsed)) over (order by u.found desc, u.part) as cost
    from (
      select u.part, u.unparsed, memory._words_that_begin(
          memory._folded(lower(u.unparsed)), memory._beginnings(lexemes)) as found
      from (select p.part, p.unparsed, sum(octet_length(p.unparsed)) over (order by p.part) as size
            from parts as p where p.unparsed is not null) as u
      where u.size <= 8388608
      offset 0) as u
    where u.found > 0
  ), worded as materialized (
    select v.part, v.vector, memory._word_numbers(v.vector, words) as numbers
    from (
      select p.part, coalesce(p.vector, memory._text_vector(language, u.unparsed)) as vector
      from parts as p left join unparsed as u on u.part = p.part and u.cost <= 524288
      offset 0) as v
  ), word_weights as materialized (
    -- The weight of each word, divided by the weight of all words.
    select i.number, i.idf / nullif(sum(i.idf) over (), 0) as share
    from (
      select u.number, memory._idf((select count(*) from parts), count(*)) as idf
      from worded as w cross join unnest(w.numbers) as u (number)
      group by u.number) as i
  ), best_parts as materialized (
    select p.part, p.key, p.content_id, p.place, p.about, p.first_byte, g.gain
    from parts as p
    join worded as w on w.part = p.part
    cross join lateral (
      select coalesce(least(greatest((p.similarity - p.usual - 0.15) / 0.35, 0), 1), 0) as gain) as g
    cross join lateral (
      select coalesce(sum(i.share * case when i.number = any (w.numbers) then 1 else 0.5 end), 0) as share
      from word_weights as i where i.number = any (w.numbers) or i.number = any (p.about)) as k
    where g.gain > 0 or k.share > 0
    order by k.share + g.gain desc,
      ts_rank('{0.001,0.001,0.001,0.001}', w.vector, all_words) desc nulls last, p.part
    limit 2 * (4 + p_max_passages)
  ), pieces as materialized (
    select b.part, row_number() over of_part as piece, coalesce(sum(octet_length(s.said) + s.is_end) over (
        of_part rows between unbounded preceding and 1 preceding), 0)::int + b.first_byte as first_byte,
      octet_length(s.said) as bytes,
      case when lower(s.said) ~ beginnings then memory._word_numbers(
        memory._text_vector(language, s.said), words) end as numbers
    from best_parts as b
    cross join lateral (
      select q.content from memory.artifact_parts as q
      where q.user_id = p_asking.user_id and q.content_id = b.content_id and q.first_byte = b.first_byte offset 0) as q
    cross join lateral string_to_table(q.content, e'\n') with ordinality as l (said, line)
    cross join lateral (
      select c.start, substr(l.said, c.start, 300) as said, (c.start + 300 > length(l.said))::int as is_end
      from generate_series(1, greatest(length(l.said), 1), 300) as c (start)) as s
    window of_part as (partition by b.part order by l.line, s.start)
  ), weights as materialized (
    select w.number, memory._idf((select count(*) from pieces), coalesce(f.found, 0)) as idf
    from generate_subscripts(words, 1) as w (number)
    left join (select u.number, count(*) as found from pieces as p cross join unnest(p.numbers) as u (number)
               group by u.number) as f on f.number = w.number
  ), spread as materialized (
    select u.part, u.piece, u.number, max(u.weight) as weight
    from (
      select p.part, p.piece + o.step as piece, n.number,
        case o.step when 0 then 1 else decay[abs(o.step)] end as weight
      from pieces as p
      cross join unnest(p.numbers) as n (number)
      cross join generate_series(-8, 8) as o (step)
      union all
      select p.part, p.piece, n.number, 0.5
      from best_parts as b
      join pieces as p on p.part = b.part
      cross join unnest(b.about) as n (number)) as u
    group by u.part, u.piece, u.number
  ), shares as materialized (
    select s.part, s.piece, sum(s.weight * w.idf) / (select sum(i.idf) from weights as i) as share
    from spread as s join weights as w on w.number = s.number
    group by s.part, s.piece
  ), peaks as (
    -- Of lines next to each other, only the line with the greatest share stays.
    select s.part, s.piece, s.share
    from (select s.*, max(s.share) over (near range between 8 preceding and 1 preceding) as before,
            max(s.share) over (near range between 1 following and 8 following) as after
          from shares as s
          window near as (partition by s.part order by s.piece)) as s
    where s.share > coalesce(s.before, 0) and s.share >= coalesce(s.after, 0)
    union all
    -- If no word shows which line of a part is relevant, the passage is the beginning of the part.
    select b.part, 1, null
    from best_parts as b
    where b.gain > 0 and b.part not in (select s.part from shares as s)
  )
  select b.key, b.content_id, p.first_byte, p.first_byte + case when t.share is null then 1200 else p.bytes end,
    1 - (1 - coalesce(t.share, 0)) * (1 - 0.5 * b.gain) as score
  from peaks as t
  join best_parts as b on b.part = t.part
  join pieces as p on p.part = t.part and p.piece = t.piece
  order by score desc, b.place, p.first_byte limit p_max_passages;
end;
$$;

-- The numbers of the words that a text has. A loop takes a third of the time of a statement.
create or replace function memory._word_numbers(p_vector tsvector, p_words tsquery[])
returns int[]
language plpgsql immutable parallel safe
as $$
declare
  numbers int[];
begin
  for number in 1 .. cardinality(p_words) loop
    if p_vector @@ p_words[number] then
      numbers := numbers || number;
    end if;
  end loop;
  return numbers;
end;
$$;

-- The passages as text, one row for each artifact: the lines with their numbers, with p_around bytes before and after
-- each passage as far as these bytes are whole lines. "[...]" stands for lines that are left out, "..." for the rest of
-- a line. For a table the text also has the line with the names of the columns. score is the score of the artifact's
-- best passage.
create or replace function memory._passages_shown(p_user_id text, p_passages memory._passage[], p_around int)
returns table (key text, ref text, said text, score double precision)
language plpgsql stable parallel safe
set enable_sort = off -- as in memory._passages_about()
as $$
#variable_conflict use_column
begin
  return query
  with named as materialized (
    select a.key, a.content_id, a.description, memory._memory_ref(a.key, a.description, a.token_count) as ref, k.score,
      z.first_byte + octet_length(convert_to(z.content, 'UTF8')) as bytes
    from (select p.key, max(p.score) as score from unnest(p_passages) as p group by p.key) as k
    cross join lateral (
      select c.* from memory._current_artifacts(p_user_id) as c
        where c.key between k.key and k.key order by c.key limit 1) as a
    cross join lateral (
      select q.first_byte, q.content from memory.artifact_parts as q
      where q.user_id = p_user_id and q.content_id = a.content_id
      order by q.first_byte desc limit 1) as z
  ), windows as materialized (
    select p.content_id, p.first_byte, p.end_byte, greatest(p.first_byte - p_around, 0) as starts,
      p.end_byte + p_around as ends
    from unnest(p_passages) as p
    union all
    select n.content_id, 0, h.bytes, 0, h.bytes
    from named as n
    cross join lateral (
      select octet_length(convert_to(left(split_part(q.content, e'\n', 1) || e'\n', 500), 'UTF8')) as bytes
      from memory.artifact_parts as q
      where q.user_id = p_user_id and q.content_id = n.content_id and q.first_byte = 0 offset 0) as h
    where n.description ~ '(CSV|TSV|table), [0-9,]+ rows?: '
  ), ranges as materialized (
    select r.content_id, lower(u.range) as starts, upper(u.range) as ends
    from (select w.content_id, range_agg(int4range(w.starts, w.ends)) as range from windows as w
          group by w.content_id) as r
    cross join unnest(r.range) as u (range)
  ), read as materialized (
    select n.key, n.ref, n.score, n.bytes, r.starts, memory._numbered_lines(
        t.said, t.read_from, t.first_line, r.starts, c.first_byte, c.end_byte, r.ends, n.bytes) as said, r.ends
    from ranges as r
    join named as n on n.content_id = r.content_id
    cross join lateral (
      select min(w.first_byte) as first_byte, max(w.end_byte) as end_byte
      from windows as w where w.content_id = r.content_id and w.starts >= r.starts and w.ends <= r.ends) as c
    cross join lateral (
      select min(q.first_byte) as read_from, min(q.first_line) as first_line,
        string_agg(q.content, '' order by q.first_byte) as said
      from memory.artifact_parts as q
      where q.user_id = p_user_id and q.content_id = r.content_id and q.first_byte < r.ends and q.first_byte >= (
        select max(f.first_byte) from memory.artifact_parts as f
        where f.user_id = p_user_id and f.content_id = r.content_id and f.first_byte <= r.starts)) as t
  )
  select r.key, r.ref,
    string_agg(case when r.starts > 0 then e'[...]\n' else '' end || r.said, e'\n' order by r.starts)
      || case when max(r.ends) < max(r.bytes) then e'\n[...]' else '' end, r.score
  from read as r
  group by r.key, r.ref, r.score;
end;
$$;

-- The numbered lines of p_said from the byte p_first_byte to p_end_byte, and whole lines around them between p_starts
-- and p_ends. p_said begins at the byte p_read_from of the content, in the line p_first_line (counted from 0).
create or replace function memory._numbered_lines(
  p_said text, p_read_from int, p_first_line int, p_starts int, p_first_byte int, p_end_byte int, p_ends int,
  p_bytes int
)
returns text
language plpgsql immutable parallel safe
as $$
declare
  before constant text := memory._byte_slice(p_said, 0, p_first_byte - p_read_from);
  head text := memory._byte_slice(p_said, p_starts - p_read_from, p_first_byte - p_read_from);
  core constant text := memory._byte_slice(p_said, p_first_byte - p_read_from, p_end_byte - p_read_from);
  tail text := memory._byte_slice(p_said, p_end_byte - p_read_from, p_ends - p_read_from);
  line int;
begin
  if p_starts > 0 then
    head := case when strpos(head, e'\n') > 0 then substr(head, strpos(head, e'\n') + 1)
      else '...' || regexp_replace(head, e'^\\S{0,50}\\s', '') end;
  end if;
  if p_ends < p_bytes and strpos(tail, e'\n') > 0 then
    tail := regexp_replace(tail, e'\n[^\n]*$', '');
  elsif p_ends < p_bytes and right(core, 1) <> e'\n' then
    tail := regexp_replace(tail, e'\\s\\S{0,50}$', '') || '...';
  end if;
  line := p_first_line + memory._line_breaks(before) - memory._line_breaks(head);
  return (
    select string_agg(line + l.place || ': ' || rtrim(l.said, e'\r'), e'\n' order by l.place)
    from string_to_table(regexp_replace(head || core || tail, e'\n$', ''), e'\n') with ordinality as l (said, place));
end;
$$;

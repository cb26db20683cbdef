-- The passage of a long text that says most about a query. The passage is about p_tokens long, and up to a quarter
-- longer, so that it begins and ends with a sentence. If the text has no word of the query, the result is the beginning
-- of the text. p_content may have at most 64 KiB, because the function parses the whole text.
create or replace function memory._passage(p_language regconfig, p_content text, p_query text, p_tokens int)
returns text
language plpgsql immutable parallel safe
as $$
declare
  -- A passage is four segments long. Four bytes count as a token.
  segment constant int := greatest(p_tokens::bigint * length(p_content) / greatest(octet_length(p_content), 1), 1);
  size constant int := length(p_content);
  words constant text[] := array(
    select v.lexeme from unnest(memory._text_vector(p_language, left(p_query, 8000))) as v
    order by v.positions[1], v.lexeme limit 200);
  skipped int; -- the number of characters before the passage
  ends int;
  before text;
  after text;
begin
  if size <= 4 * segment then
    return btrim(p_content, e' \t\r\n');
  end if;
  -- The fewer segments have a word, the more the word counts. A word in one of the two inner segments counts a tenth
  -- more, so that the passage has the words of the query in its middle.
  with hits as materialized (
    select g.number, v.lexeme as word, 1.0 / count(*) over (partition by v.lexeme) as weight
    from generate_series(0, (size - 1) / segment) as g (number)
    -- Each segment is read with 50 characters more, because a word that begins in a segment usually ends within them.
    cross join lateral unnest(
      memory._text_vector(p_language, substr(p_content, g.number * segment + 1, segment + 50))) as v
    where v.lexeme = any (words)
  )
  select w.first * segment into skipped
  from (
    select p.first, sum(p.weight) as weight
    from (
      select f.first, s.word, max(s.weight * case when s.number - f.first in (1, 2) then 1.1 else 1 end) as weight
      from hits as s
      cross join generate_series(greatest(s.number - 3, 0), s.number) as f (first)
      group by f.first, s.word) as p
    group by p.first
    order by weight desc, p.first limit 1) as w;
  skipped := least(coalesce(skipped, 0), size - 4 * segment);
  ends := skipped + 4 * segment;
  -- The passage begins with the sentence that its first segment continues, or, if that sentence begins more than half a
  -- segment before, with the current word. The passage ends with the current sentence, or else with the current word.
  before := right(left(p_content, skipped), segment / 2);
  after := substr(p_content, ends + 1, segment / 2);
  return btrim(
    case
      when length(before) < segment / 2 then before -- the whole text begins there
      else coalesce(
        substring(before from e'^.*(?:[.!?]["\'\\u201d\\u2019\\u00bb)\\]]*\\s|[\\u3002\\uff01\\uff1f]|\\n)(.*)$'),
        substring(before from e'(\\S{0,50})$')) end
      || substr(p_content, skipped + 1, 4 * segment)
      || coalesce(
        substring(after from e'^.*?(?:[.!?]["\'\\u201d\\u2019\\u00bb)\\]]*(?=\\s|$)|[\\u3002\\uff01\\uff1f]|\\n)'),
        substring(after from e'^\\S{0,50}')),
    e' \t\r\n');
end;
$$;

-- The threads that have all words of a search in their title or in one of their readable messages. Each form that
-- memory._query_words() gives stands for its word. Of a word in a script without spaces each pair of characters must
-- occur.
create or replace function memory._threads_with_words(p_user_id text, p_search text)
returns setof text
language plpgsql stable parallel safe
set enable_bitmapscan = on -- for texts_keys_idx
set plan_cache_mode = force_custom_plan -- a plan for any words would not take the index of words
as $$
declare
  language constant regconfig := memory._language(p_user_id, null);
  own constant regconfig := memory._language_of(p_search, language, to_tsvector(language, p_search));
  languages regconfig[] := memory._languages(p_user_id, null, language::text, p_search);
  telling text[]; -- words of the search without stop words, unless there are no others
  typed text;
  forms text[];
  asked text;
  longest text[]; -- forms of the longest word, which few messages have as a rule
  needed text[] := array[]::text[]; -- forms of words that have only one form
  longest_keys int[];
  beginnings text[];
begin
  if own <> all (languages) then
    languages := languages || own;
  end if;
  telling := memory._query_words(languages, p_search, 200);
  for typed in
    select v.lexeme from unnest(to_tsvector('simple', memory._with_blanks(p_search))) as v
    order by length(v.lexeme) desc, v.lexeme limit 20
  loop
    forms := array(
      select l from unnest(tsvector_to_array(memory._text_vector('simple', typed))) as l
      where length(l) = 2 and octet_length(l) >= 6);
    if forms <> '{}' then
      asked := concat_ws(' & ', asked, (select string_agg(quote_literal(f), ' & ') from unnest(forms) as f));
      needed := needed || forms;
      forms := forms[:1];
    else
      forms := array(select f from unnest(memory._query_words(languages, typed, 20)) as f where f = any (telling));
      continue when forms = '{}'; -- skips a word that says nothing, such as "the"
      asked := concat_ws(' & ', asked, (
        select '(' || string_agg(quote_literal(f), ' | ') || ')' from unnest(forms) as f));
    end if;
    needed := needed || case when cardinality(forms) = 1 then forms end;
    longest := coalesce(longest, forms);
  end loop;
  longest_keys := array(select memory._word_key(p_user_id, f) from unnest(longest) as f);
  beginnings := memory._beginnings(needed);

  return query
  select t.thread_id
  from memory.threads as t
  where t.user_id = p_user_id and t.title is not null
    and (strpos(lower(t.title), lower(p_search)) > 0 or memory._text_vector(language, t.title) @@ asked::tsquery)
  union
  select t.thread_id
  from (select m.* from memory.texts as m where m.keys && longest_keys offset 0) as t
  where t.user_id = p_user_id and t.valid_until > statement_timestamp() and t.words @@ asked::tsquery
  union
  -- Searches messages that neither a job nor a sweep has parsed. It parses only those that may have all words.
  select m.thread_id
  from memory._unread_messages(p_user_id, null, 2147483647) as m
  where memory._words_that_begin(memory._folded(lower(m.content)), beginnings) = cardinality(beginnings)
    and memory._text_vector(language, memory._said_in_message(m.content, m.metadata, m.created_at)) @@ asked::tsquery;
end;
$$;

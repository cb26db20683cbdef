-- The threads that have all words of a search in their title or in one of their messages that can be read. A word may
-- stand there in each form that memory._query_words() gives. Of words in scripts without spaces each pair of characters
-- must stand there.
create or replace function memory._threads_with_words(p_user_id text, p_search text)
returns setof text
language plpgsql stable parallel safe
set plan_cache_mode = force_custom_plan -- a plan for any words would not take the index of words
as $$
declare
  language constant regconfig := memory._language(p_user_id, null);
  own constant regconfig := memory._language_of(p_search, language, to_tsvector(language, p_search));
  languages regconfig[] := memory._languages(p_user_id, null, language::text);
  typed text;
  forms text[];
  words text;
  longest text[]; -- forms of the longest word, which few messages have as a rule
  needed text[] := array[]::text[]; -- forms that stand for no other form
  keys int[];
  beginnings text[];
begin
  if own <> all (languages) then
    languages := languages || own;
  end if;
  for typed in
    select v.lexeme from unnest(to_tsvector('simple', memory._with_blanks(p_search))) as v
    order by length(v.lexeme) desc, v.lexeme limit 20
  loop
    forms := array(
      select l from unnest(tsvector_to_array(memory._text_vector('simple', typed))) as l
      where length(l) = 2 and octet_length(l) >= 6);
    if forms <> '{}' then
      words := concat_ws(' & ', words, (select string_agg(quote_literal(f), ' & ') from unnest(forms) as f));
      needed := needed || forms;
      forms := forms[:1];
    else
      forms := memory._query_words(languages, typed, 20);
      continue when forms = '{}'; -- a word that says nothing, such as "the"
      words := concat_ws(' & ', words, (
        select '(' || string_agg(quote_literal(f), ' | ') || ')' from unnest(forms) as f));
    end if;
    needed := needed || case when cardinality(forms) = 1 then forms end;
    longest := coalesce(longest, forms);
  end loop;
  keys := array(select memory._word_key(p_user_id, f) from unnest(longest) as f);
  beginnings := memory._beginnings(needed);

  return query
  select t.thread_id
  from memory.threads as t
  where t.user_id = p_user_id and t.title is not null
    and (strpos(lower(t.title), lower(p_search)) > 0 or memory._text_vector(language, t.title) @@ words::tsquery)
  union
  select m.thread_id
  from (select m.* from memory.messages as m where m.search_keys && keys offset 0) as m
  where m.user_id = p_user_id and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
    and m.search_vector @@ words::tsquery
  union
  -- Messages that neither a job nor a sweep has parsed yet. Only those are parsed whose content may have all words, up
  -- to the first one of the thread that has them.
  select t.thread_id
  from memory.threads as t
  cross join lateral ( -- by the key of each: a join may read all marks of the user for each thread
    select coalesce((select m.position from memory.marks as m
                     where m.user_id = p_user_id and m.scope = t.thread_id and m.kind = 'words'), -1) as position
    offset 0) as k
  where t.user_id = p_user_id and t.settled_at is null and t.next_seq - 1 > k.position
    and exists (
      select from memory.messages as m
      where m.user_id = p_user_id and m.thread_id = t.thread_id and m.seq > k.position
        and m.search_keys is null and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
        and memory._words_that_begin(lower(m.content), beginnings) = cardinality(beginnings)
        and memory._message_vector(language, m.content, m.metadata, m.created_at) @@ words::tsquery);
end;
$$;

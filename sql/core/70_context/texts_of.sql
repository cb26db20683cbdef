-- needs pgvector on the search_path

-- What this room reads of the words and the embeddings of texts. No other file of the room does.

-- One of the names that earlier messages or memories of the user have; null when they have none. The function reads
-- parsed messages only, and a thousand memories at most, which takes a millisecond. It skips messages of this thread
-- from p_from_seq on, because the context shows them. If very many messages have a name, the index returns about a
-- thousand of them: the search for one name among 210,000 messages takes 7 ms of processor time, and 32 ms without that
-- limit.
create or replace function memory._remembered_name(
  p_user_id text, p_thread_id text, p_names text[], p_from_seq bigint, p_language text
)
returns text
language plpgsql stable parallel safe
set enable_bitmapscan = on -- for texts_keys_idx
set gin_fuzzy_search_limit = 1000
as $$
declare
  languages constant regconfig[] := memory._languages(p_user_id, null, p_language);
  forms constant text[] := memory._query_words(languages, array_to_string(p_names, ' '), 200);
  vector tsvector;
begin
  if forms = '{}' then
    return null;
  end if;
  select t.words into vector
  from (
    select m.* from memory.texts as m
    where m.keys && array(select memory._word_key(p_user_id, w.word) from unnest(forms) as w (word))
    offset 0 -- as in memory._worded()
  ) as t
  where t.user_id = p_user_id
    and not (t.thread_id = p_thread_id and t.number >= p_from_seq) is true
    and t.valid_until > statement_timestamp()
  limit 1;
  if not found then
    select m.words into vector
    from (
      select t.words from memory.texts as t
      where t.user_id = p_user_id and t.source = 'memory' and t.valid_until > statement_timestamp()
      limit 1000) as m
    where tsvector_to_array(m.words) && forms
    limit 1;
  end if;
  return (
    select n.name from unnest(p_names) as n (name) cross join unnest(languages) as l (language)
    where vector @@ plainto_tsquery(l.language, n.name) limit 1);
end;
$$;

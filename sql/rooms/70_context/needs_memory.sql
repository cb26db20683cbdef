create or replace function memory.needs_memory(user_id text, thread_id text, query text)
returns memory.memory_need
language plpgsql stable parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  -- The first test only saves time: the second test takes 50 ms for 10 MB.
  if (left(query, 1000) ~ e'\\S' or query ~ e'\\S') is not true then
    perform memory._refuse('query', case when query is null then 'must not be null' else 'must not be empty' end,
      'Pass what the user asks for, as the user wrote it.');
  end if;
  return memory._needs_memory(user_id, thread_id, null, query, memory._policy(user_id, null));
end;
$$;
comment on function memory.needs_memory(text, text, text) is
'Whether a request of the user needs memory: decision "search" if it is vague or about the user''s past, "skip" if it '
'is concrete or if the recent messages of the thread say what it refers to. Rules decide, no model is asked. reason '
'says why in words, details has the score, the score from which on memory is searched, and each sign with its weight.';

-- The decision for a request. The function looks for signs in the user's own text, without code and quoted text; in a
-- long request it looks at the first 1,000 and the last 500 characters.
create or replace function memory._needs_memory(
  p_user_id text, p_thread_id text, p_agent_id text, p_query text, p_policy jsonb
)
returns memory.memory_need
language plpgsql stable parallel safe
set enable_sort = off -- as in memory._newest_units()
set enable_bitmapscan = off
set jit = off
as $$
declare
  read constant text := case when octet_length(p_query) > 1500 and length(p_query) > 1500
    then left(p_query, 1000) || e'\n' || right(p_query, 500) else p_query end;
  -- without code blocks and quoted text
  own_words constant text := regexp_replace(
    regexp_replace(read, e'```.*?(```|$)', ' ', 'g'),
    e'(^|[\\s(])(["`\\u201c\\u201e\\u00ab].*?["`\\u201c\\u201d\\u00bb]|''.*?''(?!\\w))', e'\\1 ', 'g');
  said constant text := memory._request_words(own_words);
  recent record;
  names text[]; -- capitalised words that do not begin a sentence
  signs jsonb;
  score numeric;
  search_from constant numeric := 0.5; -- the sum of weights from which on a request needs a search
  decision text;
  strongest jsonb; -- the sign that gives the reason
begin
  -- The words of the thread's newest ten messages without the request itself, in lower case, and whether a user or a
  -- tool has named a subject there, that is, has said more than a greeting.
  select coalesce(lower(string_agg(r.said, e'\n')), '') as words,
    coalesce(bool_or(r.role in ('user', 'tool') and r.said ~ e'\\S+\\s+\\S+\\s+\\S'), false) as names_something,
    min(r.seq) as oldest_seq
  into recent
  from (
    select m.seq, m.role, left(memory._without_recalled(left(m.content, 65536)), 2000) as said
    from memory._active_messages(p_user_id, p_thread_id, p_agent_id) as m
    order by m.seq desc limit 10
  ) as r
  where not (r.role = 'user' and btrim(r.said, e' \t\r\n') = btrim(left(p_query, 2000), e' \t\r\n'));
  names := array(
    select n[1] from regexp_matches(
      own_words, e'(?<=[[:alnum:],(] )([[:upper:]][[:alnum:]]+(?:-[[:alnum:]]+)*)', 'g') as n limit 5);
  with phrases as (
    -- The longest phrase for each sign.
    select distinct on (p.sign) p.sign, f.phrase
    from (
      select r.sign, r.phrases from memory._request_phrases() as r
      union all
      select 'trigger', array(
        select memory._plainly_spelled(t.phrase)
        from jsonb_array_elements_text(p_policy #> '{knowledge_base,search_triggers}') as t (phrase)
        where t.phrase ~ e'\\S')
    ) as p
    cross join lateral unnest(p.phrases) as f (phrase)
    -- In Chinese and Japanese, whose letters have three bytes, a phrase may stand inside a longer text without spaces.
    -- The first condition only saves time: the other conditions take three times as long.
    where strpos(said, f.phrase) > 0
      and (octet_length(f.phrase) = 3 * length(f.phrase) or strpos(said, ' ' || f.phrase || ' ') > 0)
      -- After the first 45 characters a pronoun refers to a noun of the request itself.
      and not (p.sign = 'reference' and strpos(said, f.phrase) > 45)
      and not (p.sign = 'telling' and strpos(said, '?') > 0)
      and not (p.sign = 'greeting' and (strpos(said, '?') > 0 or length(said) > 50))
    order by p.sign, length(f.phrase) desc, f.phrase
  ), details as (
    select f.sign, f.phrase from memory._found_details(read, own_words, said, names, recent.words) as f
    union all
    select 'remembered', memory._remembered_name(
      p_user_id, p_thread_id, p_agent_id, names, recent.oldest_seq, (p_policy #>> '{search,language}')::regconfig)
  ), known as (
    select f.sign, f.phrase, case f.sign
        when 'reference' then recent.names_something
        when 'said before' then recent.names_something
        when 'particular' then memory._is_named(f.phrase, recent.words)
        when 'event' then strpos(recent.words, lower(f.phrase)) > 0
        else false end as is_resolved
    from (select p.* from phrases as p union all select d.* from details as d) as f
    where f.phrase is not null
      -- "Connect to AgentFusion" names its target, so the request lacks no parameter.
      and not (f.sign = 'parameter' and exists (
        select from details as d where d.sign = 'identifier' and d.phrase <> ''))
  ), weighed as (
    -- "Connect to the DB" lacks no parameter if the recent messages name the database.
    select k.sign, k.phrase, s.says, s.weight,
      k.is_resolved or k.sign = 'parameter' and bool_or(k.is_resolved) over () as is_resolved
    from known as k join memory._request_signs() as s on s.sign = k.sign
  )
  select
    jsonb_agg(jsonb_build_object(
      'sign', w.sign, 'found', left(btrim(w.phrase, '^$ '), 100), 'says', w.says, 'weight', v.weight,
      'is_resolved', w.is_resolved) order by v.weight desc, w.is_resolved desc, w.sign),
    coalesce(sum(v.weight), 0)
  into signs, score
  from weighed as w cross join lateral (select case when w.is_resolved then 0 else w.weight end as weight) as v;
  decision := case when score >= search_from then 'search' else 'skip' end;
  -- The reason for "search" is the strongest sign; for "skip" a reference that the recent messages resolve, or else the
  -- sign that speaks most against a search.
  strongest := case decision
    when 'search' then signs -> 0
    else coalesce(
      jsonb_path_query_first(signs, '$[*] ? (@.is_resolved == true)'),
      jsonb_path_query_first(signs, '$[last] ? (@.weight < 0)')) end;
  return row(
    decision,
    case
      when strongest is null then 'The request points to nothing that was said before.'
      when (strongest ->> 'is_resolved')::boolean
        then format('The recent messages say what "%s" means.', strongest ->> 'found')
      else format('The request %s: "%s".', strongest ->> 'says', strongest ->> 'found') end,
    jsonb_build_object(
      'score', score, 'search_from', search_from, 'signs', coalesce(signs, '[]')))::memory.memory_need;
end;
$$;

-- The signs that do not depend on phrases: particular things, events, and details that make a request concrete. p_read
-- is the request, p_own_words the request without quoted text, p_said its words, p_names its names, p_recent the words
-- of the recent messages.
create or replace function memory._found_details(
  p_read text, p_own_words text, p_said text, p_names text[], p_recent text
)
returns table (sign text, phrase text)
language plpgsql stable parallel safe
as $$
declare
  words constant text[] := string_to_array(btrim(p_said), ' ');
begin
  return query
  select 'particular', t.thing
  from (
    select w.word as thing
    from memory._particular_things() as p
    join unnest(words) with ordinality as w (word, place) on w.word = any (p.things)
    where words[greatest(w.place - 3, 1):w.place - 1] && p.articles
    order by memory._is_named(w.word, p_recent), w.place limit 1) as t;
  return query
  select d.sign, left(d.phrase, 100)
  from (values
    ('data', case when length(p_read) > 300 then 'a long text' when strpos(p_read, '```') > 0 then 'code' end),
    ('quotation', case when p_own_words <> p_read then 'quotation marks' end),
    ('event', (select coalesce(e[1], e[2]) from regexp_matches(p_own_words,
      e'\\m(?:(?:[Dd]id|[Hh]a[sd]|[Ww]as|[Ww]ere) the ([a-z]+)'
      || e'|(?:[Dd]id|[Dd]oes|[Hh]a[sd]|[Ww]as|[Ww]ere|[Ww]ill) ([[:upper:]][[:lower:]]+)\\M)') as e)),
    ('identifier', substring(p_own_words from
      e'https?://\\S+|[[:alnum:]._-]+@[[:alnum:].-]*[[:alnum:]]|#[0-9]+|[[:alnum:]]+[_/][[:alnum:]]+[[:alnum:]_/.-]*'
      || e'|[[:alnum:]]+(?:[.-][[:alnum:]]+)*[.-][[:alnum:]]*[0-9][[:alnum:]]*'
      -- The next pattern matches whole words. It allows Chinese letters directly before and after a word.
      || e'|[A-Za-z0-9]*[A-Z][0-9][A-Za-z0-9]*|[A-Za-z0-9]*[a-z]\\.[a-z]{2,4}\\M'
      || e'|[A-Za-z0-9\\u00c0-\\u024f]*[a-z][A-Z][a-z][A-Za-z0-9\\u00c0-\\u024f]*|[*(){}]')),
    ('number', substring(p_own_words from '[0-9][0-9.,:]*')),
    ('name', case when cardinality(p_names) > 1 then array_to_string(p_names[1:3], ' ') end),
    ('known name', (select n from unnest(p_names) as n where strpos(p_recent, lower(n)) > 0 limit 1)),
    ('unknown script', substring(p_said from e'[\\u0370-\\u1fff\\uac00-\\ud7af]+'))
  ) as d (sign, phrase)
  where d.phrase is not null;
end;
$$;

-- Whether the recent messages name the thing (one of memory._particular_things()).
create or replace function memory._is_named(p_thing text, p_recent text)
returns boolean
language plpgsql immutable parallel safe
as $$
begin
  return case
    when p_thing = any ('{db,database,datenbank,datos,base,banco,数据库,データベース}')
      and p_recent ~ e'\\mdb\\M|database|postgres|mysql|sqlite' then true
    else strpos(p_recent, rtrim(p_thing, 's')) > 0 end;
end;
$$;

-- One of the names that earlier messages or memories of the user have; null when they have none. The function reads
-- parsed messages only, and a thousand memories at most, which takes a millisecond. It skips messages of this thread
-- from p_from_seq on, because the context shows them. If very many messages have a name, the index returns about a
-- thousand of them: the search for one name among 210,000 messages takes 7 ms of processor time, and 32 ms without that
-- limit.
create or replace function memory._remembered_name(
  p_user_id text, p_thread_id text, p_agent_id text, p_names text[], p_from_seq bigint, p_language regconfig
)
returns text
language plpgsql stable parallel safe
set enable_bitmapscan = on -- for the index of search_keys
set enable_seqscan = off -- The planner prefers it for one row; if nobody has the name, it reads all users' messages.
set jit = off
set gin_fuzzy_search_limit = 1000
as $$
declare
  languages constant regconfig[] := memory._languages(p_user_id, p_agent_id, p_language::text);
  words constant text[] := memory._query_words(languages, array_to_string(p_names, ' '), 200);
  vector tsvector;
begin
  if words = '{}' then
    return null;
  end if;
  select m.search_vector into vector
  from (
    select m.* from memory.messages as m
    where m.search_keys && array(select memory._word_key(p_user_id, w.word) from unnest(words) as w (word))
    offset 0 -- as in memory._few_messages()
  ) as m
  where m.user_id = p_user_id and (p_agent_id is null or m.agent_id = p_agent_id)
    and not (m.thread_id = p_thread_id and m.seq >= p_from_seq) is true
    and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
  limit 1;
  if not found then
    select m.search_vector into vector
    from (select m.search_vector from memory._valid_memories(p_user_id, p_agent_id) as m limit 1000) as m
    where tsvector_to_array(m.search_vector) && words
    limit 1;
  end if;
  return (
    select n.name from unnest(p_names) as n (name) cross join unnest(languages) as l (language)
    where vector @@ plainto_tsquery(l.language, n.name) limit 1);
end;
$$;

-- The words of a request in the spelling of memory._request_phrases(), without polite words at the beginning of a
-- sentence.
create or replace function memory._request_words(p_text text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  said text := translate(lower(p_text), e'^$\uff1f', '  ?');
begin
  said := regexp_replace(said, e'[.!;:\\n\\u3002\\uff01]+(?=\\s|$)', ' ^ ', 'g');
  said := replace(said, '?', ' ? ^ ');
  said := translate(said, e',.;:!"''()[]{}<>/\\|*+=~`&@\u00a1\u00bf\u00ab\u00bb\u2018\u2019\u201c\u201d\u201e\u2026-'
    || e'\u2013\u2014\uff0c\u3002\u3001', repeat(' ', 60));
  said := memory._plainly_spelled('^ ' || said);
  said := regexp_replace(said, e'(\\^ ?)+$', '');
  said := regexp_replace(said, e'\\m(what|where|who|when|how|which) ?s ', e'\\1 is ', 'g');
  return ' ' || regexp_replace(said,
    e'\\^ (?:\\^ |(?:please|can you|could you|would you|now|first|and|so|just|then|also|well'
    || '|peux tu|pouvez vous|s il te plaît|s il vous plaît|por favor|você pode|per favore|puoi) )*', '^ ', 'g')
    || ' $ ';
end;
$$;

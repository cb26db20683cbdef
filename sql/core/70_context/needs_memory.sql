-- Whether a request needs memory. The function looks for signs (lists/requests.toml) in the user's own text, without
-- code and quoted text; in a long request it looks at the first 1,000 and the last 500 characters. Contexts do not ask
-- it: whether something near was said decides what is recalled.
create or replace function memory.needs_memory(user_id text, thread_id text, query text)
returns memory.memory_need
language plpgsql stable parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set enable_sort = off -- as in memory._newest_units()
as $$
declare
  policy jsonb;
  read text; -- what the function reads of the request
  own_words text; -- without code blocks and quoted text
  said text; -- its words
  words text[]; -- the same
  recent record;
  names text[]; -- capitalised words that do not begin a sentence
  signs jsonb;
  score numeric;
  search_from constant numeric := 0.5; -- the sum of weights from which on a request needs a search
  decision text;
  strongest jsonb; -- the sign that gives the reason
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  -- The first test only saves time: the second test takes 50 ms for 10 MB.
  if (left(query, 1000) ~ e'\\S' or query ~ e'\\S') is not true then
    perform memory._refuse('query', case when query is null then 'must not be null' else 'must not be empty' end,
      'Pass what the user asks for, as the user wrote it.');
  end if;
  policy := memory._policy(needs_memory.user_id, null);
  read := case when octet_length(query) > 1500 and length(query) > 1500
    then left(query, 1000) || e'\n' || right(query, 500) else query end;
  own_words := regexp_replace(
    regexp_replace(read, e'```.*?(```|$)', ' ', 'g'),
    e'(^|[\\s(])(["`\\u201c\\u201e\\u00ab].*?["`\\u201c\\u201d\\u00bb]|''.*?''(?!\\w))', e'\\1 ', 'g');
  said := memory._request_words(own_words);
  words := string_to_array(btrim(said), ' ');
  -- The words of the thread's newest ten messages without the request itself, in lower case, and whether a user or a
  -- tool has named a subject there, that is, has said more than a greeting.
  select coalesce(lower(string_agg(r.said, e'\n')), '') as words,
    coalesce(bool_or(r.role in ('user', 'tool') and r.said ~ e'\\S+\\s+\\S+\\s+\\S'), false) as names_something,
    min(r.seq) as oldest_seq
  into recent
  from (
    select m.seq, m.role, left(memory._without_recalled(left(m.content, 65536)), 2000) as said
    from memory._active_messages(needs_memory.user_id, needs_memory.thread_id, null) as m
    order by m.seq desc limit 10
  ) as r
  where not (r.role = 'user' and btrim(r.said, e' \t\r\n') = btrim(left(query, 2000), e' \t\r\n'));
  names := array(
    select n[1] from regexp_matches(
      own_words, e'(?<=[[:alnum:],(] )([[:upper:]][[:alnum:]]+(?:-[[:alnum:]]+)*)', 'g') as n limit 5);
  with phrases as (
    -- The longest phrase for each sign.
    select distinct on (p.sign) p.sign, p.phrase
    from (
      select l.sign, k.phrase
      from jsonb_each(jsonb {{list requests}}) as k (phrase, signs)
      cross join lateral jsonb_array_elements_text(k.signs) as l (sign)
      union all
      select 'greeting', case when octet_length(k.phrase) = 3 * length(k.phrase) then k.phrase else '^ ' || k.phrase end
      from jsonb_each(jsonb {{list acknowledgements}}) as k (phrase, kinds) where k.kinds ? 'greeting'
      union all
      select 'trigger', memory._plainly_spelled(t.phrase)
      from jsonb_array_elements_text(policy #> '{knowledge_base,search_triggers}') as t (phrase)
      where t.phrase ~ e'\\S'
    ) as p
    -- In Chinese and Japanese, whose letters have three bytes, a phrase may stand inside a longer text without spaces.
    -- The first condition only saves time: the other conditions take three times as long.
    where strpos(said, p.phrase) > 0
      and (octet_length(p.phrase) = 3 * length(p.phrase) or strpos(said, ' ' || p.phrase || ' ') > 0)
      -- After the first 45 characters a pronoun refers to a noun of the request itself.
      and not (p.sign = 'reference' and strpos(said, p.phrase) > 45)
      and not (p.sign = 'telling' and strpos(said, '?') > 0)
      and not (p.sign = 'greeting' and (strpos(said, '?') > 0 or length(said) > 50))
    order by p.sign, length(p.phrase) desc, p.phrase
  ), details as ( -- the signs that do not depend on phrases
    select d.sign, left(d.phrase, 100) as phrase
    from (values
      ('particular', (
        select w.word
        from jsonb_each(jsonb {{list things articles}}) as a (language, articles)
        join jsonb_each(jsonb {{list things things}}) as t (language, things) on t.language = a.language
        join unnest(words) with ordinality as w (word, place) on t.things ? w.word
        where a.articles ?| words[greatest(w.place - 3, 1):w.place - 1]
        order by memory._is_named(w.word, recent.words), w.place limit 1)),
      ('data', case when length(read) > 300 then 'a long text' when strpos(read, '```') > 0 then 'code' end),
      ('quotation', case when own_words <> read then 'quotation marks' end),
      ('event', (select coalesce(e[1], e[2]) from regexp_matches(own_words,
        e'\\m(?:(?:[Dd]id|[Hh]a[sd]|[Ww]as|[Ww]ere) the ([a-z]+)'
        || e'|(?:[Dd]id|[Dd]oes|[Hh]a[sd]|[Ww]as|[Ww]ere|[Ww]ill) ([[:upper:]][[:lower:]]+)\\M)') as e)),
      ('identifier', substring(own_words from
        e'https?://\\S+|[[:alnum:]._-]+@[[:alnum:].-]*[[:alnum:]]|#[0-9]+|[[:alnum:]]+[_/][[:alnum:]]+[[:alnum:]_/.-]*'
        || e'|[[:alnum:]]+(?:[.-][[:alnum:]]+)*[.-][[:alnum:]]*[0-9][[:alnum:]]*'
        -- The next pattern matches whole words. It allows Chinese letters directly before and after a word.
        || e'|[A-Za-z0-9]*[A-Z][0-9][A-Za-z0-9]*|[A-Za-z0-9]*[a-z]\\.[a-z]{2,4}\\M'
        || e'|[A-Za-z0-9\\u00c0-\\u024f]*[a-z][A-Z][a-z][A-Za-z0-9\\u00c0-\\u024f]*|[*(){}]')),
      ('number', substring(own_words from '[0-9][0-9.,:]*')),
      ('name', case when cardinality(names) > 1 then array_to_string(names[1:3], ' ') end),
      ('known name', (select n from unnest(names) as n where strpos(recent.words, lower(n)) > 0 limit 1)),
      ('unknown script', substring(said from e'[\\u0370-\\u1fff\\uac00-\\ud7af]+')),
      ('remembered', memory._remembered_name(
        needs_memory.user_id, needs_memory.thread_id, names, recent.oldest_seq, policy #>> '{search,language}'))
    ) as d (sign, phrase)
    where d.phrase is not null
  ), known as (
    select f.sign, f.phrase, case
        when f.sign in ('reference', 'said before') then recent.names_something
        when f.sign = 'particular' then memory._is_named(f.phrase, recent.words)
        when f.sign = 'event' then strpos(recent.words, lower(f.phrase)) > 0
        else false end as is_resolved
    from (select p.* from phrases as p union all select d.* from details as d) as f
    -- "Connect to AgentFusion" names its target, so the request lacks no parameter.
    where not (f.sign = 'parameter' and exists (
      select from details as d where d.sign = 'identifier' and d.phrase <> ''))
  ), weighed as (
    select k.sign, k.phrase, k.is_resolved, jsonb {{list requests says}} -> k.sign as says,
      case when k.is_resolved then 0 else (jsonb {{list requests weight}} ->> k.sign)::numeric end as weight
    from (
      -- "Connect to the DB" lacks no parameter if the recent messages name the database.
      select k.sign, k.phrase, k.is_resolved or k.sign = 'parameter' and bool_or(k.is_resolved) over () as is_resolved
      from known as k) as k
  )
  select
    jsonb_agg(jsonb_build_object(
      'sign', w.sign, 'found', left(btrim(w.phrase, '^$ '), 100), 'says', w.says, 'weight', w.weight,
      'is_resolved', w.is_resolved) order by w.weight desc, w.is_resolved desc, w.sign),
    coalesce(sum(w.weight), 0)
  into signs, score
  from weighed as w;
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
comment on function memory.needs_memory(text, text, text) is
'Whether a request of the user needs memory: decision "search" if it is vague or about the user''s past, "skip" if it '
'is concrete or if the recent messages of the thread say what it refers to. Rules decide, no model is asked. reason '
'says why in words, details has the score, the score from which on memory is searched, and each sign with its weight.';

-- Whether the recent messages name the thing (one of lists/things.toml).
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

-- The words of a request in the spelling of lists/requests.toml, without polite words at the beginning of a
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

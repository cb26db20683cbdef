-- Decides whether a text that a chat model has written rests on the texts that the model was given. Models make things
-- up, repeat their instructions or answer in another language, small ones more than others. Every text of a reply
-- passes memory._problem_of() before it is stored, whichever worker hands the reply in. So do those of the built-in
-- model.

-- The words of a text, in their order, in the form in which texts are compared: the first six letters of the stem by
-- p_language, without accents. Six letters make words equal that differ in their endings ("allergic", "allergies").
-- Scripts without blanks have pairs of characters in place of words, because nobody can tell where their words begin.
-- The function leaves out stop words, and generic words (lists/generic.txt) unless p_keeps_generic.
create or replace function memory._evidence_words(
  p_said text, p_language regconfig, p_keeps_generic boolean default false
)
returns text[]
language plpgsql immutable parallel safe
as $$
declare
  generic constant text[] := case when not p_keeps_generic then string_to_array({{list generic}}, ' ') else '{}' end;
  -- Thai and Lao, Burmese, Khmer, Japanese, Chinese, Korean.
  unspaced constant text := e'[\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3005\\u3040-\\u30ff\\u3400-\\u9fff'
    || e'\\uac00-\\ud7af\\uf900-\\ufaff]+';
  said text := memory._with_blanks(left(p_said, 65536));
begin
  if octet_length(said) > length(said) then
    -- Hiragana are removed, because they are mostly endings and particles.
    said := regexp_replace(regexp_replace(said, e'[\\u3041-\\u309f]+', ' ', 'g'), '(' || unspaced || ')', ' \1 ', 'g');
  end if;
  return array(
    select k.key
    from unnest(memory._words_of(said)) with ordinality as w (word, place)
    cross join lateral unnest(case
      when w.word ~ '^-?[0-9]' then array[w.word]
      when w.word = any (generic) then '{}'
      when octet_length(w.word) > length(w.word) and w.word ~ unspaced then array(
        select substr(w.word, i, 2) from generate_series(1, greatest(length(w.word) - 1, 1)) as i)
      else array(
        select left(memory._folded(s), 6)
        from unnest(tsvector_to_array(to_tsvector(p_language, w.word))) as s) end) with ordinality as k (key, part)
    where k.key <> all (generic) and k.key !~ '^[a-z]$'
    order by w.place, k.part);
end;
$$;

-- All runs of four successive words of a text, without stop words. The English dictionary parses them, because the
-- built-in prompts are English. A text that shares a run with the prompt repeats the prompt.
create or replace function memory._runs_of_words(p_text text)
returns text[]
language plpgsql immutable parallel safe
as $$
declare
  words constant text[] := memory._evidence_words(p_text, 'english', true);
begin
  return array(
    select distinct array_to_string(words[i : i + 3], ' ') from generate_series(1, cardinality(words) - 3) as i);
end;
$$;

-- The evidence on which the texts of a reply must rest. p_cited has the texts that they name, and p_given all texts
-- that the model was given (null: only p_cited). p_evidence is the evidence of another text of the same reply; the
-- function keeps those of its parts that do not depend on p_cited. The prompt is the prompt in use, with the rules of
-- the policy and the descriptions of the types of memories. The language is that of p_cited; if p_cited has too few
-- words to show it, all texts that the model was given show it.
create or replace function memory._evidence_of(
  p_job memory.jobs, p_prompt text, p_cited text, p_given text default null, p_evidence memory._evidence default null
)
returns memory._evidence
language plpgsql stable parallel safe
as $$
declare
  around regconfig := memory._language(p_job.user_id, p_job.agent_id);
begin
  p_cited := coalesce(p_cited, '');
  p_evidence.length := length(p_cited);
  if p_evidence.prompt is null then
    p_evidence.prompt := array(
      select distinct unnest(memory._runs_of_words(t.said))
      from (
        select regexp_replace(p.template, '\{\{\w+\}\}', e'\n', 'g') from memory.prompts as p where p.name = p_prompt
        union all
        select memory._policy_section(p_job.user_id, p_job.agent_id, 'extraction') ->> 'instructions'
        where p_prompt = 'extract_memories'
        union all
        select y.description from memory.memory_types as y where p_prompt = 'extract_memories') as t (said));
    p_evidence.given := lower(coalesce(p_given, p_cited));
    p_evidence.translates :=
      (memory._policy_section(p_job.user_id, p_job.agent_id, 'models') ->> 'translates')::boolean;
  end if;
  around := memory._language_of(p_evidence.given, around, to_tsvector(around, left(p_evidence.given, 1000)));
  p_evidence.language := memory._language_of(p_cited, around, to_tsvector(around, left(p_cited, 1000)));
  -- Reads the text in pieces, because memory._evidence_words() reads only the first 65,536 characters of a text, and
  -- tools write megabytes.
  p_evidence.words := array(
    select distinct w
    from generate_series(1, least(p_evidence.length, 600000), 60000) as start
    cross join lateral unnest(memory._evidence_words(substr(p_cited, start, 60000), p_evidence.language)) as w);
  return p_evidence;
end;
$$;

-- The reason why a text of a reply must not be stored (a key of memory._refusals()); null if it may be stored. p_least
-- is the least number of words that the text shares with its evidence. Words are not compared without p_compares, or if
-- the model may answer in another language (policy models.translates).
create or replace function memory._problem_of(
  p_evidence memory._evidence, p_said text, p_least int default 1, p_compares boolean default true
)
returns text
language plpgsql immutable parallel safe
as $$
declare
  -- Dates are not compared, because "yesterday" becomes a date that the evidence does not have.
  dates constant text := '^(\d{4}-\d\d?(-\d\d?.*)?|(19|20)\d\d)$';
  language constant regconfig := p_evidence.language;
  given constant text := p_evidence.given;
  own constant regconfig := memory._language_of(p_said, language, to_tsvector(language, left(p_said, 1000)));
  names text[];
  shared bigint;
  others bigint;
begin
  if p_said ~ e'^\\s*(```|[\\[{])' and p_said ~ '"\s*:' and strpos(given, lower(left(btrim(p_said), 40))) = 0 then
    return 'no prose';
  elsif length(p_said) > 400 + 2 * p_evidence.length then
    return 'too long';
  end if;

  p_said := left(p_said, 8000); -- enough to judge by, in bounded time
  if (select count(*) >= 3 and 2 * count(distinct s.sentence) <= count(*)
         from (select memory._plainly_spelled(t) as sentence
               from regexp_split_to_table(p_said, e'[.!?]\\s+|[\u3002\uff01\uff1f\\n]+') as t) as s
         where s.sentence ~ '....') then
    return 'repeats itself';
  elsif exists (
    select from unnest(memory._runs_of_words(p_said)) as r
    where r = any (p_evidence.prompt)
      and exists (select from string_to_table(r, ' ') as w where strpos(given, w) = 0)) then
    return 'repeats the prompt';
  elsif p_evidence.translates or not p_compares then
    return null;
  end if;

  names := array(
    select distinct lower(n[1])
    from regexp_matches(p_said, e'(?<=[^.!?:;\\s]\\s)([[:upper:]][^\\s.,!?;:\'\u2019"()]*)', 'g') as n);
  -- If a name occurs elsewhere in the texts that the model was given, it counts neither for nor against the text.
  select count(*) filter (where w.word = any (p_evidence.words)),
    count(*) filter (where w.word <> all (p_evidence.words) and w.word !~ dates and not exists (
      select from unnest(names) as n where left(n, 5) = left(w.word, 5) and strpos(given, left(n, 5)) > 0))
  into shared, others
  from (select distinct unnest(memory._evidence_words(p_said, language)) as word) as w;
  if shared < p_least or 3 * shared < shared + others then
    return case when shared > 0 and 3 * shared >= shared + others then 'too short' else 'no evidence' end;
  end if;
  -- The stop words of its own language ("der", "und") show a text in another language: most of them occur in none of
  -- the given texts.
  if own <> language and 3 * shared < 2 * (shared + others) and (
    select 2 * count(*) filter (where strpos(given, w) = 0) >= count(*)
      and count(*) filter (where strpos(given, w) = 0) > 0
    from (select distinct unnest(memory._words_of(p_said)) as w) as d
    where to_tsvector(own, w) = '' and w ~ '[^[:digit:]]') then
    return 'another language';
  end if;
  if own <> 'german'::regconfig and ( -- German writes every noun with a capital letter
    select 2 * count(*) filter (where strpos(given, left(n, 5)) = 0) > count(*) from unnest(names) as n) then
    return 'unknown names';
  end if;
  return null;
end;
$$;

-- Whether a statement repeats a few words again and again, as a model does when it does not find the end of a memory.
create or replace function memory._rambles(p_said text)
returns boolean
language plpgsql immutable parallel safe
as $$
begin
  return length(p_said) <= 600 and (
    select count(*) >= 10 and 2 * count(distinct w.three) <= count(*)
    from (select concat_ws(' ', t.word, lead(t.word) over in_order, lead(t.word, 2) over in_order) as three
          from regexp_split_to_table(lower(p_said), e'\\s+') with ordinality as t (word, place)
          window in_order as (order by t.place)) as w);
end;
$$;

-- Whether a statement speaks of a memory: they share a word, or both have or name the same attribute. Only then may the
-- statement end the memory, because a model that makes things up would end any memory. p_said is the statement with the
-- messages that it cites, and p_words are the memory._evidence_words() of p_said in p_language.
create or replace function memory._speaks_of(
  p_said text, p_words text[], p_language regconfig, p_attribute text, p_memory memory.memories
)
returns boolean
language plpgsql immutable parallel safe
as $$
begin
  return p_words && memory._evidence_words(
      concat_ws(' ', p_memory.subject, p_memory.content, p_memory.metadata ->> 'value'), p_language)
    or (memory._attributes_named(p_said) || memory._kind_of_attribute(p_attribute))
      && (memory._attributes_named(p_memory.content) || memory._kind_of_attribute(p_memory.attribute));
end;
$$;

-- The numbers in p_numbers of those known memories that a statement may end, because it speaks of them
-- (memory._speaks_of()).
create or replace function memory._may_name(
  p_evidence memory._evidence, p_job memory.jobs, p_numbers jsonb, p_said text, p_attribute text
)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  known constant uuid[] := array(select k::uuid from jsonb_array_elements_text(p_job.input -> 'known') as k);
  words constant text[] := memory._evidence_words(p_said, p_evidence.language);
begin
  return (
    select coalesce(jsonb_agg(n.number order by n.number), '[]')
    from (select distinct v::numeric::bigint as number from jsonb_array_elements_text(p_numbers) as v) as n
    join memory._memories_by_ids(p_job.user_id, known) as m
      on n.number between 1 and cardinality(known) and m.memory_id = known[n.number]
    where p_evidence.translates
      or memory._speaks_of(p_said, words, p_evidence.language, p_attribute, m));
end;
$$;

-- How often each reason was given, in the form of a job's result; null if there was none.
create or replace function memory._counted_refusals(p_reasons text[])
returns jsonb
language sql immutable parallel safe
begin atomic
  select jsonb_object_agg(r.reason, r.number)
  from (select u as reason, count(*) as number from unnest(p_reasons) as u where u is not null group by u) as r;
end;

-- Everything that the messages of a range say: who speaks, the text, and the calls of tools. With p_speakers_only only
-- messages of users and assistants count.
create or replace function memory._said_in(
  p_user_id text, p_thread_id text, p_from_seq bigint, p_to_seq bigint, p_speakers_only boolean
)
returns text
language plpgsql stable parallel safe
as $$
begin
  return string_agg(memory._message_says(m), e'\n' order by m.seq)
  from memory.messages as m
  where m.user_id = p_user_id and m.thread_id = p_thread_id and m.seq between p_from_seq and p_to_seq
    and (m.role in ('user', 'assistant') or not p_speakers_only);
end;
$$;

create or replace function memory._message_says(p_message memory.messages)
returns text
language sql immutable parallel safe
begin atomic
  select concat_ws(' ', (p_message).metadata ->> 'name', left((p_message).content, 65536),
                   left((p_message).metadata ->> 'tool_calls', 65536));
end;

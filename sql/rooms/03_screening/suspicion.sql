-- The suspicion of a text says how much it looks like an attack on a model that reads the text. The rules know words
-- and characters, not meaning: a lie in plain words passes. docs/poisoning.md has the measured detection and false
-- alarms.

-- The signs for which a text of this trust belongs in quarantine; null when the signs are too few. The user and the
-- application may speak to the model ("always answer in German", "ignore emails from Bob"), so their texts need several
-- strong signs. The function judges a long text piece by piece, so that signs far apart do not add up. p_groups has the
-- groups of signs that the text may have, if the caller knows them; the sign p_weak alone is not enough.
--
-- The function judges a hundred pieces together. PostgreSQL keeps 32 prepared expressions, so the function looks for
-- one sign in all pieces before it looks for the next sign. Piece by piece took eight times as long for a text with
-- words of many signs.
create or replace function memory._verdict(
  p_text text, p_trust double precision, p_groups text[] default null, p_weak text default null
)
returns text
language plpgsql immutable parallel safe
as $$
declare
  enough constant double precision := case when p_trust >= 0.9 then 0.9 when p_trust >= 0.5 then 0.55 else 0.44 end;
  all_pieces constant text[] := memory._pieces_to_judge(p_text);
  pieces text[];
  groups text[];
  signs text;
begin
  for place in 1 .. cardinality(all_pieces) by 100 loop
    pieces := all_pieces[place:place + 99];
    if p_trust >= 0.9 then
      pieces := array(select p.piece from unnest(pieces) as p (piece) where memory._may_be_definite(p.piece));
    end if;
    if pieces <> '{}' then
      groups := coalesce(p_groups, memory._possible_signs(memory._form_of(pieces)));
      if groups <> '{}' then
        signs := memory._signs(pieces, groups, enough, p_weak);
        if signs is not null then
          return signs;
        end if;
      end if;
    end if;
  end loop;
  return null;
end;
$$;

-- The signs of the first of these texts whose suspicion reaches p_enough; null when no text reaches it. The suspicion
-- is between 0 and 1: the weights of signs add up like independent probabilities. The function only looks for the
-- groups of signs in p_groups.
create or replace function memory._signs(
  p_texts text[], p_groups text[], p_enough double precision, p_weak text default null
)
returns text
language plpgsql immutable parallel safe
as $$
declare
  found record;
  place bigint := 0; -- the place of the text whose signs the loop adds up
  score double precision;
  signs text;
begin
  for found in
    select s.place, s.sign, max(s.weight) as weight
    from (
      select t.place, h.*
      from unnest(p_texts) with ordinality as t (said, place)
      cross join lateral memory._hidden_signs(t.said, memory._without_quoted_attacks(t.said)) as h
      where 'hidden' = any (p_groups)
      union all
      select i.* from memory._instruction_signs(p_texts, p_groups) as i) as s
    group by s.place, s.sign order by s.place, max(s.weight) desc, s.sign
  loop
    if found.place > place then
      exit when score >= p_enough and signs is distinct from p_weak;
      place := found.place;
      score := 0;
      signs := null;
    end if;
    score := 1 - (1 - score) * (1 - found.weight);
    signs := concat_ws(', ', signs, found.sign);
  end loop;
  return case when score >= p_enough and signs is distinct from p_weak then signs end;
end;
$$;

-- The pieces of a text that are judged separately. The pieces overlap, so that a cut never goes through a sign in all
-- of them. The function cuts a long text twice: PostgreSQL finds a place in a text by counting the characters before
-- it, which took 1.4 s for 1 MB.
create or replace function memory._pieces_to_judge(p_text text)
returns text[]
language plpgsql immutable parallel safe
as $$
declare
  bytes bytea;
  starts int := 0;
  ends int;
  slice text;
  piece text;
  pieces text[] := array[]::text[];
begin
  if (length(p_text) > 1800) is not true then
    return array_remove(array[p_text], null);
  end if;
  bytes := convert_to(p_text, 'UTF8');
  loop
    ends := memory._character_start(bytes, starts + 18000);
    slice := convert_from(substring(bytes from starts + 1 for ends - starts), 'UTF8');
    foreach piece in array array(
      select substr(slice, s, 2000) from generate_series(1, greatest(length(slice) - 200, 1), 1800) as s) loop
      pieces := array_append(pieces, piece); -- in place; || of two arrays copies all pieces each time
    end loop;
    exit when ends = octet_length(bytes);
    starts := memory._character_start(bytes, ends - 800); -- 200 characters of four bytes
  end loop;
  return pieces;
end;
$$;

-- Whether a text can have as many signs as the trust of a user requires for quarantine. The function runs for every
-- memory that is written, so LIKE compares parts of words: regular expressions took three times as many instructions
-- (PostgreSQL 15, texts of 226 characters), because each call builds their automata anew. lower() under "C" changes
-- ASCII only.
create or replace function memory._may_be_definite(p_text text)
returns boolean
language sql immutable parallel safe
begin atomic
  select lower(p_text collate "C") like any (
      '{%nstru%,%prompt%,%guidel%,%rules%,%struz%,%nweis%,%consign%,%talimat%,%polec%,%system:%,%assistant:%}')
    or (strpos(p_text, '<') > 0 or strpos(p_text, '[') > 0)
      and p_text ~* $w$<\||\[/?inst|<<|</?(?:sys|ass|ins|adm|imp|dev|tool|func|inv|rec)|!\[|\]\(http$w$
    or octet_length(p_text) > length(p_text) and p_text ~ $w$(?x)
      [\u00ad\u034f\u0370-\u03ff\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0e\uff21-\uff5a]
      |[\U0001d400-\U0001d7ff\U000e0000-\U000e0fff]|инстр|указани|правил|指令|指示|提示|规则|規則|プロンプト|ルール
      |지시|명령|تعليمات|निर्देश|r[eè]gles$w$;
end;

-- Whether a text can have a credential. LIKE keeps this test as cheap as memory._may_be_definite(). Only the listed
-- kinds of keys are credentials: looking for the value of a "foreign key" would take a quarter of the time of
-- add_memory.
create or replace function memory._may_have_credential(p_text text)
returns boolean
language sql immutable parallel safe
begin atomic
  select lower(p_text collate "C") like any ('{%passw%,%secret%,%token%,%pwd%,%://%}')
    or lower(p_text collate "C") like '%key%' and lower(p_text collate "C") like any (
      '{%api%key%,%access%key%,%auth%key%,%account%key%,%private%key%,%shared%key%,%sign%key%,%encrypt%key%,'
      '%master%key%,%refresh%key%,%bearer%key%,%session%key%,%bot%key%}')
    or p_text ~ '[A-Za-z0-9+/_-]{20}';
end;

-- The signs in the characters of a text: invisible characters, and imitations of the markup of a prompt. p_unquoted is
-- the text without quoted attacks. (?x) allows blanks without meaning in an expression.
create or replace function memory._hidden_signs(p_text text, p_unquoted text)
returns table (sign text, weight double precision)
language plpgsql immutable parallel safe
as $$
declare
  seen constant text := memory._unseen_removed(p_unquoted);
  -- Only a text beyond ASCII can have the first four signs. For other texts PostgreSQL skips their expressions, which
  -- then take no place among the 32 expressions that PostgreSQL keeps prepared.
  is_beyond_ascii constant boolean := octet_length(p_text) > length(p_text);
begin
  return query
  select s.sign, s.weight
  from (values
    -- Letters of the tags block, except those of flags, and variation selectors that carry bytes.
    ('invisible characters', 0.95::double precision, is_beyond_ascii and regexp_replace(p_text,
        $w$\U0001f3f4[\U000e0061-\U000e007a]{2,7}\U000e007f$w$, '', 'g') ~ $w$(?x)
      [\U000e0000-\U000e007f\U000e0100-\U000e01ef]{2}|[\ufe00-\ufe0e]{3}|[\u200b\u200c\u2060-\u2064\ufeff]{4}$w$),
    ('reversed writing', 0.7, is_beyond_ascii and p_text ~ $w$[\u202d\u202e]$w$),
    ('characters without width in words', 0.5, is_beyond_ascii and p_text ~ $w$(?x)
      [A-Za-z][\u00ad\u200b\u2060-\u2064\ufeff][A-Za-z].*[A-Za-z][\u00ad\u200b\u2060-\u2064\ufeff][A-Za-z]$w$),
    ('letters of two scripts in a word', 0.5, is_beyond_ascii and p_text ~ $w$(?x)
      [A-Za-z][\u0370-\u03ff\u0400-\u04ff][A-Za-z]
      |[A-Za-z]{2}[\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456][^\u0400-\u04ff]$w$),
    ('markup of a chat template', 0.9, p_unquoted ~ $w$(?xi)
      <[|\uff5c][a-z_ \u2581]{2,30}[|\uff5c]>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>
      |<\|?(?:im_start|im_end|endoftext|eot_id|begin_of_text)\|?>|<(?:bos|eos)>
      |</?s>\s*(?:\[|system|user|assistant)$w$),
    ('markup of a prompt', 0.6, seen ~ $w$(?xi)
      [<\u2039\u3008\uff1c\u00ab][ ]*/?[ ]*
      (?:system|assistant|developer|instructions?|admin|important|sys|im_start|im_end|override|tool_result
        |tool_response|function_results|recalled|memories|user_input|untrusted|conversation|human)
      (?:[ _-]?(?:message|prompt|instructions?|override|note|reminder|update|data|text|context))?
      [ ]*(?:[ ][a-z]+="?[a-z0-9 ]+"?)*/?[ ]*[>\u203a\u3009\uff1e\u00bb]$w$),
    ('role of another speaker', 0.6, p_unquoted ~ $w$(?xi)
      (?:^|[\n\r"'.!)]|\\n)\s*(?:[#]+[ ]*|\*\*|-{2,}[ ]*|\[|={2,}[ ]*|\()?
      (?:system|assistant|developer|human|user|sistema|systeme?|system[ ]prompt)(?:\*\*|\])?
      [ ]?(?:message|prompt|note|override|nachricht)?(?:\*\*|\])?[ ]?:(?:\*\*)?[ ]*
      (?:you|ignor|from[ ]now|new[ ]|override|the[ ]user[ ](?:has|want)|always|never|forget|disregard|must|remember
        |update|sure|understood|ok,|yes,|i[ ]will|please|delete|send|call|attention|vergiss|ab[ ]sofort|olvida|oubli
        |du[ ]bist|eres|tu[ ]es|sei[ ])$w$),
    ('end of data', 0.5, p_unquoted ~ $w$(?xi)
      (?:^|\n|[-=#*]{3,})[ ]*(?:end|fin|ende|begin|start)[ ](?:of[ ])?(?:the[ ])?
      (?:system|user|document|context|data|input|email|tool[ ]output|tool[ ]result|untrusted|memor|recalled|prompt
        |instructions?)[a-z ]{0,20}\s*(?:[-=#*]{3,}|$|\n)$w$),
    ('a call of a tool', 0.7, p_unquoted ~ $w$(?xi)
      <(?:tool_?call|function_?calls?|invoke|antml:|tool_use)[ >_=:]|\mto=functions|```tool_code|\[TOOL_CALLS\]
      |\{\s*"(?:tool|function|action|name)"\s*:\s*"[a-z_.]*(?:delete|send|exec|transfer|shell|email|post|upload|purge
        |forget|write|pay|run|memory)[a-z_.]*"\s*,\s*"(?:arguments|args|parameters|input|action_input|params)"$w$),
    ('a picture or link that carries data', 0.7, p_unquoted ~ $w$(?xi)
      !?\[[^\]]*\]\(\s*https?://[^)]*(?:\{|<|%7b|\[|\?(?:q|d|data|c|leak|exfil|p)=\)?
        |=(?:data|secret|history|summary|conversation|chat|token|password|memory))
      |<img[^>]*src=["']?https?://[^>]*\?$w$),
    ('placeholders of this memory', 0.6, p_unquoted ~ $w$(?xi)
      \[\s*memory[ ]?ref\s*:.*(?:ignore|instruct|delete|send)|recalled[ ]from[ ]memory\.[ ]this[ ]is[ ]data
      |[#][#]\s*your[ ]memories\s*[\n:]$w$)
  ) as s (sign, weight, is_there)
  where s.is_there;
end;
$$;

-- The signs in the words of texts, for the groups that memory._possible_signs() found, each sign with the place of its
-- text. A sign needs all its slots in one sentence. The function looks for the first slot in whole texts, and for each
-- slot in the sentences that have all earlier slots.
create or replace function memory._instruction_signs(p_texts text[], p_groups text[])
returns table (place bigint, sign text, weight double precision)
language plpgsql immutable parallel safe
as $$
declare
  plain constant text[] := array(
    select memory._without_quoted_attacks(memory._plain_letters(t.said))
    from unnest(p_texts) with ordinality as t (said, place) order by t.place);
  candidate record;
  slot text;
  words text;
  sentences text[];
  places bigint[];
begin
  for candidate in
    select s.*
    from (values
      ('cancel', 'an order to ignore instructions', 0.7::double precision, '{rules,cancel}'::text[]),
      ('authority', 'a new part for the model', 0.6, '{persona}'),
      ('authority', 'a question for the prompt', 0.6, '{prompt,reveal}'),
      ('target', 'a request to send data', 0.7, '{target,send,private}'),
      ('asked', 'an answer to a question that nobody asked', 0.5, '{asked,say}'),
      ('memory', 'something to remember for ever', 0.45, '{keep,forever}'),
      ('memory', 'something for the memory of a model', 0.45, '{store,order_to_store}'),
      ('orders', 'an order for ever', 0.45, '{hence,reply}'),
      ('asked', 'to be kept from the user', 0.6, '{secretly,user}'),
      ('model', 'an order to a model', 0.45, '{model,must}'),
      ('orders', 'a call of a tool', 0.45, '{tool}'),
      ('authority', 'a claim of authority', 0.5, '{authority}'),
      ('orders', 'a blanket consent', 0.5, '{consent,blanket}')
    ) as s (part_of, sign, weight, needed)
    where s.part_of = any (p_groups)
  loop
    words := memory._suspicious_words(candidate.needed[1]);
    select array_agg(s.said), array_agg(t.place) into sentences, places
    from unnest(plain) with ordinality as t (said, place)
    cross join lateral regexp_split_to_table(t.said, e'[.!?;]+\\s+|[\n\u3002\uff01\uff1f\uff1b\u061f\u0964]+')
      as s (said)
    where t.said ~ words;
    foreach slot in array candidate.needed loop
      words := memory._suspicious_words(slot);
      select array_agg(s.said), array_agg(s.place) into sentences, places
      from unnest(sentences, places) as s (said, place)
      where s.said ~ words;
      exit when sentences is null;
    end loop;
    return query select distinct p, candidate.sign, candidate.weight from unnest(places) as p;
    if candidate.needed[2] = 'cancel' then
      words := memory._suspicious_words('before');
      return query
      select distinct s.place, 'an order to ignore all or earlier instructions', 0.5::double precision
      from unnest(sentences, places) as s (said, place)
      where s.said ~ words;
    end if;
  end loop;
end;
$$;

-- The text without quoted passages if the text is about attacks, because advice on security quotes attacks.
create or replace function memory._without_quoted_attacks(p_text text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  if p_text !~ $w$(?xi)
      \m(?:prompt[ ]injection|injection[ ]attack|injections?\M|jailbreak(?:ing|s)?\M|attackers?\M|attacks?\M|malicious
        |phishing|payloads?\M|red[- ]team|security[ ](?:training|course|research|team|test|review)|adversarial|owasp
        |exploit|vulnerab|angreifer|angriff|sch[aä]dlich|attaque|ataque|attacco|atak|sald[iı]r[iı])
      |атак|инъекц|攻击|攻撃|注入$w$ then
    return p_text;
  end if;
  return regexp_replace(p_text, $w$(?x)
      "[^"\n]*"|'[^'\n]{12,}'|`[^`\n]*`|\u201c[^\u201d\n]*\u201d|\u201e[^\u201c\u201d\n]*[\u201c\u201d]
      |\u00ab[^\u00bb\n]*\u00bb|\u300c[^\u300d\n]*\u300d|\u2018[^\u2019\n]*\u2019$w$, '(quoted)', 'g');
end;
$$;

-- The spelling in which words are compared: lower case, one blank between words, and plain letters. The function
-- removes accents and invisible characters, and replaces full-width and mathematical letters with common ones. In Latin
-- words it replaces Greek and Cyrillic letters with the Latin letters that they look like. It adds spaced-out words as
-- closed words.
create or replace function memory._plain_letters(p_text text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  plain text := p_text;
begin
  if octet_length(plain) > length(plain) then
    plain := memory._unseen_removed(plain);
    if getdatabaseencoding() = 'UTF8' then
      plain := regexp_replace(memory._normal_form(plain, 'NFKD'), e'[\\u0300-\\u036f]+', '', 'g');
      plain := memory._normal_form(plain, 'NFC');
    end if;
    plain := translate(lower(plain), e'łıøđı\u2019\u2018\u02bc\u00df', 'lioodi''''''s');
    if plain ~ e'[a-z][\\u0370-\\u03ff\\u0430-\\u045f]|[\\u0370-\\u03ff\\u0430-\\u045f][a-z]' then
      plain := translate(plain, 'аеорсухіјѕԁһкмтнвгαεορυικντ', 'aeopcyxijsdhkmthbraeopuikvt');
    end if;
  else
    plain := lower(plain collate "C");
  end if;
  -- The expression matches "i g n o r e   a l l" and "i.g.n.o.r.e".
  if plain ~ e'(?:\\m[a-z][ ._*-]){5}' then
    plain := plain || e'\n' || regexp_replace(regexp_replace(
      plain, e'(?<=\\m[a-z])[._*-](?=[a-z]\\M)|(?<=\\m[a-z]) (?=[a-z]\\M)', '', 'g'), e' {2,}', ' ', 'g');
  end if;
  -- The expression skips single blanks: replacing each single blank by itself took ten times as long.
  return regexp_replace(plain, e'[^\\S\\n ][^\\S\\n]*| [^\\S\\n]+', ' ', 'g');
end;
$$;

-- The text without invisible characters.
create or replace function memory._unseen_removed(p_text text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return case when octet_length(p_text) = length(p_text) then p_text else regexp_replace(p_text, $w$(?x)
      [\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164]
      |[\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]$w$, '', 'g') end;
end;
$$;

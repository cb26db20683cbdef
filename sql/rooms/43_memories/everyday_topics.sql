-- The topics of a text are its subjects by its words. They decide whether a model may call two memories duplicates or a
-- contradiction.

-- The topics of a text. For each word and its stem in the text's own language, the topic is the first four letters
-- without accents; in scripts without blanks, each pair of letters that keyword search indexes is a topic. The result
-- also has the text's memory._everyday_topics(). Not topics are the stop words of every language that PostgreSQL knows,
-- verbs that take any object ("uses"), numbers of less than four digits, and p_ignored. Four letters find 8 more of 120
-- paraphrases than six letters ("Laktose" is in "laktoseintolerant"), and wrongly 1 more of 145 plainly unrelated
-- pairs.
create or replace function memory._topics(p_content text, p_language regconfig, p_ignored text[])
returns text[]
language plpgsql stable parallel safe
as $$
declare
  -- Scripts without blanks have topics that are too common: a single letter, two hiragana, a pair with a Japanese
  -- particle, and any pair in Thai, Lao, Burmese and Khmer, where words are longer than two letters.
  too_common constant text := e'^[\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff]$|^[\\u3040-\\u309f]{2}$'
    || e'|^.?[はがをにのでともへ].?$|^[\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff]{1,2}$|^[0-9]{1,3}$';
  -- Words that go with any topic: two memories that share only one of these words are not about the same subject.
  general constant text[] := string_to_array(
    'user users like likes liked love loves enjoy enjoys prefer prefers preferred adores hate hates hated dislike'
    ' dislikes disliked fond favourite favorite interested allergic want wants wanted need needs needed use uses used'
    ' using own owns owned get gets got go goes going went make makes made keep keeps take takes took think thinks know'
    ' knows feel feels believe believes say says said tell tells told thing things something anything everything lot'
    ' much many new good bad great currently now always usually often sometimes day time year years people person'
    ' called named run runs end ends start starts'
    ' benutzer benutzerin nutzer nutzers nutzerin heißt heisst endet mag mögen möchte will liebt liebe hasst hasse'
    ' bevorzugt allergisch besitzt trägt'
    ' usuario usuaria llama llaman gusta gustan quiere lleva acaba termina encanta odia prefiere alérgico alérgica'
    ' utilisateur utilisatrice appelle termine veut porte aime adore déteste préfère allergique'
    ' utente piace ama preferisce allergico allergica usuário gosta adora prefere gebruiker houdt haat пользователь'
    ' любит нравится ненавидит kullanıcı seviyor 用户 用戶 使用 喜欢 喜歡 好き 대해 사용 용자 ユー ーザ ザー 过敏 過敏', ' ');
  dictionaries constant regdictionary[] := array[
    'danish_stem', 'dutch_stem', 'english_stem', 'finnish_stem', 'french_stem', 'german_stem', 'hungarian_stem',
    'italian_stem', 'norwegian_stem', 'portuguese_stem', 'russian_stem', 'spanish_stem', 'swedish_stem', 'turkish_stem'
  ]::regdictionary[];
  said constant text := left(p_content, 1000);
  words constant text[] := memory._claim_words(said);
  language constant regconfig := memory._language_of(said, p_language, to_tsvector(p_language, said));
  common constant text[] := p_ignored || general;
begin
  return array(
      select t
      from unnest(memory._topic_keys(array(
        select w from unnest(words) as w
        where w <> all (common) and not tsvector_to_array(to_tsvector(p_language, w)) && p_ignored
          and not exists (select from unnest(dictionaries) as d where ts_lexize(d, w) = '{}')), language)) as t
      where t <> all (common) and t !~ too_common)
    || memory._everyday_topics(words);
end;
$$;

-- The first four letters, without accents, of these words and of their stems. A word in Thai, Chinese, Japanese or
-- Korean, whose letters have three bytes each, gives its pairs of letters instead.
create or replace function memory._topic_keys(p_words text[], p_language regconfig)
returns text[]
language plpgsql immutable parallel safe
as $$
begin
  return array(
    select distinct case when octet_length(w.word) < 3 * length(w.word)
      then left(translate(w.word, 'áàâäãåéèêëíìîïóòôöõúùûüñç', 'aaaaaaeeeeiiiiooooouuuunc'), 4) else w.word end
    from (
      select unnest(tsvector_to_array(memory._text_vector(p_language, array_to_string(p_words, ' ')))) as word
      union all
      select x from unnest(p_words) as x where octet_length(x) < 3 * length(x)) as w);
end;
$$;

-- Whether two claims are about the same subject, so that a model may call them duplicates or a contradiction. They are
-- if they share one of their topics (in long texts a tenth of them), or if their words differ in numbers only.
-- Embeddings do not decide: each further pair that they find costs more unrelated pairs
-- (bench/results/reconciliation.md).
create or replace function memory._is_about_the_same(p_claim jsonb, p_other jsonb)
returns boolean
language plpgsql immutable parallel safe
as $$
declare
  number constant text := '[0-9]+([.,:/-][0-9]+)*';
  topics constant text[] := memory._texts(p_claim -> 'topics');
  others constant text[] := memory._texts(p_other -> 'topics');
  shared constant int := (select count(*) from unnest(topics) as t where t = any (others));
begin
  return coalesce(
    shared > 0 and 10 * shared >= least(cardinality(topics), cardinality(others))
    or p_claim ->> 'words' ~ number
      and regexp_replace(p_claim ->> 'words', number, '0', 'g')
        = regexp_replace(p_other ->> 'words', number, '0', 'g'), false);
end;
$$;

-- The everyday topics of a text, as "+diet": frequent subjects of facts about people, in English, German, Spanish and
-- French. "Is a vegetarian" and "Loves steak" share no word, but share the topic "+diet". On pairs whose author had not
-- seen these words, the topics find 6 more of 60 paraphrases and 7 more of 60 contradictions, and none of 60 plainly
-- unrelated pairs. The list leaves out topics that found no further pairs there (hobbies, illnesses, techniques,
-- vehicles).
create or replace function memory._everyday_topics(p_words text[])
returns text[]
language plpgsql immutable parallel safe
as $$
begin
  return array(
    select '+' || t.topic
    from (values
      ('home', 'live lives lived living move moves moved moving relocat% resid% wohn% lebe lebt leben zieht zog gezogen'
        ' umgezogen umzug viv% mud_ mude% habit% vit déménag% жив% woon% abit% mieszk%'),
      ('job', 'work works worked working job jobs employ% hired arbeite% angestellt% beruf% trabaj% emple% travail%'
        ' emploi% embauch% работ% lavor% trabalh%'),
      ('diet', 'vegetari% vegan% végét% végan% meat steak% beef pork ham bacon sausage% chicken lamb burger% barbecue'
        ' fleisch% schnitzel wurst würst% schinken speck hähnchen carne jamón bistec chuleta% pollo cerdo cordero'
        ' chorizo viande% bœuf boeuf jambon poulet porc saucisson agneau omnivor%'),
      ('alcohol', 'alcohol% wine beer whisky sober teetotal% alkohol% wein bier% schnaps abstinent% vino cerveza%'
        ' abstemi_ alcool% vin bière% sobre'),
      ('couple', 'single married marry wife husband spouse wedding divorc% fianc% widow% bachelor ledig'
        ' verheirat% ehe ehefrau ehemann hochzeit% geschieden heirat% geheiratet solter_ casad_ casó marido espos_ boda'
        ' divorciad_ novi_ pareja célibat% mari marié% mariage époux épouse femme divorcé%'),
      ('children', 'child children childless kid kids sons daughter% baby pregnan% kinder% sohn söhne tochter töchter'
        ' schwanger% hijo hija hijos hijas bebé embarazada enfant enfants fils fille filles bébé enceinte'),
      ('pets', 'pet pets dog dogs cat cats puppy kitten haustier% hund hunde hunden katze% kater mascota% perro perra'
        ' perros perras gato gata gatos gatas chien% chat chats chatte'),
      ('sleep', 'sleep% asleep bed bedtime wakes riser insomn% schlaf% schläf% bett aufsteh% früh% nachtmensch'
        ' nachteule langschläfer% duerm% dorm% acuest% acost% levant% madrug% couche% lever lève% réveil% dort lit'),
      ('address', 'du duzen siezen geduzt gesiezt tute% usted tutoi% tutoy% vouvoi% vouvoy%'),
      ('answers', 'answer% reply replies response% antwort% respuesta% contest% réponse% répond%')
    ) as t (topic, patterns)
    where exists (select from unnest(p_words) as w where w like any (string_to_array(t.patterns, ' '))));
end;
$$;

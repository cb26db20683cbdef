-- A cheap test for the signs of an attack. memory._signs() compares a text with forty large expressions, and nearly
-- every output of a tool has none of their words. The functions of this file test conditions that each sign needs: the
-- beginnings of the words in suspicious_words.sql, cut where ordinary logs, JSON and code seldom continue like these
-- words, and the words of other scripts that a sign cannot lack. tests/screening/test_possible_signs.py writes out
-- every word of the lists and proves that the test misses none.

-- The groups among p_among whose signs the text may have. The text is in the spelling of memory._plain_letters().
create or replace function memory._possible_signs(p_plain text, p_among text[] default null)
returns text[]
language plpgsql immutable parallel safe
as $$
declare
  among constant text[] := coalesce(
    p_among, '{cancel,authority,target,asked,memory,orders,model,hidden}');
  has_other_scripts constant boolean :=
    octet_length(p_plain) > length(p_plain) and p_plain ~ e'[\\u0370-\\u1dff\\u3040-\\ufdff]';
  one_group text;
  groups text[] := array[]::text[];
begin
  foreach one_group in array among loop
    if memory._may_have(p_plain, one_group, has_other_scripts)
      and (one_group <> 'cancel' or memory._may_have(p_plain, 'rules', has_other_scripts))
      and (one_group <> 'target' or memory._may_have(p_plain, 'private', has_other_scripts))
      and (one_group <> 'model' or memory._may_have(p_plain, 'must', has_other_scripts)) then
      groups := groups || one_group;
    end if;
  end loop;
  return groups;
end;
$$;

-- Whether a text may have the words of a group. The groups cancel, target and model also need words of rules, private
-- and must.
create or replace function memory._may_have(p_plain text, p_group text, p_has_other_scripts boolean)
returns boolean
language plpgsql immutable parallel safe
as $$
begin
  if p_plain ~ memory._first_letters(p_group) then
    return true;
  elsif not p_has_other_scripts then
    return false;
  end if;
  return p_plain ~ (
    select string_agg(memory._words_of_other_scripts(s.slot), '|')
    from unnest(case p_group
      when 'authority' then '{persona,prompt,authority}'
      when 'orders' then '{hence,tool,blanket}'
      when 'asked' then '{asked,secretly}'
      when 'memory' then '{keep,store}'
      else array[p_group] end) as s (slot));
end;
$$;

-- A regular expression for the beginnings of the words that a group needs. One blank stands between words, and (?x)
-- allows line breaks in the expression. Shorter beginnings make the expression smaller and quicker; longer beginnings
-- exclude more texts.
create or replace function memory._first_letters(p_group text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return case p_group
    when 'authority' then $w$(?x)
      \m(?:(?:admin|administrator|anthropic|compliance|department|developer|emergency|google|openai|operator|root
      |security|system|urgent)[ ](?:comma|dir|inst|mand|mess|noti|over|req|upd)|this[ ]is[ ](?:(?:an?
      |the)[ ])?(?:(?:official|new|direct|urgent)[ ])?(?:comm|dire|inst|mess|noti|order|over|requ)|this[ ]instr
      |priority[ ](?:comm|dire|inst|mess|order|rule|task)|(?:overs?|overrides?|overrules?|replaces?
      |supersedes?)[ ](?:all|any|every|other|prev|the[ ]sys|your)|new[ ](?:system[ ])?(?:dire|goal|instr|objective
      |persona|prompt|task)|neue[ ](?:anw|inst|sys)|nouvelles?[ ][ic]|nuevas?[ ][io]|nuov[ae][ ]i|novas?[ ]i
      |nowe?[ ][ip]|yeni[ ][tg]|system(?:nach|meld|bef|anw|-?pro)|mens(?:aje|agem)[ ][ds]|mess(?:aggio
      |age)[ ](?:d[eio]|syst)|sistem[ ][mytikp]|komunikat|system[ ]-?pro|(?:hidden|initial)[ ](?:pro|ins)
      |your[ ](?:prompt|instr|rules|guidel|config)|deine[ ][air]|(?:tes|vos|tus|tue|suas)[ ](?:i|cons)|invite[ ]sys
      |prompt[ ](?:sys|d)|instrukcje|swoje[ ]i|you[ ]are[ ](?:now|no|here|from|dan)|(?:act|behave|respond|operate
      |roleplay|play)[ ]as[ ](?:if[ ]you|thou|an?[ ](?:un|evil|jail|diff|new)|dan|root|admin|the[ ]dev)
      |pretend[ ](?:to|you|that)|(?:dan|jailbreak|sudo|unrestricted|maintenance|god|admin|administrator|developer
      |debug)[ ]mode|do[ ]anything[ ]n|jailbroken|(?:without|no|of|ohne|sans|sin|senza|sem
      |bez)[ ](?:[a-z]+[ ])?(?:restri|filter|limit|eins|besc|ogra)|du[ ]bist\s|(?:tu[ ]es|etes)[ ][md]|ahora[ ]eres
      |eres[ ]ah|sei[ ](?:ora|ade)|poi[ ]sei|agora[ ]voce|voce[ ]agora|jestes[ ]ter|teraz[ ]jest|artik|sen[ ]art)$w$
    when 'orders' then $w$(?x)
      \m(?:from[ ](?:now|this[ ][pm]|that[ ][pm])|hence|hereafter|going[ ]forw|further[ ]noti|(?:all|each|every
      |any)[ ](?:of[ ])?(?:(?:your|the|future|new|later|subsequent|single)[ ])*(?:answer|repl[yi]|respon|request
      |question|message|conversation|session|chat|future)|(?:begin|start|end|finish)[ ](?:each|every|all|your)
      |ab[ ](?:sof|jet)|nun[ ]an|kunftig|jeder[ ]ant|desorm|dorena|a[ ]partir|en[ ]adel|cada[ ]resp|ora[ ]in\s
      |da[ ]ades|agora[ ]em|od[ ]ter|odtad|bundan\s|(?:call|invoke|use|execute|run|trigger|launch)[ ](?:(?:the|a|your
      |this|my)[ ])?[a-z0-9_."'`-]+\s*(?:tool|function|api|command|script|plugin|endpoint)|(?:tool
      |function)[\s_-]*call|(?:leak|exfil\w+|steal|dump)[ ](?:the|all|every|any|their|user|your)|rm[ ]-rf|(?:delete
      |drop|wipe|erase|remove|purge|destroy)[ ](?:all|every|any|the[ ]ent)|losche|entferne|(?:supprime
      |efface)[zr]?[ ]t|(?:borra|elimin[ae]|borre|cancella|apague|exclua|delete)[ ]t|usun\s|tum\s|(?:all|any
      |every)[ ](?:transf|payment|request|purchase|tool|action|command|transac|access|link|download|file|email|amount)
      |without[ ](?:ask|confirm|further|any|review|limit|verif|check|prompt)|no[ ](?:confirm|need[ ]to|further
      |questions|verif|approval|review|limit)|automatic|unlimited|full[ ]access|in[ ]adva|unconditional|alle[ ][uzabt]
      |automatis|tous[ ]les[ ][vp]|sans[ ][cvd]|todas[ ](?:las|as)[ ]|sin[ ][cpv]|tutti[ ]i[ ][bp]|senza[ ][ccv]
      |sem[ ][cpv]|wszystkie\s|bez[ ][ppw]|onay[ ]|ohne[ ]|sormadan)|curl[ ]|\|[ ]?(?:ba)?sh\M$w$
    when 'asked' then $w$(?x)
      \m(?:(?:do[ ]not|don'?t|never|must[ ]not|should[ ]not|avoid|without)[ ](?:ever[ ])?(?:tell|ment|reve|info|aler
      |noti|show|disc|let|ask|warn|say|ackn|expl|displ|bring)|silently|covertly|secretly|quietly|stealth
      |in[ ]the[ ]backg|unnoti|between[ ]us|keep[ ](?:this[ ]|it[ ])?(?:a[ ])?(?:secr|hidd|conf)|(?:sag|sage|erzahl
      |verrate|erwahne|informiere|zeige|teile)\s|ohne\s|ne[ ](?:di|me|re|pr|pa|mo|in)|no[ ](?:le[ ]|se[ ]lo[ ])?(?:dig
      |men|rev|inf|avi|mue|cue)|non[ ](?:di|me|ri|in|av|mo)|nao[ ](?:di|me|re|in|av|mo|co)|nie[ ](?:mo|ws|uj|in|po|zd)
      |(?:when|whenever|if|every\s*time|next[ ]time|each[ ]time|once|as[ ]soon[ ]as|should|any\s*time
      |upon)[ ](?:the[ ]|a[ ]|an[ ]|any[ ]|this[ ]|your[ ]|someone|anyone|anybody|people|somebody|they|he|she|ever[ ]
      |user|customer)(?:users?|human|customer|client|person|owner|operator|visitor|patient|employee
      |one)?[a-z' ]*\m(?:ask|say|mention|quer|inquir|request|want|talk|bring|tr(?:y|ies)|type|write|need|look|search
      |greet|quot|discuss)|any[ ]questions?[ ]about|questions?[ ]about[ ]|(?:when|if|whenever|once|should[ ]you[ ]be
      |any[ ]?time)[ ](?:you[ ]are[ ]|you're[ ]|ever[ ]|directly[ ])?(?:asked|questioned|queried|prompted)|(?:wenn
      |sobald|falls|wann[ ]immer|jedes[ ]mal)[ ]|quand[ ]|(?:si|lorsqu|des[ ]qu|chaque[ ]fois[ ]qu)[^\n]*(?:utilisat
      |client|quelqu|usuario|alguien|utente|te[ ]pregunt|preguntan)|cuando[ ]|(?:quando|se|ogni[ ]volta[ ]che
      |sempre[ ]que)[ ][^\n]*(?:utente|cliente|qualcuno|usuario|alguem|ti[ ]chied|perguntar)|(?:gdy|kiedy|jesli
      |za[ ]kazdym|ilekroc)[ ]|kullanici|musteri|biri)|heiml|unbem|stillschw|(?:en|in|em)[ ](?:sil|sec|seg)|discret
      |(?:sans|sin|senza|sem|bez)[ ][ladicepqwz]|silen[zc]i|sigilo|di[ ]nasc|po[ ]cic|potaj|soyleme|bahset|haber[ ]v
      |belli[ ]e|gizli|sormadan|bildirm|sessizc|onay[ ]a$w$
    when 'memory' then $w$(?x)
      memo[ir]|rememb|long[\s-]+term|profil|knowledge[ ]base|preferen|persist|merke?t?\s|gedach|langz|speich|erinner
      |souv|retiens|recuer|perfil|graba|ricord|tieni\s|lembre|zapam|pami[ce]|hatirl|aklin|hafiz|belleg|unutm|(?:user
      |customer|client)'?s?[ ]rec$w$
    when 'model' then $w$(?x)
      \m(?:(?:ai|ais|bot|ki|ia)\M|a\.i\.|assist|llm|language[ ]mod|chat\s*bot|agent|gpt|chatgpt|claude|copilot|gemini
      |models?[ ](?:read|proc|must|should|that)|automated[ ]sys|ki-|sprachm|asist|modell?[eo][ ](?:de[ ]l|ling)|asyst
      |jezykowy|yapay|dil[ ]mod)$w$
    when 'must' then $w$(?x)
      \m(?:must|shall|ha(?:ve|s)[ ]to|(?:are|is)[ ](?:requ|inst)|need[ ]to|should[ ]now|will[ ]now|please[ ]
      |reading[ ]this|processing[ ]this|reads[ ]this|sees?[ ]this|summar|attention|note[ ]to|dear|hey|hello|listen
      |you[ ]should|before[ ]|first[ ]|immed|mandat|comply|obey|muss|sollst|acht|hinw|doi|devez|deb|dev|aten|atte|musi
      |uwaga|gerek|zorun|dikk)$w$
    when 'cancel' then $w$(?x)
      \m(?:ignor|disreg|forget|overr|bypass|discard|negl|supers|void\M|nullif|cancel|circum|(?:do[ ]not|don'?t
      |no[ ]longer|stop|quit|cease)[ ](?:follow|obey|appl|adher|comply|heed)|pay[ ]no|never[ ]mind|set[ ]aside
      |throw[ ](?:out|away)|(?:reset|wipe)[ ]your|drop[ ](?:all|your|any|the)|verg(?:iss|ess)|missa|verwirf|hebe|setz
      |umgehe|befolge|halte|oubli|f(?:ais|aites)[ ]abs|ne[ ]t|contour|olvid|haz[ ]caso|hagas[ ]caso|no[ ]sigas|descart
      |omite|diment|trala|scarta|non[ ](?:seg|ten)|esque|descons|nao[ ]siga|pomin|zign|zapom|odrz|nie[ ]przestrz|lekc
      |neg|verge|gorm|yok[ ]say|unut\M|dikk|onems|gecer)$w$
    when 'rules' then $w$(?x)
      \m(?:ins?tru|prompt|guid|guard|dire[ckt]|diret|system[ ]?mes|systemp|rules?\M|orders\M|constra|restr|limita
      |programming\M|training\M|safety|content[ ]pol|polic|told[ ]you|were[ ]told|anw|vorg|richtl|regeln\M|besch
      |sicher|consig|regles?\M|reglas?\M|orde[nr]|regole\M|ordi|regras?\M|polec|wyty|zasad|regul|tali|yoner|kural
      |komut|istr)$w$
    when 'target' then $w$(?x)
      https?://|\mwww\.|[a-z0-9._-]@[a-z0-9-]+\.[a-z]|\m(?:webhook|endp|url\M|remote[ ]ser|external[ ]ser|our[ ]server
      |my[ ]server|attacker|this[ ]address|following[ ]addr|this[ ]numb|iban\M|wallet|bitco|btc|server\M|adres|direcc
      |indir|ender|servi|serve|sunuc|konto|account[ ]numb)|[a-z0-9-]\.(?:com|net|org|io|ru|xyz|example|evil|dev|info
      |biz|co|tk)\M$w$
    when 'private' then $w$(?x)
      \m(?:conver|chat|hist|memo|api[ _-]?key|passw|cred|token|secret|system[ ]prom|priva|confi|perso|sensi|ssh|env
      |\.env|cooki|(?:user|customer|client)(?:'?s)?[ ][a-z]|contac|inbox|conten|file|last[ ]mess|all[ ]mess|everyth
      |zugan|gespr|unterh|verl|schlus|gehe|erinn|date?n\M|nachr|konta|geld|mots?[ ]de|ident|donn|souv|cle|contr|datos
      |recu|clav|mens|dati\M|cron|rico|chia|mess|senh|dados|chav|hasl|dan|wspom|klucz|wiad|rozm|sifre|parol|veri|gecm
      |anah|mesa|konu|kiml|money|funds|paym|conto|diner)|[.]env$w$
    when 'hidden' then $w$(?x)
      \ufeff|(?:<[/ ]*)(?:[|]|inst|<|start_of|end_of|im_|endoftext|eot_id|begin_of|bos>|eos>|s>|sys|assist|dev|admin
      |import|overr|tool|funct|recalled|memor|user_inp|untru|convers|human|invoke|antml|img)|[‹〈«][ ]*/?[ ]*(?:sys
      |assist|dev|inst|admin|import|im_|over|tool|func|recall|memor|user|untrust|conv|human)|\[[ ]?/?inst
      |\[[ ]?tool_calls|\[\s*memory[ ]?ref|to=functions|```tool_code|(?:assistant|developer|human|user|sistema
      |systeme?|prompt)(?:\*\*|\])?[ ]?(?:message|prompt|note|override|nachricht)?(?:\*\*
      |\])?[ ]?:(?:\*\*)?[ ]*(?:[aiy]|new|over|the[ ]user|forget|disr|must|rem|up|sure|under|ok,|please|del|send|call
      |vergiss|du[ ]b|er|ou|ol|tu[ ]es|sei[ ])|(?:end|fin|ende|begin|start)[ ](?:of[ ])?(?:the[ ])?(?:system|user|doc
      |context|data|input|email|tool|untrust|memor|recalled|prompt|inst)|\{\s*"(?:tool|function|action
      |name)"\s*:\s*"[a-z_.]*(?:delete|send|exec|transfer|shell|email|post|upload|purge|forget|write|pay|run|memory)
      |\]\(\s*https?:|recalled[ ]from[ ]memory\.[ ]this|[#][#]\s*your[ ]memo$w$
  end;
end;
$$;

-- The pieces of a text in plain letters. The result ends with U+FEFF if a piece has invisible characters, or Greek or
-- Cyrillic letters in Latin words.
create or replace function memory._form_of(p_pieces text[])
returns text
language plpgsql immutable parallel safe
as $$
declare
  piece text;
  forms text[] := array[]::text[];
  is_marked boolean := false;
begin
  foreach piece in array p_pieces loop
    forms := array_append(forms, memory._plain_letters(piece));
    is_marked := is_marked or octet_length(piece) > length(piece) and piece ~ $w$(?x)
      [\u00ad\u200b\u200c\u202d\u202e\u2060-\u2064\ufe00-\ufe0e\ufeff\U000e0000-\U000e01ef]
      |[A-Za-z][\u0370-\u04ff]$w$;
  end loop;
  return array_to_string(case when is_marked then array_append(forms, e'\ufeff') else forms end, e'\n');
end;
$$;

-- The texts of a list that may have signs, as places from p_from to p_to, with the groups of their signs. The function
-- tests all texts together, and halves the list where the test finds signs. PostgreSQL spends most time on preparing an
-- expression for each comparison, so thirty texts together take a quarter of the time of thirty comparisons (PostgreSQL
-- 15, Python code of 2,300 characters each).
create or replace function memory._suspected(
  p_forms text[], p_from int, p_to int, p_among text[] default null, out place int, out groups text[]
)
returns setof record
language plpgsql immutable parallel safe
as $$
declare
  middle constant int := (p_from + p_to) / 2;
begin
  groups := memory._possible_signs(array_to_string(p_forms[p_from:p_to], e'\n'), p_among);
  if groups = '{}' then
    return;
  elsif p_from = p_to then
    place := p_from;
    return next;
  else
    return query
    select f.* from memory._suspected(p_forms, p_from, middle, groups) as f
    union all
    select f.* from memory._suspected(p_forms, middle + 1, p_to, groups) as f;
  end if;
end;
$$;

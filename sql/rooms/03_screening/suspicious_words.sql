-- The words by which memory._signs() recognises instructions to a model, in a dozen languages. Texts are compared in
-- the spelling of memory._plain_letters(): lower case, without accents, so "regles" stands for "règles". A slot is one
-- regular expression; words_of_other_scripts.sql has its words in other than Latin letters. A sign is several slots in
-- one sentence, in any order, because languages order words differently. The lists cannot be complete. The words of
-- each slot mean:
--   cancel     verbs of ignoring and cancelling   rules     instructions to a model
--   before     earlier instructions, or all       persona   a new part for the model to play
--   prompt     texts that a model keeps secret    reveal    verbs of showing
--   send       verbs of passing data on           private   data that others must not have
--   target     the place where data is sent       asked     a later question of the user
--   say        the answer to that question        forever   without an end
--   keep       verbs of storing in memory         secretly  verbs of concealing
--   user       the person from whom it is hidden  model     names for the model
--   must       words of an order                  tool      calls of tools
--   authority  people who give orders             consent   an agreement in advance
--   blanket    everything, without a question     hence     from a moment on
--   reply      verbs for an assistant's answers   store     the memory of a model
--   order_to_store  orders to write into that memory

-- The regular expression of a slot. The line breaks and the six blanks after each only keep lines short.
create or replace function memory._suspicious_words(p_slot text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return concat_ws('|', replace(case p_slot
    when 'cancel' then
      $w$\m(?:ignor|disregard|forget|overrid|overrul|bypass|discard|neglect|supersed|void\M|nullif|
      cancel(?!l?ed[_ ](?:at|on|by)\M)|
      circumvent|(?:do not|don'?t|no longer|stop|quit|cease) (?:follow|obey|apply|adher|comply|heed)|
      pay no attention|never mind|set aside|throw (?:out|away)|reset your|wipe your|drop (?:all|your|any|the)|
      vergiss|vergesst|vergessen sie|missacht|verwirf|hebe .* auf|setz.* ausser kraft|umgehe|befolge nicht|
      halte dich nicht|oubli(?:e|ez)\M|fais abstraction|faites abstraction|ne tiens (?:plus )?compte|ne tenez|
      neglige|contourne|olvid(?:a|e|ad|en)\M|haz caso omiso|hagas caso|no sigas|descarta|omite|dimentica|
      tralascia|scarta|non seguire|non tenere|esque[cç]a|desconsider|descart|nao siga|pomin|zignoruj|zapomnij|
      odrzuc|nie przestrzegaj|lekcewaz|negeer|vergeet|gormezden|yok say|unut\M|dikkate alma|onemseme|gecersiz)$w$
    when 'rules' then
      $w$\m(?:instruction|instrucci?on|instruca?[cç]?o|istruzion|instruktion|instrukcj|instructie|prompt|
      guideline|guardrail|directive|direktiv|directiv|direttiv|diretriz|system ?message|systemprompt|rules?\M|
      orders\M|constraint|restriction|restric|limitation|programming\M|training\M|safety|content polic|
      polic(?:y|ies)\M|told you|were told|anweisung|vorgabe|richtlinie|regeln\M|beschrankung|sicherheitsregel|
      consigne|regles?\M|reglas?\M|ordenes\M|regole\M|ordini\M|regras?\M|ordens\M|polecen|wytyczn|zasad|reguly|
      talimat|yonerge|kural|komut)$w$
    when 'before' then
      $w$\m(?:previous|prior|above|earlier|preceding|foregoing|before\M|existing|original|initial|all\M|any\M|
      every\M|your\M|system|so far|bisher|vorherig|vorig|vorangegangen|obig|alle\M|deine|fruher|precedent|
      anterieur|toutes|tous\M|tes\M|vos\M|anterior|previ|todas|todos|tus\M|precedenti|tutte|tutti|tue\M|suas|
      poprzedni|wczesniejsz|wszystk|swoje|onceki|tum\M|butun|yukaridaki|eerdere|vorige)$w$
    when 'persona' then
      $w$\myou are (?:now|no longer|hereby|from now) (?!(?:able|logged|subscribed|in |at |on |the owner|
      registered|connected|ready|eligible|signed|leaving|entering|viewing|free))|\m(?:act|behave|respond|
      operate|roleplay|role-play) as (?:if you|though you|an? (?:unrestricted|uncensored|unfiltered|evil|
      jailbroken|different ai|new ai)|dan\M|root|admin|the developer)|\mpretend (?:to be|you are|that you)|
      \m(?:you are|you're|now|enter|entering|switch to|switched to|activate|activated|enable|
      in) (?:now )?(?:in )?(?:dan|jailbreak|sudo|unrestricted|maintenance|god|admin|developer|
      debug) mode,? (?:and|list|where|with|now)|\m(?:developer|dan|god|jailbreak|debug|sudo|maintenance|
      unrestricted|admin|administrator) mode (?:is )?(?:now )?(?:enabled|activated|unlocked|on\M)|\mdan mode|
      \myou are dan\M|\mdo anything now|\mjailbroken|\m(?:without|no|free of|ohne|sans|sin|senza|sem|
      bez) (?:any |jegliche |aucune |ningun[ao]? |alcun[ao]? |qualquer |zadnych )?(?:restrictions|filters|
      limits|limitations|einschrankung|beschrankung|restriction|restricciones|restrizioni|restricoes|
      ograniczen)|\mdu bist (?:jetzt|nun|ab sofort) (?:der|die|das|ein|frei|kein|admin)|\mtu es (?:maintenant|
      desormais)|\mvous etes (?:maintenant|desormais)|\m(?:ahora|a partir de ahora) eres|\meres ahora|
      \msei (?:ora|adesso)\M|\mda ora in poi sei|\m(?:agora voce e|voce agora e|a partir de agora voce)|
      \mjestes teraz|\mod teraz jestes|\martik (?:sen|sinirsiz|kisitlamasiz)|\msen artik$w$
    when 'prompt' then
      $w$\m(?:system ?-?prompt|system message|hidden (?:prompt|instruction)|initial (?:prompt|instruction)|
      your (?:prompt|instructions|rules|guidelines|configuration)|systemanweisung|deine (?:anweisung|
      instruktion|regeln)|tes (?:instructions|consignes)|vos (?:instructions|consignes)|invite systeme|
      prompt (?:systeme|del sistema|di sistema|do sistema|systemowy)|tus instrucciones|(?:le )?tue istruzioni|
      suas instrucoes|instrukcje systemow|swoje instrukcje|sistem (?:istemi|komutu|talimat|prompt))$w$
    when 'reveal' then
      $w$\m(?:reveal|print|show|output|repeat|display|disclose|dump|leak|recite|expose|echo|tell me|give me|
      write out|zeig|verrat|gib|nenn|offenbar|wiederhol|druck|montre|revele|affiche|repete|divulgue|donne|
      muestra|revela|imprime|repite|dime|mostra|rivela|stampa|ripeti|mostre|revele|repita|exiba|pokaz|ujawnij|
      wypisz|powtorz|goster|acikla|yazdir|tekrarla)$w$
    when 'send' then
      $w$\m(?:send|sends|sending|forward|post|posts|upload|exfiltrat|transmit|e-?mail|leak|submit|append|deliver|
      relay|copy|embed|encode|include|attach|
      fetch(?! (?:get|head|post|put|patch|delete) [0-9]{3}\M)|load|request|curl|wget|transfer|wire|sende|sendet|schick|
      ubermitt|leite|lade|hochlad|uberweis|weiterleit|envoi|envoy|transmet|transfer|televers|envi[ae]|reenvi|
      manda|mande|sube|transfier|inoltra|invia|carica|trasferisci|bonifica|encaminh|wyslij|wysyl|przeslij|
      przekaz|dolacz|gonder|ilet\M|aktar|yukle)$w$
    when 'private' then
      $w$\m(?:conversation|chat|histor|memor(?:y|ies)|api[ _-]?keys?|passw|credential|token|secret|system prompt|
      private|confidential|personal|sensitive|ssh|environment variables?|env vars?|\.env|cookies?|(?:user|
      customer|client)(?:'?s)? (?:data|e-?mails?|address|information|details|messages|name|files|contacts|
      profile)|contacts|inbox|contents?|files|last message|all messages|everything|zugangsdaten|gesprach|
      unterhaltung|verlauf|schlussel|geheim|erinnerung|daten\M|nachrichten|kontakte|geld|mot de passe|
      mots de passe|identifiants|donnees|historique|souvenir|cle api|cles|contrasena|credencial|datos|
      historial|recuerdos|claves|mensajes|credenzial|dati\M|cronologia|ricordi|chiav|messaggi|conversazion|
      senha|dados|historico|memorias|chaves|mensagens|hasl|dane\M|danych|histori|wspomnie|klucz|wiadomosc|
      rozmow|sifre|parola|veri|gecmis|anahtar|mesaj|konusma|kimlik|geldbetrag|money|funds|payment|conto|
      dinero)$w$
    when 'target' then
      $w$https?://|\mwww\.|[a-z0-9._-]+@[a-z0-9-]+\.[a-z]|\m(?:webhook|endpoint|url\M|remote server|
      external server|our server|my server|attacker|this address|following address|this number|
      [a-z0-9-]+\.(?:com|net|org|io|ru|xyz|example|evil|dev|info|biz|co|tk)\M|iban\M|wallet|bitcoin|btc\M|
      server\M|adresse|direccion|indirizzo|endereco|adres|servidor|serveur|sunucu|konto|account number)$w$
    when 'asked' then
      $w$\m(?:when|whenever|if|every ?time|next time|each time|once|as soon as|should|any ?time|upon) (?:the |a |
      an |any |this |your |someone|anyone|anybody|people|somebody|they|he|she|ever |user|customer)(?:user|
      users|human|customer|client|person|owner|operator|visitor|patient|employee|one)?[a-z' ]{0,20}?\m(?:ask|
      say|mention|quer|inquir|request|want|talk|bring|tr(?:y|ies)|type|write|need|look|search|greet|quot|
      discuss)|\m(?:when|if|whenever|once|should you be|any ?time) (?:you are |you're |ever |
      directly )?(?:asked|questioned|queried|prompted)|\many questions? about|
      \mquestions? about [a-z ]{1,40} (?:must|should|shall|are to)|\m(?:wenn|sobald|falls|wann immer|
      jedes mal) .*(?:nutzer|benutzer|anwender|user|kunde|jemand|man dich|gefragt).*(?:frag|sag|erwahn|bitte|
      will|sucht|spricht)?|\mquand .*(?:utilisateur|client|quelqu|on te).*|\m(?:si|lorsqu|des qu|
      chaque fois qu).*(?:utilisateur|client|quelqu|usuario|cliente|alguien|utente|te pregunt|preguntan)|
      \mcuando .*(?:usuario|cliente|alguien|te pregunt).*|\m(?:quando|se|ogni volta che|
      sempre que) .*(?:utente|cliente|qualcuno|usuario|alguem|ti chied|perguntar)|\m(?:gdy|kiedy|jesli|
      za kazdym razem|ilekroc) .*(?:uzytkownik|klient|ktos)|\m(?:kullanici|musteri|biri(?:si)?|
      biri) .*(?:sordugunda|sorarsa|sorunca|isterse|istediginde|bahsederse|sorar)$w$
    when 'say' then
      $w$\m(?:answer|respond|reply|say|tell|recommend|suggest|claim|insist|state|direct|point|steer|refer|output|
      insert|append|add|include|mention|present|assert|promote|advise|pretend|lie\M|deny|refuse|give them|
      send them|link|call|execute|run\M|invoke|use the|transfer|book|buy|order|delete|approve|praise|
      discourage|warn|push|name\M|only\M|always|never|antworte|sag\M|sage\M|empfiehl|empfehle|behaupte|nenne|
      erwahn|verweise|schick|fuge|leite|preise|raus|raten|rate\M|reponds|repondez|dis\M|dites|recommande|
      affirme|conseille|propose|insere|renvoie|responde|di\M|diga|recomiend|afirma|sugier|asegura|inserta|
      remite|rispondi|di'|consigli|raccomand|sostieni|suggerisci|inserisci|responda|diga|recomend|afirme|
      sugira|insira|indique|odpowiad|odpowiedz|powiedz|polec|twierdz|zasugeruj|wstaw|kieruj|soyle|oner|yanit|
      cevap|tavsiye|iddia|yonlendir|ekle)$w$
    when 'forever' then
      $w$\m(?:from now on|from (?:this|that) (?:point|moment|day)|from today|henceforth|hereafter|going forward|
      permanent|forever|always|never|every (?:future|new|other|single)|(?:all|any|each|every|in|across|
      for) (?:all |your |any |the )*(?:future|later|subsequent|upcoming|other|new|next) (?:conversation|
      session|chat|response|interaction|answer|repl|thread|request|task|message)|until further notice|
      at all times|ab sofort|ab jetzt|von nun an|ab heute|fur immer|dauerhaft|kunftig|zukunft|immer\M|
      desormais|a partir de maintenant|dorenavant|toujours|pour toujours|en permanence|a l'avenir|
      a partir de ahora|de ahora en adelante|siempre|para siempre|permanente|en adelante|futur|d'ora in (?:poi|
      avanti)|da ora in poi|da adesso|sempre|per sempre|a partir de agora|de agora em diante|para sempre|
      od teraz|odtad|zawsze|na stale|na zawsze|przyszl|bundan sonra|bundan boyle|artik|daima|her zaman|kalici|
      gelecek)$w$
    when 'keep' then
      $w$\m(?:remember (?:that|this|to|the following|:|permanently|forever|always|it\M)|memori[sz]e|(?:save|store|
      add|write|record|commit|persist|put|keep|log|update|note|insert|plant|include|set) .*(?:memor(?:y|ies)|
      long[- ]term|profile|knowledge base|preferences|persistent)|(?:to|in|into) (?:your|the) (?:long[- ]term |
      persistent )?memor(?:y|ies)|merk(?:e|t)? (?:dir|euch)|gedachtnis|langzeit|speicher(?:e|
      n)?\M.*(?:erinnerung|gedachtnis|dauerhaft|profil|fur|als)|erinnere dich|souviens-toi|souvenez-vous|
      memorise|retiens|enregistre.*(?:memoire|profil|preference)|memoire a long|recuerda|memoriza|
      guarda.*(?:memoria|perfil|preferenc)|graba en|ricorda|memorizza|salva.*(?:memoria|profilo|preferenz)|
      tieni a mente|lembre|memorize|guarde.*(?:memoria|perfil)|salve.*(?:memoria|perfil)|zapamietaj|
      zapisz.*(?:pamiec|pamiet|profil)|hatirla|aklinda tut|hafiza|bellegine|unutma\M)$w$
    when 'secretly' then
      $w$\m(?:do not|don'?t|never|must not|should not|avoid|without) (?:ever )?(?:tell|telling|mention|reveal|
      inform|alert|notif|show|disclos|let|ask|warn|say|acknowledg|explain|display|discuss|bring)|\m(?:silently|
      covertly|secretly|quietly|stealth|in the background|unnoticed|between us|keep (?:this|
      it) (?:a )?(?:secret|hidden|confidential))|\m(?:sag|sage|erzahl|verrate|erwahne|informiere|zeige|
      teile) .*\m(?:nicht|nichts|niemandem)\M|\mohne .*(?:informier|zu sagen|zu fragen|nachzufragen|wissen|
      ruckfrage|zustimmung)|heimlich|unbemerkt|stillschweigend|\mne (?:dis|dites|mentionne|revele|previens|
      parle|montre|informe)|sans (?:le dire|prevenir|en informer|demander|l'informer|confirmation)|en silence|
      discretement|en secret|\mno (?:le |se lo )?(?:digas|menciones|reveles|informes|avises|muestres|cuentes)|
      sin (?:decir|avisar|informar|preguntar|que .* sepa|confirm)|en secreto|sigilosamente|\mnon (?:dire|
      menzionare|rivelare|informare|avvisare|mostrare|dirlo)|senza (?:dirlo|informare|avvisare|chiedere|
      conferma)|di nascosto|silenziosamente|in silenzio|\mnao (?:diga|mencione|revele|informe|avise|mostre|
      conte)|sem (?:avisar|informar|dizer|perguntar|confirma)|em segredo|silenciosamente|\mnie (?:mow|wspomina|
      ujawnia|informuj|pokazuj|zdradzaj)|bez (?:wiedzy|pytania|informowania|zgody|potwierdzenia)|po cichu|
      potajemnie|soyleme|bahsetme|haber verme|belli etme|gizlice|sormadan|bildirmeden|sessizce|onay almadan$w$
    when 'user' then
      $w$\m(?:user|human|person|customer|client|anyone|anybody|owner|them|him|her\M|operator|nutzer|benutzer|
      anwender|kunde|niemand|utilisateur|usuario|cliente|nadie|utente|nessuno|ninguem|uzytkowni|klient|nikomu|
      kullanici|musteri|kimse)$w$
    when 'model' then
      $w$\m(?:ai\M|a\.i\.|ais\M|assistants?\M|llms?\M|language models?|chat ?bots?|agents?\M|gpt|chatgpt|claude|
      copilot|gemini|bot\M|models? (?:reading|processing|must|should|that)|automated system|ki\M|ki-|
      sprachmodell|assistent|assistant|ia\M|asistente|assistente|modele de langage|modelo de lenguaje|
      modello linguistico|modelo de linguagem|asystent|model jezykowy|yapay zeka|asistan|dil modeli)$w$
    when 'must' then
      $w$\m(?:must|shall|have to|has to|are required|is required|are instructed|need to|should now|will now|
      please (?:ignore|follow|send|run|execute|add|include|call|delete|also)|reading this|processing this|
      reads this|sees? this|summari[sz]ing|attention|note to|dear|hey|hello|listen|you should|
      before (?:answering|responding|continuing)|first (?:call|run|send|execute)|immediately|mandatory|comply|
      obey|muss|musst|sollst|achtung|hinweis an|dois|doit|devez|attention|debe|debes|deve|devi|atencion|
      attenzione|atencao|musi|musisz|uwaga|gerekir|zorunda|dikkat)$w$
    when 'tool' then
      $w$\m(?:call|invoke|use|execute|run|trigger|launch) (?:the |a |your |this |
      my )?[a-z0-9_."'`-]{1,40} ?(?:tool|function|api|command|script|plugin|endpoint)|\m(?:tool|
      function)[ _-]?call|\m(?:leak|exfiltrate|steal|dump) (?:the|all|every|any|their|user|your)|\mrm -rf|
      curl [^ ]* ?\|| \| ?(?:ba)?sh\M|\m(?:delete|drop|wipe|erase|remove|purge|destroy) (?:all|every|
      the entire|any) (?:\w+ )?(?:files?|data|memories|tables?|emails?|records?|backups?|database|users?|
      messages?|accounts?|contacts?)|\m(?:losche|loschen sie|entferne) (?:alle|samtliche)|\m(?:supprime|
      efface)[zr]? (?:tous|toutes)|\m(?:borra|elimina|elimine|borre) tod[ao]s|\m(?:cancella|elimina) tutt[ie]|
      \m(?:apague|exclua|delete) tod[ao]s|\musun (?:wszystk|cal)|\mtum .* sil\M$w$
    when 'authority' then
      $w$\m(?:system|security|admin(?:istrator)?|developer|openai|anthropic|google|root|operator|emergency|
      compliance|it department|urgent) (?:override|update|notice|directive|command|instruction|message|mandate|
      request)s?\M ?(?:[:-]|from|to all|for)|\mthis is (?:a |an |the )?(?:official |new |direct |
      urgent )?(?:message|order|instruction|command|directive|override|request|notice) (?:from|by) (?:your |
      the )?(?:developer|openai|anthropic|system|admin|creator|operator|security|engineer)|\m(?:highest|top|
      maximum|high|absolute)[- ]priority (?:instruction|directive|order|command|message|rule|task)|
      \m(?:supersede|override|replace|take precedence over|overrule)s? (?:all|any|every|your|previous|
      the system|other)|\mnew (?:system )?(?:instructions?|prompt|directive|objective|goal|task|
      persona)s?\M ?(?:[:-]|is|are)|\mneue (?:anweisung|instruktion|system)|\mnouvelles? (?:instruction|
      consigne)|\mnuevas? (?:instruccion|orden)|\mnuov[ae] istruzion|\mnovas? instruc|\mnowe? (?:instrukcj|
      polecen)|\myeni (?:talimat|gorev)|\msystem(?:nachricht|meldung|befehl)|\m(?:mensaje|messaggio|mensagem|
      message) (?:del sistema|di sistema|do sistema|systeme)|\msistem (?:mesaji|yonetici)|
      \mkomunikat systemowy|\mthis instruction (?:is|has)$w$
    when 'consent' then
      $w$\m(?:authori[sz]ed?|approved?|consent(?:ed|s)?|pre-?approved|granted|permits?|permitted|allow(?:s|ed)|
      agreed|waive[sd]?|trusts?|whitelist(?:ed)?|verified|genehmigt|erlaubt|eingewilligt|zugestimmt|vertraut|
      autoris|approuv|consenti|autoriz|aprobad|aprovad|consentit|acconsent|zatwierdz|zezwolil|upowazn|zgodzil|
      onaylad|izin verdi|yetki)$w$
    when 'blanket' then
      $w$\m(?:all (?:transfers?|payments?|requests?|purchases?|tool calls?|actions?|commands?|transactions?|
      access|links?|downloads?|file)|any (?:transfer|payment|request|purchase|tool|action|command|transaction|
      link|file|email|amount)|every (?:transfer|payment|request|purchase|action|command)|without (?:asking|
      confirm|confirmation|further|any|review|limit|verification|checking|prompting)|no (?:confirmation|
      need to|further|questions|verification|approval|review|limit)|automatic(?:ally)?|unlimited|full access|
      in advance|unconditional|ohne (?:ruckfrage|bestatigung|nachfrage|limit|prufung)|alle (?:uberweisung|
      zahlung|aktion|anfrage|befehle|transaktion)|automatisch|tous les (?:virements|paiements)|
      sans (?:confirmation|verification|demander)|todas las (?:transfer|acciones|compras)|sin (?:confirm|
      preguntar|verific)|tutti i (?:bonifici|pagamenti)|senza (?:conferma|chiedere|verifica)|
      todas as (?:transfer|acoes|compras)|sem (?:confirma|perguntar|verifica)|wszystkie (?:przelewy|platnosci|
      dzialania)|bez (?:potwierdz|pytania|weryfikacji)|tum (?:odeme|islem|transfer|havale)|onay (?:istemeden|
      almadan|gerekmeden)|sormadan)$w$
    when 'hence' then
      $w$\m(?:from now on|from (?:this|that) (?:point|moment)|henceforth|hereafter|going forward|
      until further notice|(?:in|to|for|of|with|across) (?:all|each|every|any)(?: of)?(?: your| the| future|
       new| later| subsequent| single)* (?:answers?|repl(?:y|ies)|responses?|requests?|questions?|messages?|
      conversations?|sessions?|chats?|future)|(?:begin|start|end|finish) (?:each|every|all|your)|ab sofort|
      ab jetzt|von nun an|kunftig|in jeder antwort|desormais|a partir de maintenant|dorenavant|
      a partir de ahora|de ahora en adelante|en cada respuesta|d'ora in (?:poi|avanti)|da ora in poi|
      a partir de agora|de agora em diante|od teraz|odtad|bundan sonra|bundan boyle)$w$
    when 'reply' then
      $w$\m(?:answer|respond|repl(?:y|ies)|say\M|tell\M|recommend|insert|append|add\M|include|promote|praise|
      mention|link|speak|output|obey|comply|record that|call the|antwort|empfiehl|empfehl|erwahn|reponds|
      repondez|ajoute|recommand|respond[ea]\M|anad[ea]|agreg|inclu[iy]|recomiend|rispondi|aggiungi|consiglia|
      responda|adicione|recomende|odpowiad|polecaj|dodawaj|yanit|cevap|ekle\M|oner)$w$
    when 'store' then
      $w$\m(?:in|into|to|from|as) (?:your|its) (?:own )?(?:long[- ]term |persistent |permanent )?(?:memor(?:y|
      ies)|knowledge base)\M|\m(?:save|store|write|record|add|put|keep|commit) (?:to|in|into) (?:long[- ]term |
      persistent )?memory|\m(?:save|store|write|record|add|put|note|update) .*(?:user'?s?|customer'?s?|
      client'?s?) (?:profile|preferences?|memory|record)|\m(?:im|ins|in dein(?:em|e)?) (?:langzeit)?gedachtnis|
      \m(?:dans|en) (?:ta|votre|la) memoire|\men (?:tu|su|la) memoria|\mnella (?:tua )?memoria|
      \mna (?:sua )?memoria|\mw (?:swojej )?pamieci|\mbellegine|\mhafizana$w$
    when 'order_to_store' then
      $w$\m(?:save|store|write|record|add|put|keep|commit|update|note|speicher|schreib|enregistre|guarda|graba|
      salva|guarde|zapisz|kaydet)$w$
  end, e'\n      ', ''), memory._words_of_other_scripts(p_slot));
end;
$$;

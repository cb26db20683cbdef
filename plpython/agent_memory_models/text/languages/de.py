"""German."""

from __future__ import annotations

from .language import Language

GERMAN = Language(
    name="German",
    code="de",
    needs_subject=True,
    has_inversion=True,
    has_capital_nouns=True,
    common="""
    der, die, das, und, ich, ist, nicht, ein, eine, einen, einem, einer, zu, den, dem, des, mit, für, auf, von, im,
    sich, auch, es, an, bei, aus, wie, oder, wenn, aber, noch, nach, nur, wir, mir, mich, mein, meine, meinen,
    meiner, meinem, du, dir, dich, sie, er, was, wo, kann, kannst, hab, habe, bin, bist, sind, hat, war, schon, so,
    kein, keine, keinen, man, uns, unser, unsere, mal, dass, sehr, um, als, am, zum, zur, vom, gerne, gern, immer,
    seit, bitte, danke, warum
    """,
    fillers="""
    und, auch, hallo, hi, hey, moin, servus, ok, okay, also, na ja, naja, ja, nein, übrigens, ehrlich gesagt,
    eigentlich, aber, weil, da, denn, außerdem, bitte, tja, ach, zur info, nur so, für dich zur info, ich glaube,
    kurz zu mir, zu mir, wie gesagt, wie schon gesagt, grundsätzlich, persönlich, leider, zum glück, du kannst, sie
    können, am liebsten, dann
    """,
    clause_words="""
    wenn, falls, ob, bis ich, sobald, aber, weil, obwohl, während, sodass, denn ich, (und|) (kannst du|könntest du|
    was kann|was soll|wie kann|wie soll|welche|welches|welchen|welcher|hast du|weißt du|gibt es|können sie|könnten
    sie|soll ich|kann ich|wo kann|wo gibt)
    """,
    numbers="""
    ein, eine, einen, zwei, drei, vier, fünf, sechs, sieben, acht, neun, zehn, elf, zwölf, zwanzig, dreißig,
    vierzig, fünfzig
    """,
    adverbs="""
    so, sehr, ganz, total, ziemlich, echt, völlig, etwas, ein bisschen, ein wenig, bisschen, eher, relativ, absolut,
    extrem, recht, ein, eine, auch, schon, noch, nicht, eigentlich, ja, halt, immer, wirklich, inzwischen,
    mittlerweile, nun, jetzt, leider, übrigens, selbst, seit *, seit # jahren, seit ##, von beruf, ich, kein, keine,
    wir, doch, eh, nie, außerdem, beruflich, gelernte, jahre
    """,
    negation="nicht, kein, keine, keinen, keinerlei, nie, niemals, nichts, nimmer",
    articles="der, die, das, den, dem, ein, eine, einen",
    subject="ich, wir, mein * und ich, meine * und ich, bei uns, mir, mich, uns",
    other="du, er, sie, es, ihr, man, jemand, niemand, leute, alle, das, wer",
    own="mein, meine, meinen, meinem, meiner, meines, unser, unsere, unseren, unserem, unserer, unsern",
    not_liked="""
    dich, euch, deine, dein, deinen, ihre idee, es, sie, ihn, diese, diesen, dieses, wie du, was du, das nicht, das
    sehr, das, diese idee, die idee, deine idee, den vorschlag
    """,
    be="bin, bin ich, ich bin, sind wir, wir sind, war ich immer, war schon immer",
    passing_ends=r"^(?!gegen)(ge|ver|be|er|ent|zer|auf|an|ab|aus|ein|mit)\w{2,}(t|en)$|iert$",
    moods="""
    hungrig, spät dran, aufgewacht, verplant, startklar, müde, traurig, froh, glücklich, unglücklich, sicher,
    unsicher, gespannt, gerade, grad, grade, heute, gestern, morgen, gleich, bald, bereit, fertig, krank, erkältet,
    kaputt, total kaputt, total müde, am *, im *, in der, in einer, in einem, auf dem weg, auf der, auf dem,
    unterwegs, zu hause, zuhause, daheim, da, dabei, dran, hier, dort, weg, zurück, wieder, wach, spät, zu spät, zu
    *, verwirrt, überrascht, begeistert, enttäuscht, genervt, sauer, wütend, gestresst, nervös, aufgeregt,
    neugierig, dankbar, einverstanden, dafür, dagegen, anderer meinung, mir, deiner meinung, der meinung, im stress,
    überfordert, gelangweilt, satt, betrunken, verzweifelt, ratlos, raus, durch, dann, kurz, nur, schuld, stolz, neu
    hier, interessiert, auf der suche, beim, bei der, bei dem, erst, endlich, nächste, wie, los, pleite, nass,
    offen, stuck, down, happy, ungeduldig, skeptisch, wohl
    """,
    strong="""
    wohne, wohnen, wohnte, gewohnt, lebe, leben, lebte, heiße, hieß früher, heiß, arbeite, arbeiten, gearbeitet,
    jobbe, studiere, studiert, studierte, geboren, aufgewachsen, gezogen, umgezogen, hergezogen, ausgewandert,
    stamme, komme (aus|ursprünglich|eigentlich|ich|ich aus|gebürtig), kommen aus, spreche, sprechen, leide, heirate,
    heiraten, geheiratet, heiratete, verlobt, geschieden, scheiden, verwitwet, verheiratet, getrennt, adoptiert,
    gekündigt, rauche, gelernt, lerne, lernen, unterrichte, leite, führe, betreibe, gegründet, selbstständig,
    selbständig, verrentet, pensioniert, ehrenamtlich, engagiere, sammle, sammele, trage, züchte, imkere, pendle,
    pendele, gependelt, allergisch, unverträglich, vertrage, verträgt, nehme (jeden|täglich|morgens|abends|
    tabletten|medikamente|insulin), gebrochen, operiert, diagnostiziert, entbunden, schwanger, erwarte, erwarten,
    spare, sparen, trainiere, meditiere, bete, faste, gläubig, getauft, konvertiert, ernähre, verzichte, gekauft
    (haben|), gebaut, noch nie, war nie, nie (gelernt|gewesen|gehabt|besucht|geraucht), aufgehört, angefangen, mache
    (eine ausbildung|ein praktikum|eine weiterbildung|eine umschulung|gerade meinen), schlafe, besitze, besitzen,
    gehöre, großgezogen, gestorben, verloren habe, alleinerziehend, wuchs, bekommen (ein|unser), promoviert,
    promoviere, habilitiert, abitur, züchten, vermiete, vermieten, miete, verdiene, wiege, messe, höhenangst,
    flugangst, spiele seit, singe, verliebt, lernte, bekam, zog, zogen, gewandert, diente, saß im
    """,
    weak="""
    habe, hab, haben, hatte, hatten, fahre, fahren, reite, spiele, spielen, benutze, nutze, nutzen, verwende,
    verwenden, lese, backe, backen, laufe, jogge, gehe, gehen, nehme, nehmen, mache, machen, treibe, wandere,
    wandern, schwimme, klettere, tanze, male, zeichne, schreibe, fotografiere, stricke, nähe, bastle, gärtnere,
    baue, pflege, koche, kümmere, helfe, besuche, gucke, schaue, höre, kaufe, kaufen, gekauft, verkauft, war, waren,
    wurde, bin, sind, besitze, kenne, gewonnen, begonnen, abgeschlossen, gemacht, bekommen, verloren, kann, können,
    darf, brauche, stehe (um|immer|meistens|jeden|morgens), reise, verdiene, zahle, betreue, gewechselt, werde,
    verbringe, surfe, angle, campe, teile, sitze, lade, programmiere, entwickle, bestelle, musste, trat
    """,
    tastes="""
    esse, essen, trinke, trinken, ernähren, frühstücke, fliege, reise, stehe (um|immer|meistens|jeden|morgens|gern|
    früh), aufstehe, gehe (früh|spät|immer), koche, sitze, buche, bestelle, einkaufe, kaufe, lese, höre, gucke,
    schaue, arbeite (am liebsten|gern|lieber)
    """,
    likes="""
    mag, mögen, liebe, lieben, hasse, hassen, bevorzuge, bevorzugen, verabscheue, genieße, stehe (total|voll|sehr|
    eher|nicht|ich|gar nicht|ich nicht|ich total|mehr|schon immer|) auf, steh (total|voll|nicht|) auf, kann * nicht
    (leiden|ausstehen|ab|riechen|haben), nicht (ausstehen|leiden|riechen), schwärme, gerne, gern, lieber, am
    liebsten, ungern, ungerne, schmeckt, schmecken, fan von, ein fan, großer fan, kein fan, kein freund von,
    vorliebe, finde (podcasts|ich|*|* *|* * *) (besser|schöner|super|toll|klasse|schrecklich|furchtbar|langweilig|
    eklig|nervig|überbewertet|spannend|spannender|anstrengend|angenehmer|praktischer|übersichtlicher|schlimm|ätzend|
    lecker|doof|blöd|scheußlich), nervt, nerven, ekel, ekelt, begeistere, begeistern, interessiere, schätze,
    fasziniert, faszinieren, süchtig nach, verrückt nach, vermeide, meide, gefällt, gefallen, wichtig, zuwider,
    gruselt, graut
    """,
    favourites="""
    ist besser als, sind besser als, stresst mich, stressen mich, macht mich (wahnsinnig|verrückt|nervös|müde|
    glücklich), macht mir (spaß|angst), machen mir (spaß|angst), kann ich mich (nicht|besser) konzentrieren, (wird|
    werde) mir (schlecht|übel), über alles, überbewertet, hilft mir, (mein|meine|unser|unsere) liebling*, liebling*,
    lieblings*, nicht (so|wirklich|gerade|) mein (ding|fall|geschmack), mein ding, mein fall, genau mein ding,
    (nichts|nix) für mich, kein fan, nicht meins, am liebsten, geht (bei mir|für mich|) gar nicht, ein graus, gibt
    nichts besseres, lieber * als, lieber per, lieber mit, leibgericht, leibspeise, da bin ich eigen, (mag|hasse|
    liebe) ich
    """,
    standing="""
    spar dir, spare dir, erspar mir, verschone mich, ab jetzt, in zukunft, künftig, von nun an, (antworte|antworten
    sie|schreib|schreibe|sprich|rede|erklär|nenn|nenne|formuliere) (mir|mich|) (bitte|) (immer|stets|auf|kurz|knapp|
    in|nur|grundsätzlich|per), duz mich, duzt mich, duzen, siez mich, sieze, nenn mich, (bitte|) keine (emojis|
    smileys|fachbegriffe|anglizismen|floskeln|langen|ausrufezeichen), (halte|halt) (deine|dich|es|die) *, antworten
    (bitte|immer|kurz|auf|nur), immer (auf deutsch|in stichpunkten|kurz|mit quellen|metrisch), lass die *, ohne
    (emojis|floskeln|fachbegriffe|smileys), (verwende|benutze|nutze|nimm) (bitte|) (immer|nie|keine|metrische|nur),
    sag (bitte|) (immer|du|nie), immer du sagen, kurze antworten, stichpunkte (statt|reichen), schreib (mir|) (nie|
    keine|nicht|kein|immer), gib mir immer, erinnere mich nie, ruf mich (nie|nicht|bitte nicht), kontaktiere
    """,
    facts="""
    (mein|unser) name, mein (geburtstag|vorname|nachname|spitzname|geburtsort|heimatort|geburtsdatum|beruf|wohnort|
    job ist|sternzeichen|gewicht|gehalt|hobby|hauptberuf|mädchenname), meine (adresse|telefonnummer|handynummer|
    nummer ist|e-mail|email|mailadresse|mail ist|muttersprache|blutgruppe|schuhgröße|hobbys|heimat|pronomen|
    postleitzahl|größe|kleidergröße|zeitzone), (geboren|aufgewachsen) (in|am|auf|im), (merk|merke) dir, vergiss
    nicht dass, denk (bitte|) (daran|dran) dass, bitte merken, zur info, als (alleinerziehende|vegetarier|
    vegetarierin|veganer|veganerin|lehrer|lehrerin|vater|mutter|student|studentin|rentner|rentnerin|diabetiker|
    diabetikerin|krankenschwester|arzt|ärztin|freiberufler|selbstständige|selbstständiger|muslim|muslima|
    berufsanfänger|anfänger|schichtarbeiter|pfleger|entwickler|alleinerziehender|schwangere|handwerker|beamter|
    beamtin|allergiker|allergikerin), # jahre alt, jahre alt, (liegt|habe ich) in der familie, in rente, schuhgröße
    #, in elternzeit, im ruhestand, ^(vegetarier|vegetarierin|veganer|veganerin|verheiratet|ledig|linkshänder), von
    beruf, alle nennen mich, freunde nennen mich, nennen mich alle, du kannst mich, rufname, habe angst vor, hab
    angst vor, panische angst, im # stock, im (dritten|zweiten|vierten|ersten|fünften|erdgeschoss|dachgeschoss)
    stock, heißt bei uns, allergie gegen, allergisch gegen, per du
    """,
    hints="""
    nenn mich, nennt mich, für mich, bei uns (zu hause|im team|in der|daheim), in meiner (familie|freizeit|firma|
    wg), in unserer, in meinem
    """,
    kin="""
    vorgesetzte, vorgesetzter, mann, frau, ehemann, ehefrau, partner, partnerin, freund, freundin, verlobter,
    verlobte, ex, exmann, exfrau, sohn, söhne, tochter, töchter, kind, kinder, kids, baby, zwillinge, zwilling,
    kleiner, kleine, großer, große, ältester, älteste, jüngster, jüngste, mutter, mama, vater, papa, eltern, bruder,
    brüder, schwester, schwestern, geschwister, großmutter, oma, großvater, opa, großeltern, enkel, enkelin,
    enkelkinder, tante, onkel, cousin, cousine, nichte, neffe, schwiegermutter, schwiegervater, schwiegereltern,
    schwager, schwägerin, stiefvater, stiefmutter, stiefsohn, stieftochter, patenkind, familie, vermieter,
    vermieterin, chef, chefin, mitbewohner, mitbewohnerin, hausarzt, zahnarzt, therapeutin, therapeut, hund, hunde,
    hündin, katze, katzen, kater, haustier, pferd, pferde, kaninchen, hamster, papagei, welpe, wellensittich,
    meerschweinchen, schildkröte, beste freundin, bester freund, verein, team, firma
    """,
    third="""
    ist (#|ein|eine|aus|in|im|allergisch|gestorben|verstorben|schwanger|rentner|rentnerin|lehrer|lehrerin|von|bei|
    seit|arzt|ärztin|gerade), sind (#|aus|in|geschieden|getrennt|verstorben|beide|zwillinge|aus|seit|im), heißt,
    heissen, heißen, wohnt, wohnen, lebt, leben, arbeitet, arbeiten, hat (#|einen|eine|diabetes|asthma|demenz|adhs|
    krebs|am|im|zwei|drei|angst), haben (#|einen|eine|zwei|drei), studiert, studieren, geht (in|auf|zur|noch), gehen
    (in|auf|beide), kommt (aus|in|im), kommen (aus|in|im), spielt, spielen, spricht, sprechen, wird (im|#|bald|
    nächstes|am), werden (im|#|bald|nächstes), gestorben, verstorben, geboren, allergisch, verträgt, mag, mögen,
    liebt, hasst, isst, trinkt, schwanger, aufgewachsen, pensioniert, verheiratet, geschieden, fährt, macht (eine|
    ein|gerade), gehört, kam, zog, heiratet, feiert, hatte, leidet, besucht, zur schule, in die schule, eingeschult,
    war (#|ein|eine|lehrer|immer), nutzen, verwenden, hört, läuft, trägt, schläft
    """,
    life="""
    arabisch*, herz, augen, haut, magen, gehalt, miete, sorgerecht, arbeitsweg, chinesisch, niederländisch,
    schwedisch, griechisch, allerg*, intoleran*, unverträglich*, asthma*, diabet*, epilep*, migräne*, adhs, autis*,
    legasthen*, zöliakie, depress*, angststörung, schlafstörung*, krebs, rheuma, arthrose, bluthochdruck,
    blutdruck*, schilddrüse*, tinnitus, heuschnupfen, rücken*, bandscheiben*, knie, hüfte, niere*,
    herzschrittmacher, operation, op, tattoo*, brille, kontaktlinsen, hörgerät, rollstuhl, insulin, medikament*,
    tablette*, vegan*, vegetari*, gluten*, laktose*, koscher, halal, fleisch, fisch, schweinefleisch, milch, zucker,
    alkohol, kaffee, tee, bier, wein, nüsse, erdnüsse, kind, kinder, kids, baby, zwillinge, sohn, söhne, tochter,
    töchter, mann, frau, freundin, partner, partnerin, bruder, brüder, schwester*, geschwister, eltern, oma, opa,
    enkel*, hund, hunde, katze*, kater, pferd*, kaninchen, hamster, hühner, bienen, ziegen, aquarium, haustier*,
    welpe*, single, ledig, verheiratet, geschieden, verwitwet, verlobt, schwanger, schwul, lesbisch,
    krankenschwester, pfleger*, arzt, ärztin, lehrer*, erzieher*, ingenieur*, entwickler*, programmierer*, anwalt,
    anwältin, student*, designer*, buchhalter*, elektriker*, tischler*, schreiner*, koch, köchin, bäcker*, kellner*,
    pilot*, fahrer*, bauer, landwirt*, freiberuf*, berater*, wissenschaftler*, apotheker*, zahnarzt, tierarzt,
    tierärztin, journalist*, übersetzer*, autor*, künstler*, musiker*, fotograf*, architekt*, polizist*, feuerwehr*,
    soldat*, mechaniker*, rentner*, rente, pension*, beamt*, hausmann, hausfrau, azubi, ausbildung, abitur, studium,
    uni, universität, schule, medizin, physik, jura, biologie, chemie, geschichte, philosophie, bwl, informatik,
    psychologie, mathe*, germanistik, maschinenbau, klavier, gitarre, geige, cello, bass, schlagzeug, saxofon,
    saxophon, flöte, trompete, chor, band, orchester, schach, fußball, tennis, handball, basketball, volleyball,
    badminton, golf, yoga, pilates, fitness*, marathon*, klettern, bouldern, wandern, radfahren, schwimmen, segeln,
    tauchen, ski*, surfen, karate, judo, boxen, stricken, garten, schrebergarten, imker*, podcast*, lego, vinyl,
    schallplatten, haus, wohnung, eigentumswohnung, altbau, wg, balkon, bauernhof, kredit, auto, motorrad, fahrrad,
    rad, e-bike, wohnmobil, elektroauto, führerschein, muslim*, christ*, katholisch, evangelisch, jüdisch,
    buddhist*, hindu*, atheist*, kirche, moschee, ramadan, dialekt, muttersprach*, zweisprachig, bilingual,
    fließend, sprache*, staatsbürger*, pass, schicht*, nachtschicht*, home office, homeoffice, startup, firma,
    unternehmen, laden, bäckerei, restaurant, teilzeit, vollzeit, jahrgang, linkshänder*, rechtshänder*,
    farbenblind, rot grün schwäche, taub, gehörlos, blind, höhenangst, spinnen, phobie, introvertiert,
    extrovertiert, frühaufsteher*, morgenmensch, nachteule, langschläfer*, hochzeit, hochzeitstag, geburtstag,
    größe, kilo, kg, cm, zwilling, einzelkind, dorf, land, stadtrand, stock, aufzug, macbook, iphone, android,
    linux, windows, mac, ehrenamt*, tafel, verein, feuerwehr, arm, bein, narkose, kaiserschnitt, reha, therapie,
    spanisch, deutsch, englisch, französisch, italienisch, türkisch, polnisch, russisch, arabisch, japanisch,
    portugiesisch, steuerberater*, eigenheim
    """,
    habits="""
    immer, nie, niemals, meistens, meist, oft, normalerweise, üblicherweise, grundsätzlich, selten, häufig, kaum,
    regelmäßig, nur, nicht mehr, jeden (tag|morgen|abend|samstag|sonntag|montag|dienstag|mittwoch|donnerstag|
    freitag|monat|sommer|winter|zweiten), jede (woche|nacht), jedes (jahr|wochenende|mal), täglich, wöchentlich,
    montags, dienstags, mittwochs, donnerstags, freitags, samstags, sonntags, morgens, abends, nachts, mittags, am
    wochenende, an wochenenden, (einmal|zweimal|dreimal|viermal|mehrmals|# mal|#mal) (die|in der|pro|am|im) (woche|
    tag|monat|jahr), beruflich, hauptberuflich, nebenbei, in meiner freizeit, in der freizeit, nach der arbeit, vor
    der arbeit, als hobby, zum frühstück, seit jahren, generell
    """,
    lasting="""
    seit, seitdem, vor # (jahren|jahr|monaten|wochen), vor (einigen|vielen|ein paar|mehreren|über) *, letztes jahr,
    letzten (sommer|winter|herbst|frühling|januar|februar|märz|april|mai|juni|juli|august|september|oktober|
    november|dezember|monat), voriges jahr, ##, in den (neunzigern|achtzigern), als kind, als jugendliche*, früher,
    damals, mein leben lang, schon immer, mein ganzes leben, in meiner (kindheit|jugend), ursprünglich, im (januar|
    februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|sommer|herbst|winter|frühjahr),
    nächstes jahr, dieses jahr, inzwischen, mittlerweile, # jahre lang, jahrelang, jahre, monaten, über # jahre,
    neuerdings, kürzlich, zum ersten mal
    """,
    passing="""
    geändert, hinzugefügt, gegessen, gekocht, eingebaut, entfernt, fertig gelesen, hole * ab, abholen, kalt, war
    (beim|gestern|heute|gerade|eben), tut weh, tun weh, kann (den|die|das) * sehen, wartet (im|auf|draußen|vor|
    schon), machen wir, so machen, verstehe, kapiere, begreife, sehe, schau, schaue mal, schau mal, probiere,
    probiert, versucht, bestellt, geschickt, gesendet, geklickt, geöffnet, gefunden, finde (das nicht|den|keinen|
    keine|nichts|es nicht), geprüft, brauche, brauch, bräuchte, warte, warten, fühle mich, merke, gemerkt, erinnere,
    vergessen, kopfschmerzen, schnupfen, fieber, bauchschmerzen, halsschmerzen, gekippt, verschüttet, verschlafen,
    aufgewacht, aufgestanden, spät dran, verpasst, einverstanden, stimme (dir|zu), weiß, wissen, kann (nicht|das|
    den|die) (öffnen|finden|sehen|einloggen|entscheiden|warten|schlafen heute), kann den, melde mich, melde, beeile,
    verloren habe, ausversehen, aus versehen, installiert, hochgeladen, kopiert, neu gestartet, bekomme (eine|einen|
    die|immer|ständig), kriege (eine|einen|die|immer|ständig), mir ist (kalt|warm|schlecht|langweilig), mir geht,
    geht es, geht's, tut mir leid, sorry, los, in zehn minuten, in # minuten, meine ja, meine nur, dachte, heute,
    heut, heute abend, gerade, grade, grad, eben, gerade eben, jetzt gleich, im moment, momentan, zurzeit, morgen
    (früh|abend|um), bis morgen, gestern, vorhin, gleich, später, nachher, sofort, diese woche, dieses wochenende,
    nächste woche, letzte nacht, heute morgen, um (#|halb), noch schnell, muss, müssen, will, wollen, wollte,
    möchte, möchten, würde gerne, versuche, versuch, vorhaben, vorhabe, plane, hunger, durst, keine (ahnung|zeit|
    idee|lust), frage, fragen, problem, probleme, termin, bald, am (montag|dienstag|mittwoch|donnerstag|freitag) um,
    keinen bock, weiß nicht
    """,
    tasks="""
    akku, handy, laptop, wlan, internet, bildschirm, ladegerät, schritt, schritte, vorschläge, anleitung, ergebnis,
    ausgabe, nachricht, preis, zug, bus, taxi, wetter, regen, hemd, größe, fehler*, bug, bugs, code, datei*, skript,
    script, funktion, build, abfrage, log, logs, exception, anhang, passwort, meeting*, besprechung, deadline,
    bericht, dokument, präsentation, folien, tabelle, aufsatz, absatz, satz, entwurf, anschreiben, reservierung,
    flug, ticket, bestellung, paket, link, version, install*, hausaufgabe*, rechnung, screenshot, pdf, idee, film,
    foto, stau, tab, seite, befehl, server, datenbank, update, rechner, computer, drucker, browser, test
    """,
    ask="""
    ^(was|welche|welcher|welches|welchen|wer|wessen|wem|wen|wo|woher|wohin|wann|warum|wieso|weshalb|wie|wieviel|ist|
    sind|war|hast|hat|kannst|kann ich|könnte|könntest|können|soll|sollte|sollen|darf ich|gibt es|gibt's|weißt du|
    glaubst|meinst|findest|bist|seid|willst|magst|kennst|habt|haben sie|wäre|würdest|lohnt|muss ich|bin ich|hab ich|
    habe ich recht)
    """,
    request="""
    kannst du, könntest du, können sie, könnten sie, würdest du, hilf mir, sag mir, zeig mir, zeige mir, gib mir,
    lass uns, lass mich, ich (brauche|bräuchte|brauch) (ein|eine|einen|noch|mal|hilfe|deine|bitte|dringend|die|den|
    das), ich suche, suche, ich hätte gern*, was soll, wie kann, frage mich, ich frage, ich überlege, überlege,
    danke, vielen dank, irgendwelche (tipps|ideen), hast du, ^(schreib|schreibe|übersetze|übersetz|erkläre|erklär|
    zeig|zeige|gib|finde|such|liste|erstelle|fasse|mach|mache|prüfe|korrigiere|schlage|schlag|empfiehl|vergleiche|
    formuliere|hilf|erzähl|erzähle|beschreibe|generiere|berechne|lies|analysiere|plane|buche|öffne|sende|schick|
    schicke|lösche|verbessere|kürze|nenne mir|füge|ändere|rechne|such|sortiere|wiederhole|spiel|denk dir)
    """,
    suppose="""
    wenn, falls, ob, würde, würden, könnte, könnten, wäre, wären, hätte, hätten, vielleicht, eventuell,
    möglicherweise, wünschte, wünsche, hoffe, hoffentlich, sollte, sollten, müsste, dürfte, glaube, denke, vermute,
    überlege, ich dachte, dachte, meinst, findest, bis ich, sobald, als ob, als wäre, traum, geträumt, träumte, im
    (film|buch|roman|spiel), tue so, tu so, spaß, wohl, kommt drauf, werde (ich|) (wohl|bald), am überlegen,
    vergessen
    """,
    reported="""
    stell dir vor, stellen wir uns, gehen wir davon aus, sagen wir mal, nehmen wir an, angenommen, sagt, sagte,
    sagten, sagen, gesagt, meinte, meint, meinten, erzählt, erzählte, erzählten, fragt, fragte, behauptet,
    behauptete, schreibt, schrieb, geschrieben, angeblich, anscheinend, soll angeblich, habe gehört, gehört dass,
    gelesen dass, zufolge, sei, seien, zitat, heißt es
    """,
    void="""
    im (öffentlichen|dritten|zweiten|ersten|vierten|fünften|sechsten|siebten|achten|neunten|verein|ruhestand|chor|
    vertrieb|außendienst|homeoffice|schichtdienst|betriebsrat|vorstand|mutterschutz|marketing|management|einkauf|
    gemeinderat|rollstuhl), in der (pflege|it|ausbildung|gewerkschaft|feuerwehr|freiwilligen|gastronomie|verwaltung|
    forschung|kirche|probezeit|lehre|elternvertretung), in einem (chor|verein), in einer (band|beziehung|wg|
    fernbeziehung|gewerkschaft), auf dem (dorf|land), stolz auf, stolzer, interessiert an, zu (dritt|viert|fünft),
    ehrlich gesagt, beim (bund|militär), da (geboren|aufgewachsen), krank geschrieben, chronisch krank, am liebsten,
    lieber, wie gesagt, wie schon gesagt, als kind, möchte (nicht|) (geduzt|gesiezt|nur kurze), habe ich recht,
    gehört zu, gehört (uns|mir), fragen sie, immer wenn, schreibe (gerade|) (an|meine|ein buch), spiele seit, immer,
    heute wohne, heute lebe, gehört
    """,
)

"""Italian."""

from __future__ import annotations

from .language import Language

ITALIAN = Language(
    name="Italian",
    code="it",
    first_person=r"o$|iamo$",
    common="""
    il, lo, la, i, gli, le, di, che, e, è, un, una, uno, in, non, per, con, mi, mio, mia, miei, mie, sono, ho, ha,
    hai, si, da, dal, dalla, del, della, dei, delle, al, alla, ai, nel, nella, come, più, ma, anche, se, quando,
    dove, cosa, chi, perché, questo, questa, sto, sta, io, tu, ti, ci, noi, nostro, nostra, abbiamo, molto, sempre,
    mai, già, solo, ciao, grazie, puoi, vorrei, l', un', dell', nell', all', c', anni, sul, ogni, o
    """,
    fillers="""
    buongiorno, buonasera, (buongiorno|buonasera|ciao|salve) a (tutti|tutte),
    e, ciao, salve, beh, allora, senti, ok, va bene, anche, inoltre, in realtà, a dire il vero, tra l'altro,
    comunque, sì, no, ma, perché, poi, per la cronaca, sinceramente, come dicevo, come ti dicevo, io, noi,
    personalmente, in genere, per favore, sai, guarda, eh, ah, purtroppo, a proposito, diciamo che, per fortuna,
    secondo me
    """,
    clause_words="""
    se, ma, però, perché, anche se, mentre, quindi, visto che, dato che, (e|) (cosa|come|qual è|quale|quali|puoi|
    potresti|mi puoi|mi potresti|mi consigli|dove|quanto|c'è|hai|conosci|che pane|che cosa)
    """,
    numbers="""
    un, una, uno, due, tre, quattro, cinque, sei, sette, otto, nove, dieci, undici, dodici, quindici, venti, trenta,
    quaranta, cinquanta
    """,
    adverbs="""
    molto, troppo, così, un po', abbastanza, piuttosto, parecchio, proprio, anche, già, ancora, non, attualmente,
    sempre, davvero, ormai, adesso, inoltre, un, una, uno, di professione
    """,
    negation="non, mai, neanche, nemmeno, né, niente, nessun, nessuno",
    articles="il, lo, la, i, gli, le, un, una, uno, del, al, questo, quel, suo, tuo, l', sul, dal, nel, bel",
    subject="mi, io, noi, a me, a noi, io e *, * ed io",
    own="mio, mia, miei, mie, nostro, nostra, nostri, nostre",
    not_liked="""
    (la|il|le|i|) (tua|tuo|tue|tuoi), (questa|quest') idea, questo, questa, ciò, come (hai|lo|dici), quello che,
    l'idea, la proposta, quel, quella
    """,
    be="siamo, ^sono, io sono, non sono, ^sono un, ^sono una, e sono, sono un, sono una, sono anche, sono nat*",
    passing_ends=r"(at|ut|it|mess|rimast|pres|cors|ved|scritt)(o|a|i|e)$|issim(o|a)$",
    moods="""
    in ritardo, sveglio, sveglia, giù, un po' giù, andat*, stanc*, felice, contento, contenta, triste, pronto,
    pronta, sicuro, sicura, d'accordo, in (ritardo|ufficio|giro|treno|macchina|coda|riunione|arrivo|ansia|dubbio), a
    (casa|lavoro|posto|letto|buon), al *, qui, qua, fuori, bloccat*, confus*, arrabbiat*, delus*, preoccupat*,
    nervos*, occupat*, impegnat*, curios*, grat*, indecis*, tornat*, appena, arrivat*, stat*, dell'idea, dispost*,
    interessat*, libero, libera, malato, malata, raffreddat*, annoiat*, stufo, stufa, distrutt*, le #, le, i, gli,
    la, il, #, nel, nella, dentro, sotto, riuscit*, uscit*, rimast*, già, tutti, tutte, state, passati, passate,
    belli, belle, d', io che, io il, quasi
    """,
    strong="""
    vivo, viviamo, vivevo, ho vissuto, abito, abitiamo, abitavo, mi chiamo, ci chiamiamo, mi chiamano, lavoro,
    lavoriamo, lavoravo, ho lavorato, studio, studiamo, ho studiato, studiavo, nat(o|a|i|e), cresciut(o|a), sono
    cresciut*, mi sono (trasferit*|laureat*|spostat*|sposat*|separat*|rott*|divorziat*|iscritt*|operat*|fatt*|
    diplomat*|ammalat*), ci siamo (trasferit*|sposat*|conosciut*|separat*|lasciat*), ci sposiamo, mi sposo, vengo
    da, vengo dal, veniamo, provengo, parlo, parliamo, sposat(o|a|i), divorziat(o|a|i), separat(o|a), vedov(o|a),
    single, celibe, nubile, pensionat(o|a), fidanzat(o|a), incinta, adottat*, colleziono, porto (gli|le|i|il|lo|la|
    un|occhiali), portiamo, indosso, calzo, peso (#|circa), soffro, soffriamo, prendo (le|la|i|il|un|una|farmaci|
    pastiglie|pillole|medicine|insulina|ogni|sempre|dei), prendo * ogni, mi hanno (diagnosticat*|operat*|licenziat*|
    assunt*|adottat*|cresciut*), ho smesso, smesso di, non ho mai, non sono mai, mai (stato|stata|avuto|imparato|
    andato|andata|provato), non so (nuotare|guidare|cucinare|andare|sciare|ballare), imparo, sto (imparando|
    studiando|risparmiando|facendo (un|il|la|una)|scrivendo (un|una|la|il)|frequentando|cercando casa|preparando
    (la|il|un|una|l')|ristrutturando|allattando|divorziando|seguendo (un|una)), stiamo (insieme|aspettando|
    risparmiando|ristrutturando|per avere|adottando), aspetto un, aspettiamo (un|una|il|due), ho fatto (il|la|un|
    una|l') (dottorato|università|erasmus|master|liceo|militare|medico|maestra|infermiera), insegno, dirigo,
    gestisco, ho fondato, ho aperto, abbiamo aperto, ho # (anni|figli|gatti|cani|fratelli|sorelle), ho (il diabete|
    l'asma|la celiachia|paura|figli|un'allergia|allergie|origini|la cittadinanza|il terrore|la doppia|vertigini|la
    fobia), compio, suono, suoniamo, canto in, canto nel, gioco (a|in), giochiamo, pratico, mi alleno, medito,
    prego, digiuno, dormo, mi sveglio, sono (di|del|della|originario|originaria|nato|nata|cresciuto|cresciuta|stato
    operato|stata operata|stato adottato|stata adottata|stato licenziato|stata licenziata|stato promosso|stata
    promossa|diventato|diventata|diventati|in (pensione|cinta|maternità|cassa|sedia|cura|terapia|affitto|part)|
    allergic*), siamo (di|in #|una famiglia|sposati|fidanzati|originari), ho perso (mio|mia|il|i|un), ho vinto,
    abbiamo (comprato|preso|adottato|venduto|avuto|perso|aperto|divorziato|figli), ho (comprato|preso|adottato|
    venduto) (casa|una casa|la casa|un cane|un gatto|un appartamento|la mia), affitto, affittiamo, faccio (il|la|l'|
    parte|volontariato|fatica), facciamo parte, frequento, appartengo, evito, mi occupo, ci occupiamo, guadagno, mi
    sono licenziat*, ho cambiato (lavoro|casa|città|vita|carriera), ho iniziato (a|un|una|il), ho cominciato a, ho
    imparato, non (fumo|bevo|guido|mangio|tollero|digerisco), fumo, guido (un|una|il|la|da), allevo, coltivo,
    dipingo, ballo, dono, possiedo, ho ereditato, possediamo, ho avuto (un|una|due|tre|il|la|l'), mi sento più
    """,
    weak="""
    ho, abbiamo, avevo, avevamo, ho avuto, faccio, facciamo, ho fatto, facevo, uso, usiamo, utilizzo, utilizziamo,
    leggo, cucino, corro, nuoto, cammino, vado, andiamo, prendo, prendiamo, scrivo, disegno, cucio, guardo, ascolto,
    compro, ho comprato, abbiamo comprato, ho venduto, ho perso, ho finito, ho imparato, ho conosciuto, ero,
    eravamo, pago, spendo, passo, aiuto, visito, viaggio, ho viaggiato, esco, guido, programmo, sviluppo, progetto,
    posso, so, porto, gioco, mi sveglio, mi alzo, vado a letto, condivido, ho cambiato, sto, stiamo, giocavo,
    suonavo, fumavo, ho partecipato, gestisco, vendo, tengo, teniamo, sono, siamo, sono stato, sono stata, sono
    andato a vivere, ho deciso, seguo, partecipo, mi dedico, curo, salgo, ho letto, pesavo
    """,
    tastes="""
    mangio, mangiamo, bevo, beviamo, faccio colazione, ceno, pranzo, fumo, viaggio, volo, mi sveglio, mi alzo, vado
    a (letto|dormire), mi siedo, cucino, ordino, compro, prendo, leggo, guardo, ascolto, scelgo, prenoto, lavoro
    meglio
    """,
    likes="""
    mi (dà|danno) (la nausea|fastidio|sui nervi|noia|gioia|energia|ai nervi), non riesco a concentrarmi, mi
    concentro meglio, (mi|ci) (piace|piacciono|piaceva|è sempre piaciut*|fa impazzire|fanno impazzire|fa schifo|
    fanno schifo|fa paura|fanno paura|affascina|affascinano|appassiona|appassionano|interessa|interessano|dà
    fastidio|danno fastidio|infastidisce|infastidiscono|annoia|annoiano|rilassa|rilassano|disgusta|disgustano|
    stressa|stressano|mette ansia|mettono ansia|innervosisce|irrita|irritano|entusiasma|dispiace|stanca|trovo (bene|
    meglio|male)|fa ridere|diverte|divertono|va meglio|pesa), preferisco, preferiamo, preferirei, adoro, adoriamo,
    amo, amiamo, odio, odiamo, detesto, non sopporto, non sopportiamo, non tollero, non reggo, vado (matto|matta|
    pazzo|pazza), vado (matto|matta) per, impazzisco per, sono (un|una|grande|un grande|una grande|) (fan|
    appassionat*|amante|tifos*|drogat*|patit*|golos*|maniac*|innamorat*|dipendente), tifo, apprezzo, ci tengo,
    evito, trovo * (noios*|difficile|faticos*|rilassant*|inutil*|meglio|insopportabil*), non amo, non (mi va|mi
    vanno|fa per me|fanno per me), meglio (il|la|le|i|un|una) * (che|del|della|di), tengo molto a, mi trovo meglio,
    rendo di più, lavoro meglio, non fa per me, non fanno per me
    """,
    favourites="""
    è meglio (di|del|della|che), mi stressa, mi stressano, mi rilassa, sopra ogni cosa, sopravvalutat*, preferit*,
    (mio|mia|miei|mie) * (preferit*|ideale|del cuore), (non|) (fa|fanno) per me, non è (il mio genere|cosa mia|roba
    per me|la mia tazza), non sono (il mio|un tipo|una persona) *, la mia passione, il mio punto debole, è la mia
    debolezza, piuttosto che, più di tutto, niente di meglio, sono più (tipo|da|per), è il massimo, meglio una *
    """,
    standing="""
    risparmiami, d'ora in poi, da adesso in poi, da ora in poi, in futuro, (rispondimi|parlami|scrivimi|spiegami|
    rispondi|chiamami|dammi|dammi del|usa|non usare|evita|mandami|non mandarmi|non chiamarmi|non scrivermi|non
    propormi|non consigliarmi|non darmi) (sempre|per favore|solo|in|mai|del|emoji|le|gli|risposte|tutto|con|prima|
    la|il|ricette|cose|termini|un|un linguaggio), niente (emoji|giri|tecnicismi|faccine|paroloni), risposte (brevi|
    corte|concise|sintetiche|dirette), senza (emoji|giri di parole|tecnicismi|fronzoli|preamboli), dammi del (tu|
    lei), sempre in (italiano|breve|forma|elenco), sii (breve|conciso|concisa|sintetico|diretto), usa (sempre|il|
    unità|gradi)
    """,
    facts="""
    (il|) mio (nome|compleanno|cognome|indirizzo|numero|telefono|soprannome|segno|paese|mestiere|gruppo sanguigno|
    peso|anniversario|stipendio|fuso orario|codice postale|budget mensile|medico), la mia (email|e-mail|mail|età|
    taglia|lingua madre|lingua|città|professione|data di nascita|altezza|madrelingua|religione|nazionalità), mi
    chiamano, # anni, ricorda che, ricordati che, tieni conto che, tieni presente che, non dimenticare che, sappi
    che, segnati che, prendi nota, (da|come) (mamma|madre|padre|papà|vegetariano|vegetariana|vegano|vegana|medico|
    insegnante|infermiere|infermiera|studente|studentessa|libero professionista|freelance|diabetico|diabetica|
    pensionato|pensionata|avvocato|musulmano|musulmana|sviluppatore|celiaco|celiaca|principiante|genitore|ingegnere|
    designer) (single|di|che|non|ho|io|sono|#|mi|in), ^(allergic*|vegetarian*|vegan*|celiac*|pensionat*|sposat*|
    nata|nato|mamma di|papà di|madre di|padre di|maestra in|maestro in|insegnante in), in pensione, di professione,
    di mestiere, in casa siamo, siamo in #, in famiglia (siamo|abbiamo|nessuno|tutti), nel mio (team|paese|lavoro|
    ufficio|gruppo) (usiamo|siamo|c'è|lavoriamo|abbiamo), in famiglia, fin da (piccolo|piccola|bambino|bambina), da
    quando sono
    """,
    hints="""
    chiamami, puoi chiamarmi, mi chiamano, tutti mi chiamano, per me, a casa mia, a casa nostra, nella mia famiglia,
    nel mio team, nella mia azienda
    """,
    kin="""
    responsabile, moglie, marito, compagno, compagna, fidanzat(o|a), ragazz(o|a), ex, ex marito, ex moglie,
    figli(o|a), figli, figlie, bambin(o|a|i|e), bimb(o|a|i|e), neonat(o|a), gemelli, gemelle, maggiore, piccol(o|a),
    madre, mamma, padre, papà, babbo, genitori, fratell(o|i), sorell(a|e), nonn(o|a|i|e), nipot(e|i), zi(o|a|i|e),
    cugin(o|a|i|e), suocer(o|a|i), cognat(o|a|i), genero, nuora, patrigno, matrigna, figlioccio, figlioccia,
    famiglia, migliore amic(o|a), coinquilin(o|a|i), padrone di casa, capo, capa, medico, terapeuta, psicolog(o|a),
    can(e|i), cagnolin(o|a), gatt(o|a|i|e), gattin(o|a), micio, cavallo, coniglio, criceto, pappagallo, cucciolo,
    tartaruga, animale, azienda, team
    """,
    third="""
    è (#|di|un|una|uno|allergic*|medico|insegnante|infermier*|avvocato|ingegnere|maestr*|autistic*|celiac*|
    vegetarian*|vegan*|diabetic*|mort*|nat*|incinta|in pensione|mancat*|originari*|in|la|il|lo|sord*|ciec*|al), sono
    (#|di|mort*|gemelli|nat*|divorziati|separati|in pensione|entrambi|tutti|i|le|gli|originari|state|a), si (chiama|
    chiamano|è|sono|sposa|laurea), vive, vivono, abita, abitano, lavora, lavorano, ha (#|un|una|il|la|l'|paura|
    appena|avuto|perso|iniziato|studiato|cominciato), hanno (#|un|una|il), studia, studiano, va (a|all'|al|in),
    vanno (a|all'|al|in), viene (da|dal|dalla), vengono (da|dal), gioca, giocano, suona, parla, parlano, compie,
    compiono, soffre, odia, adora, preferisce, ama, gli piace, le piace, mangia, beve, aspetta (un|una|il),
    comincia, inizia, frequenta, guida, porta, era, erano, usa, usiamo, usano, fa (il|la|l'|calcio|danza|nuoto|
    parte), dorme, pesa, insegna, canta, prende, faceva, incinta
    """,
    life="""
    ginocchia, cuore, vista, pelle, stomaco, stipendio, affitto, custodia, allerg*, intoleran*, asma, asmatic*,
    diabet*, epiless*, emicrani*, adhd, autis*, dislessi*, celiac*, celiachia, depress*, ansia, insonnia, cancro,
    tumore, artrit*, artrosi, ipertension*, pressione, colesterolo, tiroide, acufene, sciatica, pacemaker,
    operazione, operat*, intervento, anca, ginocchio, schiena, rene, cistifellea, tatuagg*, occhiali, lenti a
    contatto, apparecchio, sedia a rotelle, insulina, farmac*, pastigli*, vegan*, vegetarian*, glutine, lattosio,
    halal, kosher, carne, pesce, maiale, latte, zucchero, alcol, alcolici, caffè, tè, birra, vino, crostacei, frutti
    di mare, noci, arachidi, piccante, figli, figli(o|a|e), bambin(o|a|i|e), bimb(o|a|i|e), gemelli, gemelle,
    marito, moglie, compagn(o|a), fidanzat(o|a), fratell(o|i), sorell(a|e), genitori, nonn(o|a|i|e), nipot(e|i),
    cugin(o|a|i|e), can(e|i), gatt(o|a|i|e), cavall(o|i), conigli(o|), criceto, galline, api, capre, acquario,
    animali, single, celibe, nubile, sposat(o|a|i), divorziat(o|a), vedov(o|a), incinta, gay, lesbica,
    infermier(e|a), medico, dottor*, insegnante, professor*, maestr(o|a), ingegnere, sviluppatore, sviluppatrice,
    programmatore, programmatrice, avvocat(o|a), student(e|essa), designer, grafic(o|a), contabile, elettricista,
    idraulico, falegname, cuoc(o|a), panettiere, camerier(e|a), pilota, autista, agricoltore, freelance, libero
    professionista, partita iva, consulente, scienziat(o|a), ricercat(ore|rice), farmacista, dentista,
    veterinari(o|a), giornalista, tradut(tore|trice), scritt(ore|rice), artista, musicista, fotograf(o|a),
    architett(o|a), pompiere, poliziotto, poliziotta, militare, meccanico, pensionat(o|a), pensione, impiegat(o|a),
    casaling(a|o), operai(o|a), laurea, dottorato, master, università, liceo, scuola, medicina, fisica,
    giurisprudenza, legge, biologia, chimica, storia, filosofia, economia, psicologia, matematica, lettere,
    informatica, pianoforte, piano, chitarra, violino, basso, batteria, sassofono, sax, flauto, tromba, coro, band,
    gruppo, orchestra, scacchi, calcio, calcetto, tennis, padel, basket, pallavolo, golf, yoga, pilates, palestra,
    maratona, maratone, arrampicata, trekking, escursion*, montagna, ciclismo, bici, bicicletta, nuoto, nuotare,
    corsa, correre, vela, immersioni, sci, sciare, surf, karate, judo, boxe, crossfit, maglia, uncinetto, orto,
    giardino, ceramica, podcast*, vinili, casa, appartamento, monolocale, bilocale, balcone, terrazza, fattoria,
    mutuo, macchina, auto, moto, furgone, camper, patente, musulman*, cristian*, cattolic*, ebre*, buddist*,
    induist*, ate(o|a), chiesa, moschea, ramadan, accento, bilingue, lingu(a|e), inglese, francese, tedesco,
    spagnolo, portoghese, giapponese, cinese, arabo, russo, cittadinanza, passaporto, turni, turno, di notte, smart
    working, da remoto, azienda, negozio, panetteria, ristorante, blog, canale, part time, part-time, tempo pieno,
    mancin(o|a), daltonic(o|a), sord(o|a), ciec(o|a), altezza, vertigini, ragni, fobia, paura, introvers(o|a),
    estrovers(o|a), mattinier(o|a), nottambul(o|a), matrimonio, compleanno, anniversario, chili, kg, cm, figlio
    unico, figlia unica, paese, campagna, periferia, ascensore, iphone, android, linux, windows, mac, team,
    volontari*, volontariato, scout, banco alimentare, concorso, tesi
    """,
    habits="""
    sempre, mai, di solito, normalmente, generalmente, spesso, quasi mai, quasi sempre, raramente, solo, soltanto,
    abitualmente, ogni (giorno|mattina|sera|notte|settimana|mese|anno|estate|weekend|domenica|sabato|lunedì|martedì|
    mercoledì|giovedì|venerdì|# *|volta), tutti i (giorni|lunedì|martedì|mercoledì|giovedì|venerdì|sabati|weekend|
    mesi), tutte le (mattine|sere|notti|settimane|domeniche|estati), il (lunedì|martedì|mercoledì|giovedì|venerdì|
    sabato), la domenica, (#|una|due|tre|quattro) volt(a|e) (a|al|alla|l'), durante la settimana, nel weekend, nei
    weekend, la mattina, la sera, di mattina, di sera, la notte, al mattino, nel tempo libero, non * più, più, dopo
    il lavoro, prima di *, per hobby, per passione, regolarmente, a digiuno, quotidianamente
    """,
    lasting="""
    da (#|quando|anni|tempo|sempre|oltre|circa|quasi|gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|
    settembre|ottobre|novembre|dicembre|bambino|bambina|piccolo|piccola|ragazzo|ragazza|giovane|un), dal ##, nel ##,
    ##, dagli anni, # anni fa, # mesi fa, qualche anno fa, anni fa, mesi fa, un anno fa, l'anno scorso, l'estate
    scorsa, il mese scorso, l'anno prossimo, quando ero, tutta la vita, la mia infanzia, originariamente, a
    (gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre), quest'anno,
    quest'estate, anni, recentemente, una volta, per # anni, per anni, per la prima volta, prima
    """,
    passing="""
    ho (cambiato (il|la) (codice|testo|font|file)|aggiunto|tolto|corretto|finito (il|la|di)|pranzato|cenato), ero
    (dal|al|in), stavo *, vado a prendere, prendo la (prima|seconda), facciamo, vediamo, capisco, non capisco, vedo,
    guardo e, ti dico, ti faccio sapere, provo, ho (provato|già provato|ordinato|mandato|inviato|cliccato|aperto il|
    scaricato|trovato|ricevuto|rovesciato|controllato|installato|riavviato|copiato|visto|letto (che|il)|mangiato|
    mal|freddo|caldo|febbre|la febbre|il raffreddore|la batteria|capito|perso (le|il treno|la password|il
    portafoglio)), provato, non trovo, mi (serve|servono), aspetto (che|una|la|il|di|in), aspetta (in|qui|fuori|
    che), mi sento, mi ricordo, ricordo, mi fa male (il|la|lo|un|l'), mi fanno male (i|le|gli), dolore, rovesciato,
    svegliat(o|a), in ritardo, scusa, scusate, mi dispiace, d'accordo, so (che|come|perché|se|cosa), non so, non
    (riesco|posso) *, mi (esce|appare|dà|compare|pare|sembra), minuti, giù, ho scritto, ho appena, sono (andat*|
    arrivat*|uscit*|tornat*), mi sono (dimenticat*|svegliat*|addormentat*|pers*|sbagliat*|rovesciat*|bagnat*|
    accort*), mi sono appena, va bene, ci vediamo, torno, arrivo, facciamo così, ti mando, ti scrivo, oggi, stasera,
    stamattina, stanotte, questa (mattina|sera|settimana), adesso, in questo momento, per ora, per il momento, ieri,
    domani, dopo, più tardi, subito, tra poco, fame, sete, sonno, fretta, voglio, vogliamo, volevo, devo, dobbiamo,
    dovevo, sto (cercando di|per|pensando|aspettando|arrivando|guardando|leggendo|lavorando a|lavorando al|provando|
    andando|bene|male|cercando|scherzando|dicendo|impazzendo|tornando), provo a, nessuna idea, non ho (idea|tempo|
    voglia|capito), domanda, domande, dubbi, dubbio, problema, problemi, riunione, appuntamento, di nuovo, un
    attimo, un momento, l'altro giorno, settimana prossima, questo weekend, questo fine settimana, freddo, caldo,
    ragione, voglia di, bisogno di, poco fa, ho appena (finito|inviato|mandato|visto|letto|mangiato), appena
    mandato, lunedì prossimo, alle #, alle tre, ho dimenticato
    """,
    tasks="""
    batteria, telefono, cellulare, portatile, wifi, internet, schermo, caricabatterie, passaggio, passaggi, opzioni,
    istruzioni, risultato, messaggio, prezzo, treno, autobus, taxi, pioggia, camicia, taglia, error*, bug, codice,
    file, script, funzione, build, query, log, eccezione, allegato, password, riunione, scadenza, relazione,
    documento, presentazione, diapositiv*, foglio di calcolo, saggio, paragrafo, frase, bozza, lettera di
    presentazione, prenotazion*, volo, bigliett*, ordine, pacco, link, versione, install*, compiti, fattura,
    screenshot, pdf, idea, traffico, scheda, pagina, comando, server, database, aggiorn*, computer, stampante,
    tavolo per
    """,
    ask="""
    ^(che|cosa|che cosa|qual|quale|quali|chi|dove|quando|come|quanto|quanta|quanti|quante|perché|è possibile|c'è|ci
    sono|puoi|potresti|posso|potrei|dovrei|devo|sai|credi|pensi|conosci|hai|ti sembra|secondo te|a che|di che|in
    che|con che|mi consigli|è vero|è meglio|conviene) *
    """,
    request="""
    puoi, potresti, può, potrebbe, aiutami, dimmi, mostrami, dammi (un|una|qualche|la|il|delle), fammi, lasciami, mi
    serve, mi servono, ho bisogno di, cerco, sto cercando, voglio (che|un|una|sapere|prenotare|fare|comprare|
    vedere), vorrei, mi piacerebbe, mi chiedo, mi chiedevo, grazie, hai (ricette|consigli|idee|suggerimenti),
    qualche (idea|consiglio|suggerimento), mi consigli, ^(scrivi|traduci|spiega|spiegami cosa|spiegami come|spiegami
    perché|mostra|trova|trovami|fai|crea|riassumi|correggi|controlla|suggerisci|suggeriscimi|consiglia|consigliami|
    confronta|racconta|raccontami|descrivi|genera|calcola|leggi|analizza|pianifica|prenota|apri|invia|manda|
    cancella|migliora|accorcia|aggiungi|cambia|ordina|ripeti|cerca|elenca|proponi|converti|ricordami|prepara|
    organizza)
    """,
    suppose="""
    se, forse, magari, chissà, potrei, potremmo, dovrei, dovremmo, sarebbe, sarei, vorrei, vorremmo, credo,
    crediamo, penso, pensiamo, suppongo, immagino, sembra che, spero, speriamo, avessi, fossi, come se, ho sognato,
    nel (film|libro|gioco|racconto|romanzo), nella (storia|serie|canzone), scherzo, dimenticato, pensando se,
    dubito, non sono (sicur*|cert*), farei, andrei, comprerei, vivrei, avrei, può darsi, sarà, non so (se|perché|
    come|cosa|quale|dove|chi)
    """,
    reported="""
    dice, dicono, diceva, ha detto, hanno detto, mi ha detto, disse, racconta, ha raccontato, mi ha raccontato,
    chiede, ha chiesto, secondo lui, secondo lei, afferma, sostiene, ha scritto, scrive, pensa che, crede che, a
    quanto pare, pare che, ho sentito (dire|che), ho letto che, immagina, immaginiamo, supponiamo, supponi, mettiamo
    che, facciamo finta, fingi, fai finta, citazione
    """,
    void="""
    nel (marketing|settore|consiglio|coro), nella (protezione|polizia|banda), a (dieta|rischio|tempo|partita),
    libero professionista, libera professionista, malato (di|cronico), malata (di|cronica), il (primo|secondo|terzo|
    maggiore|minore|più) *, la (prima|seconda|terza|maggiore|minore|più) *, non riesco a concentrarmi, vorrei che mi
    (chiamassi|rispondessi|dessi), non so (nuotare|guidare|cucinare|sciare|ballare), come se, se no, il lavoro,
    preferirei, da sempre, a dopo, sono tutti, sono tutte, sono stati, sono state, adesso (vivo|abito|lavoro), non
    (sono|ho) mai, ho una domanda, ho un dubbio, sono (a|al|in|nel) (casa|lavoro|ufficio|traffico)
    """,
)

"""French."""

from __future__ import annotations

from .language import Language

FRENCH = Language(
    name="French",
    code="fr",
    needs_subject=True,
    common="""
    le, la, les, l', un, une, des, de, d', du, et, est, en, que, qu', qui, dans, pour, pas, je, j', ne, n', ce, c',
    ça, il, elle, on, nous, vous, tu, te, t', me, m', moi, mon, ma, mes, ton, ta, tes, son, sa, ses, notre, nos, au,
    aux, avec, sur, par, mais, ou, où, plus, très, suis, ai, ont, sont, peux, fait, comment, quel, quelle, pourquoi,
    bonjour, salut, merci, depuis, chez, jamais, toujours, s', se, si, y, être, avoir, quand, quoi, été, même, sans
    """,
    fillers="""
    et, salut, bonjour, coucou, bon, ben, bah, alors, ok, oui, non, aussi, d'ailleurs, au fait, en fait, en vrai,
    franchement, honnêtement, mais, parce que, car, puis, pour info, sinon, enfin, moi, nous, perso,
    personnellement, comme je disais, comme je l'ai dit, voilà, hein, en général, s'il te plaît, stp, svp, du coup,
    je crois que, je pense que, sache que, tu peux
    """,
    clause_words="""
    si, s'il, mais, parce que, même si, alors que, car, vu que, puisque, donc, (et|) (tu peux|peux tu|tu pourrais|
    pourrais tu|pouvez vous|vous pouvez|quel|quelle|quels|quelles|comment|où|combien|est ce que|qu'est ce|tu as|as
    tu|tu connais|je peux|puis je|que faire|que me)
    """,
    numbers="""
    un, une, deux, trois, quatre, cinq, six, sept, huit, neuf, dix, onze, douze, quinze, vingt, trente, quarante,
    cinquante
    """,
    adverbs="""
    tellement, si, hyper, super, aussi, déjà, encore, pas, plus, toujours, vraiment, actuellement, maintenant,
    désormais, en fait, également, jamais, plutôt, très, assez, trop, un peu, d'ailleurs
    """,
    negation="pas, ne, n', jamais, plus, aucun, aucune, ni, rien",
    articles="le, la, les, un, une",
    subject="m', me, je, j', nous, on, moi, mon * et moi, ma * et moi",
    other="tu, il, elle, ils, elles, vous, ça, cela, ceci, qui, les gens, quelqu'un, personne",
    own="mon, ma, mes, notre, nos",
    not_liked="""
    (ton|ta|tes|votre|vos), ça, cela, cette idée, ce que (tu|vous), l'idée, la proposition, bien (ton|ta|tes|votre|
    l'idée|ça), beaucoup (ton|ta|tes|ça)
    """,
    be="je suis, on est, nous sommes, j'étais, moi je suis, je ne suis, je n'étais, suis je",
    moods="""
    fatigu*, crev*, content*, heureux, heureuse, triste*, prêt*, sûr*, certain*, d'accord, en (retard|train|route|
    réunion|vacances|cours|pause|panne|colère|ligne|voiture|avance), au (travail|bureau|boulot|lit|téléphone|resto),
    à (la|l'|table|fond|bout|deux|côté), à *, dans (le|la|les|un|une|mon), là, ici, chez, dehors, coincé*, bloqué*,
    perdu*, confus*, énervé*, fâché*, déçu*, inquiet, inquiète, stressé*, nerveux, nerveuse, occupé*, curieux,
    curieuse, désolé*, reconnaissant*, ravi*, malade, enrhumé*, rassasié*, bourré*, saoulé*, saoul*, dégoûté*,
    débordé*, dispo*, libre, intéressé*, allé*, venu*, parti*, resté*, tombé*, arrivé*, rentré*, sorti*, passé*,
    monté*, tout*, en train, sur (le|la|un|une|mon), tranquille, bien, mal, mieux, au, aux, épuisé*, claqué*, mort*,
    motivé*, impatient*, dans, embêté*, paumé*, en, pressé*, de retour, de bonne humeur, de mauvaise humeur, hors,
    encore au, rendu*
    """,
    strong="""
    suis en congé (parental|maternité|paternité|maladie), vis, vivons, vit, vivais, ai vécu, avons vécu, habite,
    habitons, habitais, ai habité, m'appelle, me nomme, nous appelons, travaille, travaillons, travaillais, ai
    travaillé, bosse, bossons, bossais, ai bossé, étudie, étudiais, ai étudié, suis né, suis née, né, née, ai
    grandi, avons grandi, ai déménagé, avons déménagé, viens (de|du|d'|des) *, suis (originaire|de|du|d'|des|fan|
    marié|mariée|divorcé|divorcée|veuf|veuve|célibataire|séparé|séparée|fiancé|fiancée|pacsé|pacsée|enceinte|en
    (couple|télétravail|fauteuil|arrêt|alternance|reconversion|première|deuxième|troisième|terminale|licence|master|
    thèse|rémission|retraite)|à (la retraite|mon compte|mi|mi-temps|temps|découvert|risque|la fac|l'université|la
    recherche d'un emploi)|au chômage|sous (traitement|insuline|antidépresseurs|anticoagulants)|allergique*|devenu|
    devenue|passé végétarien|en cdi|en cdd|dans (la|le) (fonction|bâtiment|restauration|finance|marketing|santé)),
    parle, parlons, me suis (marié|mariée|cassé|cassée|fracturé|installé|installée|pacsé|pacsée|séparé|séparée|
    reconverti|reconvertie|fait|mis|mise|formé|formée|converti|convertie|lancé|lancée|inscrit|inscrite), nous sommes
    (mariés|pacsés|installés|rencontrés|séparés), se marie, nous marions, me marie, ai (épousé|divorcé|adopté|
    arrêté|perdu (mon|ma|mes|#)|eu (un|une|#|mon|ma)|fait (des études|un|une|mes|mon|ma)|appris|fondé|créé|ouvert|
    acheté (une maison|un appart|un appartement|ma|mon|une voiture)|monté ma|monté mon|quitté|démissionné|obtenu|
    passé (mon|mes|ma)|été (opéré|opérée|diagnostiqué|diagnostiquée|licencié|licenciée|adopté|adoptée|élevé|élevée|
    promu|promue)|changé de|commencé (à|le|la|un|une)|lâché|gagné|hérité|pris ma retraite), avons (eu|acheté|adopté|
    divorcé|ouvert|perdu|déménagé|emménagé|vendu|#), a (acheté|adopté|eu|emménagé|déménagé|vendu|perdu|divorcé|
    ouvert|quitté|#|des|un|une|trois|deux), collectionne, porte (des|un|une|du|les), chausse, mesure, pèse, souffre,
    prends (un traitement|des médicaments|de l'insuline|la pilule|des|toujours|chaque|un comprimé|des anti*), n'ai
    jamais, ai jamais, suis jamais, ne suis jamais, n'ai plus, n'ai pas (d'enfant*|de voiture|le permis|d'animaux|de
    frère*|de sœur*|de permis), ai (pas le permis|le permis|pas d'enfant*|# ans|peur (de|des|du)|le vertige|une
    allergie|des allergies|de l'asthme|du diabète|une phobie|horreur|la nationalité|la double|des origines|un
    diplôme|un master|un doctorat|un cdi|un handicap), sais pas (nager|conduire|cuisiner|faire du), ne sais pas
    (nager|conduire|cuisiner), apprends, apprenons, attends un (bébé|enfant), attend un bébé, attendons, enseigne,
    dirige, gère, tiens (un|une), joue (de|du|au|aux|à|dans), jouons, chante, pratique, m'entraîne, médite, prie,
    jeûne, dors (mal|très|peu|bien|toujours|environ|#), fête, fais (partie|du bénévolat|de la|de l'|du|des études|
    une thèse|un doctorat|un master|une formation|un régime|le ramadan|mes études), faisons (partie|du|de la|de l'),
    fume, bois (pas|plus), ne (bois|mange|fume|conduis) (pas|plus|jamais), mange (pas|plus), fume (pas|plus),
    conduis, possède, possédons, loue, louons, élève, élevons, cultive, peins, danse, donne des cours, évite, gagne,
    touche, m'occupe, nous occupons, économise, prépare (un|le|mon|une|l') (marathon|concours|mariage|thèse|
    agrégation), appartiens, ai rompu, milite, vote, supporte (pas|plus) (le lactose|le gluten), digère (pas|mal),
    déménage en, déménageons, prends ma retraite, attends mon, suis un (traitement|régime), suis une (formation|
    thérapie), vais (être|devenir) (papa|maman|père|mère|grand), va (avoir|se marier)
    """,
    weak="""
    ai, avons, a, avais, avions, avait, ai eu, fais, faisons, fait, ai fait, faisais, utilise, utilisons, lis,
    cuisine, cours, nage, marche, vais, va, allons, prends, prend, prenons, écris, dessine, couds, tricote, regarde,
    écoute, achète, ai acheté, ai vendu, ai perdu, ai fini, ai rencontré, étais, étions, paie, paye, dépense, passe,
    ai passé, aide, visite, voyage, sors, programme, développe, conçois, peux, sais, garde, joue, me lève, me
    couche, me réveille, partage, ai changé, suis, sommes, est, fumais, jouais, ai participé, participe, vends,
    monte, possède, ai été, ai commencé, roule, conduis, tiens, pars, ai lu, jardine, bricole, cherche à apprendre,
    reçois, perçois, ai pris, suivi, ai rejoint
    """,
    tastes="""
    mange, mangeons, bois, boit, buvons, petit-déjeune, dîne, déjeune, fume, voyage, me lève, me couche, me
    réveille, m'assois, m'assieds, cuisine, commande, prends, choisis, réserve, lis, regarde, écoute, achète,
    travaille mieux
    """,
    likes="""
    me (donne|donnent) (la nausée|envie de vomir|mal|des boutons|le cafard|de l'énergie), n'arrive pas à me
    concentrer, arrive pas à me concentrer, aime, aimons, aime pas, adore, adorons, déteste, détestons, préfère,
    préférons, préférerais, hais, supporte pas, ne supporte (pas|plus), supporte plus, raffole, kiffe, apprécie, me
    passionne, me passionnent, me plaît, me plaisent, m'énerve, m'énervent, m'agace, m'agacent, m'insupporte,
    m'ennuie, m'ennuient, me dégoûte, me dégoûtent, me fait peur, me font peur, me détend, me stresse, me stressent,
    m'intéresse, m'intéressent, me fascine, me fascinent, me saoule, me gonfle, me manque, m'angoisse, m'angoissent,
    me gêne, me dérange, me dérangent, me convient, me réussit, me met mal, suis (fan|fana|accro|dingue|fou|folle|
    passionné|passionnée|amateur|amatrice|mordu|mordue|grand fan|grande fan|un grand|une grande|plutôt|plus|pas fan|
    pas très|allergique aux appels|friand|friande|un inconditionnel|supporter|adepte) (de|d'|du|des|thé|café|chien|
    chat|*), trouve * (nul|nulle|chiant|génial|géniale|insupportable|ennuyeux|mieux|reposant|désagréable), trouve *
    * (nul|nulle|chiant|génial|insupportable|ennuyeux|mieux|reposant|trop|plus|surcoté*), ai horreur, tiens à,
    craque pour, ai un faible, fuis, ne jure que, jure que par, ai du mal avec, bosse mieux, travaille mieux, en
    pince, vénère, me méfie
    """,
    favourites="""
    c'est mieux que, mieux que, me stresse, me stressent, me détend, par dessus tout, surcoté*, ça m'aide, (mon|ma|
    mes|notre|nos) * (préféré|préférée|préférés|préférées|favori|favorite|idéal|idéale|fétiche), (mon|ma|mes)
    (préféré|préférée|péché|plat préféré|grande passion|passion), préféré*, (c'est|) pas (mon|ma|mes) (truc|délire|
    tasse|genre|fort|kiff), n'est pas (mon|ma) (truc|délire|tasse|genre|fort), pas pour moi, très peu pour moi, rien
    ne vaut, je préfère, plutôt que, plutôt (thé|café|chien|chat|mer|montagne), mon dada, ma came, mon péché mignon,
    c'est mon truc, pas fan, grand fan, grande fan
    """,
    standing="""
    épargne moi, évite moi, à partir de maintenant, désormais, dorénavant, à l'avenir, (réponds|réponds moi|répondez
    moi|parle moi|écris moi|explique moi|appelle moi|donne moi|utilise|n'utilise|évite|envoie moi|tutoie|tutoie moi|
    vouvoie|vouvoie moi|vouvoyez|ne m'appelle|ne m'envoie|ne m'écris|ne me propose|ne me parle|ne me donne|ne mets|
    ne me tutoie|arrête) (toujours|s'il te plaît|stp|seulement|en|uniquement|jamais|pas|plus|des|les|des réponses|
    court|bref|avec|le|du|d'abord|par|au|moi|directement|simplement|de), pas (d'emoji|d'emojis|de jargon|de blabla|
    de smileys|d'anglicismes|de tutoiement), réponses (courtes|brèves|concises|longues|directes|en), sans (emojis|
    blabla|jargon|fioritures|emoji|introduction|préambule), (on|tu) peut se tutoyer, toujours (en français|en liste|
    par écrit), sois (bref|brève|concis|direct|directe|concise), va droit au but, tutoie moi, vouvoie moi, on se
    tutoie
    """,
    facts="""
    mon (nom|prénom|anniversaire|adresse|numéro|téléphone|mail|email|e-mail|surnom|signe|âge|métier|poids|fuseau
    horaire|code postal|salaire|village|groupe sanguin|pseudo|budget mensuel), ma (taille|date de naissance|ville
    natale|langue maternelle|pointure|profession|religion|nationalité|ville d'origine), mes (pronoms|origines|
    racines), # ans, note que, retiens que, souviens toi que, rappelle toi que, n'oublie pas que, sache que, garde
    en tête que, (en tant que|comme) (mère|père|maman|papa|végétarien|végétarienne|végan|végane|médecin|prof|
    professeur|infirmier|infirmière|étudiant|étudiante|indépendant|indépendante|freelance|diabétique|retraité|
    retraitée|avocat|avocate|musulman|musulmane|développeur|développeuse|cœliaque|débutant|débutante|parent|
    ingénieur|designer|artisan|végétalien|végétalienne), ^(allergique|végétarien|végétarienne|végan|végane|retraité|
    retraitée|marié|mariée|maman de|papa de|père de|mère de|institutrice|instituteur|divorcé|divorcée|cœliaque), à
    la retraite, de métier, de profession, chez nous on, chez moi on, on est #, nous sommes #, dans (mon|ma|notre)
    (équipe|famille|boîte|entreprise|boulot|village) (on|nous|il|tout|personne), de famille, depuis tout petit,
    depuis toute petite, ça fait # (ans|mois), cela fait # (ans|mois), au chômage, en instance de divorce
    """,
    hints="""
    appelle moi, tu peux m'appeler, on m'appelle, tout le monde m'appelle, mes amis m'appellent, pour moi, chez moi,
    chez nous, dans ma famille, dans mon équipe, dans ma boîte
    """,
    kin="""
    supérieure, supérieur, femme, mari, époux, épouse, conjoint, conjointe, compagnon, compagne, copain, copine,
    mec, fiancé, fiancée, ex, ex mari, ex femme, fils, fille, filles, enfant, enfants, gamin, gamine, gosses, gosse,
    bébé, jumeaux, jumelles, aîné, aînée, cadet, cadette, petit dernier, petite dernière, mère, maman, père, papa,
    parents, frère, frères, frangin, sœur, soeur, sœurs, soeurs, frangine, grand mère, grand père, grands parents,
    mamie, papi, papy, mémé, pépé, petit fils, petite fille, petits enfants, tante, oncle, tonton, tata, cousin,
    cousine, cousins, nièce, neveu, belle mère, beau père, beaux parents, belle sœur, beau frère, beau fils, belle
    fille, filleul, filleule, famille, meilleur ami, meilleure amie, coloc, colocs, colocataire, proprio,
    propriétaire, chef, cheffe, patron, patronne, médecin, psy, chien, chienne, chiens, chiot, chat, chatte, chats,
    chaton, cheval, jument, lapin, lapins, hamster, perroquet, tortue, poules, équipe, entreprise, boîte
    """,
    third="""
    est (#|un|une|de|du|d'|allergique*|médecin|prof|professeur|infirmi*|avocat*|ingénieur|autiste|cœliaque|
    coeliaque|végétarien*|végan*|diabétique*|mort*|décédé*|né|née|enceinte|à la retraite|retraité*|originaire|au
    chômage|en|sourd*|aveugle|parti*|la|le|au collège|au lycée), sont (#|de|d'|morts|décédés|jumeaux|nés|divorcés|
    séparés|à la retraite|des|originaires|tous|au), s'appelle, s'appellent, se (nomme|marie), vit, vivent, habite,
    habitent, travaille, travaillent, bosse, a (#|un|une|du|de l'|des|le|la|peur|eu|perdu|commencé|fait|besoin), ont
    (#|un|une|des|divorcé), étudie, étudient, va (à|au|en|avoir|entrer|naître), vont (à|au|en|avoir), vient (de|du|
    d'|des), viennent (de|du|d'), joue, jouent, parle, parlent, aura, auront, fête, fêtera, souffre, déteste, adore,
    préfère, aime, aiment, mange, boit, attend (un|une|notre), entre (à|au|en), commence, conduit, porte, était,
    étaient, utilise, utilisent, fait (du|de la|de l'|ses|partie|des), dort, pèse, enseigne, chante, prend, naît
    """,
    life="""
    genoux, cœur, vue, peau, estomac, salaire, loyer, garde, trajet, allerg*, intoléran*, asthm*, diabét*, diabète,
    épilep*, migraine*, tdah, autis*, dyslexi*, cœliaque*, coeliaque*, dépress*, anxiété, anxieux, insomni*, cancer,
    arthrite, arthrose, hypertens*, tension, cholestérol, thyroïde, hypothyroïd*, acouphène*, sciatique, pacemaker,
    opération, opéré*, chirurgie, hanche, genou, dos, rein, vésicule, tatouage*, lunettes, lentilles, appareil
    auditif, fauteuil roulant, insuline, médicament*, traitement, comprimé*, végan*, végétari*, végétali*, gluten,
    lactose, halal, casher, viande, poisson, porc, lait, sucre, alcool, café, thé, bière, vin, fruits de mer, noix,
    cacahuètes, arachides, épicé, enfant*, bébé, jumeaux, jumelles, gosse*, fils, fille*, mari, femme, copain,
    copine, conjoint*, compagnon, compagne, frère*, sœur*, soeur*, parents, grand mère, grand père, petits enfants,
    cousin*, nièce*, neveu*, chien*, chat, chats, chatte, chaton*, cheval, chevaux, lapin*, hamster, poules,
    abeilles, ruches, chèvres, aquarium, animaux, célibataire*, marié*, divorcé*, veuf, veuve, pacsé*, enceinte,
    gay, lesbienne, infirmi*, médecin, docteur, prof, profs, professeur*, instit*, ingénieur*, développeu*,
    programmeu*, avocat*, étudiant*, designer, graphiste, comptable, électricien*, plombier, menuisier, cuisinier*,
    cuisinière, boulang*, serveu*, pilote, chauffeu*, agricult*, freelance, indépendant*, auto entrepreneu*,
    consultant*, chercheu*, pharmacien*, dentiste, vétérinaire, journaliste, traduct*, écrivain*, artiste,
    musicien*, photographe, architecte, pompier*, policier*, militaire, mécanicien*, retraité*, retraite,
    fonctionnaire, femme au foyer, ouvri*, licence, doctorat, thèse, master, université, fac, lycée, collège, école,
    médecine, physique, droit, biologie, chimie, histoire, philosophie, philo, économie, psychologie, psycho, maths,
    lettres, informatique, piano, guitare, violon, basse, batterie, saxo*, flûte, trompette, chorale, groupe,
    orchestre, échecs, foot, football, tennis, handball, basket, volley, badminton, golf, yoga, pilates, muscu,
    salle de sport, marathon*, semi-marathon, escalade, randonnée*, rando, montagne, cyclisme, vélo, natation,
    nager, course à pied, voile, plongée, ski, surf, karaté, judo, boxe, crossfit, tricot, crochet, potager, jardin,
    jardinage, poterie, podcast*, vinyle*, maison, appart, appartement, studio, balcon, terrasse, ferme, crédit,
    voiture, bagnole, moto, camion, van, camping-car, voiture électrique, permis, musulman*, chrétien*, catholique,
    protestant*, juif, juive, bouddhiste, hindou*, athée, église, mosquée, ramadan, accent, bilingue, langue*,
    anglais, allemand, espagnol, italien, portugais, japonais, chinois, arabe, russe, breton, nationalité,
    passeport, nuit, nuits, télétravail, boîte, entreprise, boutique, boulangerie, restaurant, blog, chaîne,
    mi-temps, temps partiel, temps plein, gauch*, droiti*, daltonien*, sourd*, aveugle, vertige, araignées, phobie,
    peur du, introverti*, extraverti*, lève-tôt, couche-tard, du matin, du soir, mariage, anniversaire, kilos, kg,
    cm, enfant unique, village, campagne, banlieue, étage, troisième, ascenseur, iphone, android, linux, windows,
    mac, équipe, bénévole, bénévolat, association, scout, concours
    """,
    habits="""
    toujours, jamais, d'habitude, habituellement, normalement, généralement, souvent, presque jamais, rarement,
    seulement, uniquement, tous les (jours|matins|soirs|lundis|mardis|mercredis|jeudis|vendredis|samedis|dimanches|
    week-ends|étés|ans|mois|# jours), toutes les (semaines|nuits|#), chaque (jour|matin|soir|nuit|semaine|mois|
    année|été|week-end|dimanche|samedi|lundi|mardi|mercredi|jeudi|vendredi|hiver), le (lundi|mardi|mercredi|jeudi|
    vendredi|samedi|dimanche|matin|soir|week-end|midi), # fois par, une fois par, en semaine, la nuit, de nuit, de
    jour, quotidiennement, dans mon temps libre, plus (de|d'|jamais), ne * plus, ne * que, après le (travail|
    boulot), avant de *, régulièrement, à jeun, par semaine, par jour, par nuit
    """,
    lasting="""
    depuis, il y a # (ans|mois|semaines|jours|an), il y a (longtemps|quelques|plus|des|un an|une), l'an dernier,
    l'année (dernière|prochaine), l'été dernier, le mois dernier, l'hiver dernier, en ##, ##, pendant *, quand
    j'étais, étant (petit|petite|enfant|jeune), toute ma vie, mon enfance, à l'origine, en (janvier|février|mars|
    avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre), cette année, cet (été|hiver|automne), ans,
    récemment, avant, autrefois, l'an prochain, pour la première fois, # ans que, à l'époque
    """,
    passing="""
    ai (changé (le|la|les)|ajouté|fini (le|la|de)|enlevé|corrigé|mis (le|la)), (j'étais|étais) (chez le|au|en
    train), fait mal, va chercher, vais chercher, j'y vais, je prends la (première|deuxième|seconde), attend (dans|
    dehors|devant), comprends, ne comprends, vois, regarde et, je regarde, te dis, essaie, essayé, ai (commandé|
    envoyé|cliqué|ouvert le|téléchargé|trouvé|reçu|renversé|raté|vérifié|installé|redémarré|copié|vu|lu|mangé|mal
    (à|au|aux|de)|froid|chaud|déjà essayé|loupé|de la fièvre|un rhume|un petit|le moral), trouve (pas|plus), ne
    trouve (pas|plus), il (me|nous) faut, attends, attend (dans|ici|en|devant|que), me sens, me souviens, souviens,
    rappelle plus, oublié, rhume, fièvre, suis (en retard|désolé|désolée|d'accord), sais (pas|que|plus), ne sais
    pas, peux pas, ne peux pas, peux plus, dois, on doit, devons, réveiller, me réveiller de, installé, copié,
    m'affiche, j'obtiens, désolé, désolée, pardon, dans # minutes, minutes, je te (dis|tiens|rappelle|l'envoie|
    envoie), on fait, c'est (bon|parfait|noté), je pars, j'arrive, on y va, ça marche, aujourd'hui, ce (soir|matin|
    midi|week-end), cet après-midi, cette (semaine|nuit), en ce moment, là maintenant, pour l'instant, hier, demain,
    tout à l'heure, plus tard, tout de suite, bientôt, faim, soif, sommeil, hâte, envie (de|d'), veux, voulons,
    voulais, devais, je vais (essayer|te|voir|faire|aller|devoir|y|à|au|chercher|regarder), vais (essayer|te|voir|
    faire|devoir|y|manger|dormir|acheter), viens de, viens d', venons de, essaye, en train de, aucune idée, pas
    (d'idée|le temps|compris|envie), question, questions, doute, doutes, problème*, réunion, rendez-vous, rdv, à
    nouveau, encore une fois, une minute, l'autre jour, semaine prochaine, froid, chaud, raison, besoin (de|d'|que),
    lundi prochain, à # heures, # heures (du|de) *, dans une heure, reviens, mal à la tête aujourd'hui, arrive pas
    à, n'arrive pas
    """,
    tasks="""
    batterie, téléphone, portable, wifi, internet, écran, chargeur, étape, étapes, options, instructions, résultat,
    message, prix, train, bus, taxi, météo, pluie, chemise, erreur*, bug, code, fichier*, script, fonction, build,
    requête, log*, exception, pièce jointe, mot de passe, réunion, échéance, rapport, document, présentation,
    diapo*, tableur, dissertation, paragraphe, phrase, brouillon, lettre de motivation, réservation*, vol, billet*,
    commande, colis, lien, version, install*, devoirs, facture, capture, pdf, idée, bouchons, onglet, page, serveur,
    base de données, mise à jour, ordi, ordinateur, imprimante, table pour
    """,
    ask="""
    ^(qu'|que|quoi|quel|quelle|quels|quelles|qui|où|quand|comment|combien|pourquoi|est ce que|est ce|peux|pouvez|
    pourrais|puis je|dois je|sais|connais|crois|penses|as|tu (crois|penses|trouves|sais|connais|as|peux|pourrais|
    aurais)|vous (pensez|avez|connaissez|pouvez)|y a|il y a t|c'est quoi|ça|à quel|à quelle|de quel|faut il|serait|
    vaut il) *
    """,
    request="""
    peux tu, tu peux, tu pourrais, pourrais tu, pouvez vous, vous pouvez, pourriez vous, aide moi, dis moi, montre
    moi, donne moi (un|une|des|la|le|quelques|ta), laisse moi, j'ai besoin (d'un|d'une|de|d'aide|que|d'), il me
    faut, je cherche, on cherche, je veux (que|un|une|savoir|réserver|faire|acheter|voir), je voudrais, j'aimerais
    (savoir|réserver|que|un|une|faire|voir|avoir|aller|bien), je me demande, je me demandais, merci, des (idées|
    recettes|conseils|suggestions), une idée, as tu (des|une|un), tu as (des|une|un), tu me (conseilles|
    recommandes), ^(écris|traduis|explique|montre|trouve|fais|crée|résume|corrige|vérifie|suggère|propose|
    recommande|conseille|compare|rédige|raconte|décris|génère|calcule|lis|analyse|planifie|réserve|ouvre|envoie|
    efface|supprime|améliore|raccourcis|ajoute|change|trie|répète|cherche|liste|convertis|rappelle|prépare|organise|
    aide)
    """,
    suppose="""
    si j'avais, si, peut être, sans doute, pourrais, pourrait, pourrions, devrais, devrait, devrions, serait,
    serais, voudrais, voudrions, aimerais, aimerait, crois, croyons, pense que, pensons, suppose, j'imagine, il
    paraît, espère, espérons, comme si, rêvé, dans (le|ce) (film|livre|jeu|roman), dans (la|cette) (série|chanson|
    histoire), rigole, plaisante, oublié, me demande, hésite, doute, pas (sûr|sûre|certain|certaine), ferais, irais,
    achèterais, vivrais, aurais, j'irai, sera, faudrait, je sais pas (si|pourquoi|comment), je ne sais pas (si|
    pourquoi|comment), appellerais, on dirait
    """,
    reported="""
    dit, disent, disait, a dit, ont dit, m'a dit, raconte, a raconté, m'a raconté, demande si, a demandé, selon,
    d'après, affirme, prétend, a écrit, écrit que, pense qu', croit que, trouve que (je|c'), à ce qu'il paraît, il
    paraît que, j'ai entendu, j'ai lu que, imagine que, imagine, imaginons, supposons, admettons, mettons que, fais
    comme si, citation, j'ai cité
    """,
    void="""
    à (mi temps|plein temps|temps|mon compte|la retraite|risque|la fac|l'université), dans (la|le|l'|un|une|les)
    (fonction|finance|marketing|armée|police|club|groupe|santé|restauration|bâtiment|chorale|informatique|
    association|trentaine|quarantaine|cinquantaine|assurances), sur (liste|la liste), bien intégré*, n'arrive pas à
    me concentrer, arrive pas à me concentrer, s'il te plaît, s'il vous plaît, je crois que je suis, comme si, plus
    (de|d') # *, avant de (me|partir), j'aimerais (que tu|qu'on) *, j'avais (#|un|une|des), quand j'avais, demande
    à, toujours en, toujours au, préférerais, a l'air, en ce qui me concerne, dit toujours, je suis (un|le|la|sur)
    (peu|point|train|courant|même), plus tard
    """,
)

"""Portuguese, of Brazil and of Portugal."""

from __future__ import annotations

from .language import Language

PORTUGUESE = Language(
    name="Portuguese",
    code="pt",
    first_person=r"o$|ei$|[^aeiou]i$|amos$|emos$|imos$|ou$",
    common="""
    o, a, os, as, de, que, e, em, um, uma, é, não, por, com, para, pra, pro, meu, minha, meus, minhas, me, se, do,
    da, dos, das, no, na, nos, nas, ao, à, como, mais, mas, seu, sua, muito, sim, eu, você, vocês, tu, te, está,
    estou, sou, são, foi, tenho, tem, quando, onde, qual, quais, porque, desde, há, este, esta, isso, isto, também,
    nosso, nossa, gente, pode, oi, olá, obrigado, obrigada, sempre, nunca, todo, toda, todos, agora, lhe, quero, já,
    só, ele, ela, num, numa, pelo, pela, mim
    """,
    fillers="""
    bom dia, boa (tarde|noite), tudo bem, de acordo, olá a todos,
    e, oi, olá, bom, bem, então, ok, tá, sim, não, também, aliás, na verdade, sinceramente, mas, porque, pois, que,
    só pra constar, por acaso, a propósito, eu, nós, a gente, pessoalmente, como eu disse, como disse, olha, ah, é
    que, em geral, por favor, infelizmente, acho que, já agora, fora isso, podes, pode
    """,
    clause_words="""
    se (eu|você|vc|tu|a gente|for|fosse|tivesse|der|puder|quiser|chover|estiver), mas, porque, embora, enquanto,
    então, já que, por isso, porém, (e|) (qual|quais|como|onde|quanto|você pode|pode me|podes|poderia|o que|tem
    alguma|tem algum|me indica|me recomenda|conhece|sabe|dá pra|dá para) (é|são|posso|devo|faço|você|eu|me|a|o|
    considerar|pão|pra|para)
    """,
    numbers="""
    um, uma, dois, duas, três, quatro, cinco, seis, sete, oito, nove, dez, onze, doze, quinze, vinte, trinta,
    quarenta, cinquenta
    """,
    adverbs="também, já, ainda, não, atualmente, sempre, agora, realmente, muito, bem, mesmo, hoje",
    negation="não, nunca, jamais, nem, nada, nenhum, nenhuma",
    articles="o, os, a, as, um, uma, do, ao, no, este, esse, seu, teu, bom, muito, pelo, algum",
    subject="me, eu, nós, a gente, para mim, pra mim, eu e *",
    own="meu, minha, meus, minhas, nosso, nossa, nossos, nossas",
    not_liked="""
    (da|das|do|dos|a|o|) (tua|teu|sua|tuas|teus|seus|suas), disso, disto, isso, isto, dessa ideia, daquilo, essa
    ideia, dela, dele, de ti, de você, como (você|tu|isso), do que (você|tu), que você, da ideia
    """,
    be="sou, somos, eu sou, a gente é",
    moods="grato, grata, obrigado, capaz, eu que, eu quem, dos que acham, todo ouvidos, todo, toda",
    strong="""
    me (faz|fazem) (mal|bem), moro, moramos, morei, morava, mora (em|no|na|com|num|numa), vivo, vivemos, vivi,
    vivia, me chamo, chamo me, trabalho, trabalhamos, trabalhei, trabalhava, trabalhando (em|como|de|na|no), estudo,
    estudei, estudamos, estudava, nasci, nascemos, cresci, crescemos, me mudei, mudei me, mudei (de|para|pra), nos
    mudamos, mudámos, me formei, formei me, formad(o|a), emigrei, imigrei, venho (de|do|da), falo, falamos, me
    casei, casei, casamos, casámos, casad(o|a), divorciad(o|a), me divorciei, divorciei me, separad(o|a), me
    separei, viúv(o|a), solteir(o|a), aposentad(o|a), reformad(o|a), me aposentei, reformei me, grávida, noiv(o|a),
    adotamos, adotámos, adotei, coleciono, uso (óculos|lentes|aparelho|cadeira|número|tamanho|marcapasso), calço,
    visto (tamanho|#), peso, meço, sofro, tomo (remédio|remédios|medicação|insulina|antidepressivo*|
    anticoncepcional|a pílula|comprimido*|metformina|injeção), fui (diagnosticad*|operad*|criad*|adotad*|demitid*|
    despedid*|promovid*|morar|pai|mãe), me operei, fiz (cirurgia|uma cirurgia|faculdade|um|uma|mestrado|doutorado|
    doutoramento|o|a), quebrei, parti (o|a) (braço|perna|joelho|pé|pulso|tornozelo|perna), parei de, deixei de,
    larguei, nunca (aprendi|fui|estive|tive|comi|saí|viajei|morei|provei|andei|bebi|fumei|viajei), te falo, te digo,
    não sei (nadar|dirigir|conduzir|cozinhar|andar), aprendo, estou (aprendendo|estudando|grávida|casad*|divorciad*|
    aposentad*|reformad*|desempregad*|economizando|juntando|treinando|fazendo (um|uma|faculdade|mestrado|doutorado|
    dieta|terapia|curso|tratamento)|a (aprender|estudar|tirar|fazer (um|uma|o|dieta|terapia)|poupar|treinar|escrever
    (um|uma|o))|escrevendo (um|uma|o|meu)|criando|tirando|noiv*|separad*|de dieta|de licença|no (primeiro|segundo|
    terceiro|último)), estamos (juntos|casados|esperando|à espera|noivos|grávidos|economizando|adotando), dou
    (aulas|aula), ensino, dirijo, conduzo, fundei, abri, montei, tenho (# anos|alergia|diabetes|medo|asma|filhos|
    nacionalidade|pânico|fobia|intolerância|dupla|tdah|pavor|pressão|enxaqueca|enxaquecas|cidadania|epilepsia|
    hipotireoidismo|insônia), faço (# anos|aniversário|anos|parte|faculdade|terapia|voluntariado|mestrado|doutorado|
    trabalho voluntário|dieta|tratamento|hemodiálise|escalada), toco, canto (em|no|num), jogo (em|no|na|futebol|
    tênis|ténis|xadrez|vôlei|basquete|online), pratico, treino, medito, rezo, jejuo, durmo, acordo, sou (de|do|da|
    dos|natural|filho|filha|mãe|pai|alérgic*), somos (de|do|da|em #|#), perdi (meu|minha|o meu|a minha|um|uma),
    ganhei, comprei (um|uma|meu|minha) (casa|apartamento|apê|carro|moto|cachorro|andar), compramos (um|uma|nossa|
    nosso|casa), comprou (um|uma) (apê|apartamento|casa|carro), alugo, alugamos, cuido, cuidamos, pertenço, evito,
    participo, sirvo, servi, ganho, recebo, me demiti, demiti me, mudei de (emprego|carreira|cidade|país|curso),
    troquei de, comecei a (trabalhar|estudar|aprender|correr|fazer|fumar|tocar|namorar|dar|usar), comecei (um|uma|o|
    a) (novo|nova|curso|faculdade|mestrado|dieta|emprego|negócio), não (fumo|bebo|dirijo|conduzo|tomo|como), fumo,
    nado, danço, pinto, cultivo, crio, namoro, vamos (casar|ter um|ter uma|nos casar|nos mudar), vou (ser pai|ser
    mãe|casar|me casar|me mudar|ter um filho|ter uma filha|fazer #|completar), economizo, poupo, gerencio, chefio,
    lidero, tiro, completo, sou alérgic*, herdei, frequento, torço
    """,
    weak="""
    tenho, temos, tinha, tive, tivemos, tínhamos, a gente tem, faço, fazemos, fiz, fazia, uso, usamos, utilizo,
    utilizamos, leio, cozinho, corro, corremos, nado, caminho, ando, vou, vamos, fui, ia, tomo, monto, escrevo,
    desenho, costuro, ouço, escuto, vejo, assisto, compro, comprei, compramos, vendi, perdi, ganhei, comecei,
    terminei, aprendi, conheci, estive, era, éramos, pago, gasto, passo, passei, ajudo, visito, viajo, viajei,
    viajamos, saio, programo, desenvolvo, posso, não posso, sei, levo, possuo, jogo, me levanto, levanto me, me
    deito, deito me, acordo, divido, partilho, troquei, mudei, estou, estamos, trabalhava, tocava, jogava, fumava,
    participei, coordeno, vendo, costumo, colaboro, voltei, venho, pedalo, surfo, consigo, pratiquei, dou, recebi,
    entrei
    """,
    tastes="""
    como, comemos, bebo, bebemos, tomo, janto, almoço, fumo, viajo, voo, me levanto, levanto me, me deito, acordo,
    sento, me sento, cozinho, peço, compro, leio, vejo, assisto, ouço, escuto, escolho, reservo, prefiro, durmo,
    trabalho melhor, tomo café
    """,
    likes="""
    me (dá|dão) (ânsia|nojo|náusea|náuseas|enjoo|arrepios|sono|preguiça|azia|agonia), não consigo me concentrar, não
    me concentro, gosto, gostamos, gostava, gosta (de|muito), curto, curtimos, adoro, adoramos, amo, amamos,
    prefiro, preferimos, odeio, odiamos, detesto, detestamos, não suporto, não aguento, não tolero, não engulo,
    aprecio, me (encanta|fascina|fascinam|interessa|interessam|irrita|irritam|incomoda|incomodam|relaxa|estressa|
    estressam|aborrece|aborrecem|dá nojo|dão nojo|dá medo|dá ansiedade|cansa|cansam|apaixona|acalma|acalmam|agrada|
    agradam|tira do sério|deixa nervos*), irrita me, irritam me, fascina me, fascinam me, encanta me, interessa me,
    sou (muito|mais|um|uma|grande|super|) (fã|apaixonad*|amante|viciad*|fanátic*|louc*|doid*|adept*|entusiasta|
    chegad*|torcedor*|da turma|team|do dia|da noite|de|ligad*), não sou (muito|nada|fã|de|chegad*|grande|uma
    pessoa), valorizo, tenho (nojo|pavor|fraqueza|horror|um fraco|paixão|preguiça) de, fujo de, funciono melhor,
    rendo mais, trabalho melhor, acho * (chato|chata|nojento|insuportável|melhor|ótimo|horrível|sem graça|relaxante|
    superestimad*|cansativo|difícil), acho * * (chato|chata|nojento|insuportável|melhor|horrível|sem graça|
    cansativo), sinto falta, não abro mão, não vivo sem, dispenso, evito, morro de medo, não me dou bem
    """,
    favourites="""
    é melhor que, são melhores que, me estressa, me relaxa, acima de tudo, superestimad*, (favorit*|preferid*|
    predilet*), não é comigo, não são comigo, não é a minha (praia|cena|onda), não é minha praia, não é pra mim, não
    é para mim, não são para mim, nada como, não faz meu tipo, não faz o meu género, é minha paixão, é a minha
    paixão, meu ponto fraco, do que qualquer, em vez de, melhor que qualquer, é a minha praia, minha paixão, mil
    vezes
    """,
    standing="""
    me poupe, poupa me, a partir de agora, daqui pra frente, daqui em diante, de agora em diante, no futuro, (me
    responda|responda|responda me|responde|responde me|me responde|fala comigo|fale comigo|me explique|me explica|
    explica me|me chame|me chama|me chamem|chama me|me trate|trata me|me dê|dá me|use|usa|não use|não uses|evite|
    evita|me mande|não me mande|não me chame|não me chames|não me trate|não me envie|não me ligue|não me sugira|não
    me recomende|não me dê|não escreva|escreva|escreve|me escreva) (sempre|por favor|só|somente|em|de|nunca|o|a|as|
    emojis|respostas|curto|bem|todo|tudo|por|pelo|com|unidades|graus|jargão|listas|uma|textos|receitas|primeiro|
    gírias|carne|depois|antes|termos|linguagem), sem (emojis|rodeios|enrolação|jargão|floreios|introdução|
    anglicismos), respostas (curtas|breves|concisas|longas|diretas|em), sempre (em português|por escrito|em tópicos|
    com fontes), seja (breve|conciso|direto|objetivo|direta), sê (breve|direto|direta|conciso), nada de (emojis|
    rodeios|gírias|enrolação), não use
    """,
    facts="""
    meu (nome|aniversário|sobrenome|apelido|email|e-mail|telefone|número|celular|endereço|signo|tipo sanguíneo|peso|
    fuso|cep|salário|país|bairro|cargo), (minha|a minha) (idade|altura|cidade|profissão|língua|nacionalidade|data de
    nascimento|religião|morada|língua materna|cidade natal), meus (pronomes|apelidos), (faço|fiz) (anos|aniversário)
    (em|no|a|dia), # anos, lembre se que, lembra te que, lembre que, lembra que, anote que, anota que, não esqueça
    que, não te esqueças, tenha em conta, tem em conta que, saiba que, leva em conta, leve em conta, como (mãe|pai|
    vegetariano|vegetariana|vegano|vegana|médico|médica|professor|professora|enfermeiro|enfermeira|estudante|
    autônomo|autônoma|diabético|diabética|aposentado|aposentada|reformado|advogado|advogada|muçulmano|muçulmana|
    desenvolvedor|desenvolvedora|celíaco|celíaca|iniciante|principiante|engenheiro|engenheira|designer|freelancer|
    programador|programadora), ^(alérgic*|vegetarian*|vegan*|aposentad*|mãe de|pai de|casad*|celíac*|nascid*|
    professora aposentada|professor aposentado), de profissão, lá em casa somos, aqui em casa somos, somos em #, na
    minha (família|casa|equipe|equipa|empresa|terra) (somos|usamos|ninguém|todos|tem|há|a gente|falamos|temos), no
    meu (trabalho|time|bairro|prédio|país) (usamos|a gente|temos|somos), vem de família, desde (pequeno|pequena|
    criança|miúdo|miúda), desempregad*
    """,
    hints="""
    me chame de, pode me chamar, podes chamar me, todos me chamam, me chamam, chamam me, pra mim, para mim, aqui em
    casa, lá em casa, na minha família, na minha equipe, na minha equipa, na minha empresa, no meu time
    """,
    kin="""
    supervisora, supervisor, mulher, marido, esposo, esposa, companheir(o|a), namorad(o|a), noiv(o|a), ex, ex
    marido, ex mulher, filh(o|a|os|as), bebê, bebé, gêmeos, gêmeas, gémeos, gémeas, caçula, mais (velho|velha|novo|
    nova), mãe, pai, pais, irmão, irmã, irmãos, irmãs, mana, mano, avó, avô, avós, net(o|a|os|as), ti(o|a|os|as),
    prim(o|a|os|as), sobrinh(o|a|os|as), sogr(o|a|os), cunhad(o|a|os|as), genro, nora, padrasto, madrasta,
    entead(o|a), afilhad(o|a), família, melhor amig(o|a), colega de (casa|quarto|apartamento), senhorio, senhoria,
    chefe, patrão, médic(o|a), terapeuta, psicólog(o|a), cachorr(o|a|os|as), cachorrinh(o|a), cão, cadela, cães,
    gat(o|a|os|as), gatinh(o|a), cavalo, coelh(o|a|os), hamster, papagaio, filhote, tartaruga, equipe, equipa,
    empresa
    """,
    third="""
    é (#|de|do|da|um|uma|alérgic*|médic*|professor*|enfermeir*|advogad*|engenheir*|autista|celíac*|vegetarian*|
    vegan*|diabétic*|surd*|ceg*|natural|aposentad*), são (#|de|do|gêmeos|gémeos|meus|os|as|divorciados|aposentados|
    separados|muito), se (chama|chamam|aposentou|casou|mudou|casa|formou), chama se, chamam se, mora, moram, vive,
    vivem, trabalha, trabalham, tem (#|um|uma|asma|diabetes|alergia|medo|autismo|tdah|câncer|cancro|alzheimer|
    demência|síndrome|os|o), têm (#|um|uma), estuda, estudam, vai (pra|para|à|ao|fazer|nascer|entrar|casar|se
    casar), vão (pra|para|à), vem (de|do|da), vêm de, joga, jogam, toca, fala, falam, faz (#|anos|aniversário|balé|
    faculdade|natação|judô), fazem, faleceu, morreu, morreram, nasceu, nasceram, alérgic*, odeia, adora, ama,
    prefere, gosta, gostam, come, bebe, está (grávida|aposentad*|casad*|desempregad*|reformad*|na faculdade|no|
    divorciad*|a|esperando), espera um, começa, começou, entra, dirige, conduz, usa, usam, sofre, era, eram, foi,
    canta, ensina, late, dorme, pesa, mede, usamos, emigrou, emigraram, criou, veio, vieram
    """,
    life="""
    joelhos, coração, visão, pele, estômago, salário, aluguel, guarda, trajeto, alérg*, alerg*, intoler*, asma,
    asmátic*, diabet*, diabét*, epilep*, epilét*, enxaqueca*, tdah, autis*, dislex*, celíac*, depress*, ansiedade,
    insônia, insónia, câncer, cancro, artrite, artrose, hipertens*, pressão, colesterol, tireoide, tiroide, zumbido,
    ciática, marcapasso, cirurgia, operad*, quadril, anca, joelho, coluna, costas, rim, vesícula, tatuagem,
    tatuagens, óculos, lentes, aparelho auditivo, cadeira de rodas, insulina, remédio*, medicação, comprimido*,
    vegan*, vegetarian*, glúten, lactose, halal, kosher, carne, peixe, porco, leite, açúcar, álcool, café, chá,
    cerveja, vinho, frutos do mar, marisco*, camarão, nozes, amendoim, picante, pimenta, filh(o|a|os|as), criança*,
    bebê, bebé, gêmeos, gémeos, gêmeas, marido, mulher, esposa, esposo, namorad(o|a), companheir(o|a), irmão*, irmã,
    irmãs, pais, avó, avô, avós, net(o|a|os|as), prim(o|a|os|as), sobrinh(o|a|os|as), cachorr(o|a|os|as), cão, cães,
    cadela, gat(o|a|os|as), cavalo*, coelho*, hamster, galinhas, abelhas, cabras, aquário, solteir(o|a),
    casad(o|a|os), divorciad(o|a), viúv(o|a), grávida, gay, lésbica, enfermeir(o|a), médic(o|a), doutor*,
    professor*, engenheir(o|a), desenvolvedor*, programador*, advogad(o|a), estudante, designer, contador*,
    contabilista, eletricista, encanador, canalizador, carpinteir(o|a), marceneir(o|a), cozinheir(o|a), padeir(o|a),
    garçom, garçonete, piloto, motorista, agricultor*, autônom(o|a), freelancer, consultor*, cientista,
    farmacêutic(o|a), dentista, veterinári(o|a), jornalista, tradutor*, escritor*, artista, músic(o|a),
    fotógraf(o|a), arquitet(o|a), bombeir(o|a), policial, polícia, militar, mecânic(o|a), aposentad(o|a),
    reformad(o|a), funcionári(o|a), servidor* públic*, dona de casa, faculdade, doutorado, doutoramento, mestrado,
    universidade, escola, medicina, física, direito, biologia, química, história, filosofia, economia, psicologia,
    matemática, letras, informática, piano, violão, guitarra, violino, baixo, bateria, saxofone, flauta, trompete,
    coral, coro, banda, orquestra, xadrez, futebol, tênis, ténis, padel, basquete, vôlei, voleibol, golfe, ioga,
    yoga, pilates, academia, ginásio, maratona*, escalada, trilha*, caminhada*, ciclismo, bike, bicicleta, natação,
    nadar, corrida, vela, mergulho, esqui, surfe, surf, karatê, caratê, judô, judo, boxe, crossfit, jiu-jitsu,
    capoeira, tricô, crochê, croché, horta, jardim, cerâmica, podcast*, vinil, vinis, casa, apê, apartamento,
    kitnet, varanda, fazenda, sítio, quinta, financiamento, hipoteca, carro, moto, van, carro elétrico, carteira de
    motorista, carta de condução, muçulman*, cristã*, cristão, católic*, evangélic*, judeu, judia, budista, hindu,
    espírita, ateu, ateia, igreja, mesquita, ramadã, sotaque, bilíngue, idioma*, língua*, inglês, francês, alemão,
    espanhol, italiano, japonês, chinês, mandarim, árabe, russo, nacionalidade, cidadania, passaporte, turno*,
    noite, madrugada, home office, remoto, teletrabalho, empresa, negócio, loja, padaria, restaurante, blog, canal,
    meio período, part-time, canhot(o|a), esquerdin(o|a), destr(o|a), daltônic(o|a), daltónic(o|a), surd(o|a),
    ceg(o|a), altura*, aranhas, baratas, fobia, medo de, introvertid(o|a), extrovertid(o|a), matutino, noturn(o|a),
    coruja, casamento, aniversário, quilos, kg, cm, filho único, filha única, interior, aldeia, campo, subúrbio,
    andar, elevador, iphone, android, linux, windows, mac, equipe, equipa, time, voluntári(o|a), ong, banco de
    alimentos, concurso, tese, aposentadoria
    """,
    habits="""
    sempre, nunca, jamais, normalmente, geralmente, quase nunca, quase sempre, muitas vezes, raramente, só, somente,
    apenas, costumo, todo (dia|domingo|sábado|mês|ano|fim|verão), toda (semana|manhã|noite|segunda|terça|quarta|
    quinta|sexta), todos os (dias|domingos|sábados|fins|anos|meses|verões), todas as (manhãs|noites|tardes|semanas|
    segundas|terças|quartas|quintas|sextas), cada (dia|semana|mês|ano), aos (sábados|domingos|fins), às (segundas|
    terças|quartas|quintas|sextas), (#|uma|duas|três|quatro) vez(es|) (por|na|ao|no), de (manhã|noite|madrugada|
    segunda|tarde), diariamente, no meu tempo livre, nas horas vagas, não * mais, já não, depois do trabalho, antes
    de *, como hobby, por hobby, regularmente, em jejum, durante a semana, à noite, pela manhã, desde sempre, nos
    fins
    """,
    lasting="""
    desde, há (#|um|uma|muitos|vários|quase|mais|anos|tempo|cerca) *, faz (# *|muito|tempo), # anos, (no|) ano
    passado, mês passado, verão passado, ano que vem, (em|desde|de) ##, ##, quando (eu|) era, quando (criança|
    pequeno|pequena|miúdo), toda a minha vida, minha vida toda, a vida toda, infância, originalmente, em (janeiro|
    fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro), este ano, esse ano, próximo
    ano, anos, anos atrás, meses atrás, recentemente, antes, durante *, uma vez, pela primeira vez
    """,
    passing="""
    mudei (o|a) (código|fonte|texto|cor), adicionei, acrescentei, removi, consertei, buscar, jantei, almocei, estava
    (no|na|vendo|pensando|em), fico com a, peguei, está esperando (no|na|aqui|fora|lá), vamos fazer, vamos ver,
    vamos lá, te falo, entendo, não entendo, entendi, compreendo, percebi, percebo, vejo (que|o|se), vou ver, te
    digo, te aviso, tento, tentei, já tentei, pedi, enviei, mandei, cliquei, baixei, encontrei, não (acho|encontro)
    (o|a|meu|minha|os|as), espero, me sinto, sinto me, lembro, não lembro, me lembro, esqueci, dói, doem, dor,
    febre, resfriad*, constipad*, gripe, gripad*, derramei, deixei cair, acordei (agora|tarde|com), estou atrasad*,
    perdi (a|as|o|os) *, concordo, sei que, não sei, não (consigo|posso) *, instalei, subi, copiei, reiniciei,
    aparece, dá erro, parece, desculpa, desculpe, perdão, minutos, pra baixo, li (que|o|a), vi (que|o|a|um),
    cheguei, saí, comi (com|em|um), fui (ao|à|no|na), fiquei, me enganei, acho (que|quebrou|melhor), vou te, já
    volto, acho, hoje, esta (manhã|noite|tarde|semana), essa semana, agora mesmo, neste momento, no momento, por
    enquanto, ontem, amanhã, depois, mais tarde, já já, acabei de, acabou de, fome, sede, sono, pressa, quero,
    queremos, queria, queríamos, preciso, precisamos, tenho (que|de) *, temos que, vou (ver|tentar|fazer|sair|te|
    comprar|dormir|comer|ler|precisar|pensar|procurar), tentando, a tentar, estou (cansad*|com|muito|um pouco|bem|
    mal|feliz|triste|aqui|em|no|na|irritad*|nervos*|pres*|procurando|à procura|pensando|a pensar|tentando|contente|
    perdid*|confus*|ocupad*|preocupad*|exaust*|entediad*|de acordo|prestes|vendo|lendo|trabalhando num|trabalhando
    no|pronto|pronta|atrasad*|chatead*|lixad*|a ver|a ler|morrendo|morto|doente|ansios* para|indecis*|sem|
    precisando|esperando|à espera), nem ideia, não (tenho ideia|tenho tempo|faço ideia|tenho certeza|entendi|sei
    (se|por|como|qual|o)), dúvida*, problema*, pergunta*, reunião, compromisso, de novo, outra vez, um momento,
    outro dia, semana que vem, fim de semana que vem, neste fim, este fim, frio, calor, razão, vontade de, na
    segunda, daqui a pouco, esqueci me
    """,
    tasks="""
    bateria, celular, telemóvel, notebook, portátil, wifi, internet, tela, ecrã, carregador, passo, passos, opções,
    instruções, resultado, mensagem, preço, trem, comboio, ônibus, autocarro, táxi, uber, chuva, camisa, tamanho,
    erro*, bug, código, arquivo*, ficheiro*, script, função, build, compilação, consulta, log*, exceção, anexo,
    senha, palavra passe, reunião, prazo, relatório, documento, apresentação, slide*, planilha, redação, parágrafo,
    frase, rascunho, carta de apresentação, reserva*, voo, passagem, bilhete*, pedido, encomenda, pacote, link,
    versão, instal*, dever de casa, trabalho de casa, fatura, captura, pdf, ideia, trânsito, aba, página, comando,
    servidor, banco de dados, atualiz*, computador*, impressora, mesa para
    """,
    ask="""
    ^(o que|que|qual|quais|quem|onde|quando|como|quanto|quanta|quantos|quantas|por que|porque é que|será|é possível|
    tem|há|pode|podes|poderia|posso|devo|deveria|sabe|sabes|você (acha|sabe|conhece|tem|pode|poderia)|acha|achas|
    conhece|conheces|dá pra|dá para|pra que|a que|de que|em que|com que|vale a pena) *
    """,
    request="""
    você pode, pode me, podes, poderia, você poderia, me ajude, me ajuda, ajuda me, me diga, me diz, diz me, me
    mostre, mostra me, me dê (um|uma|ideias|a|o), dá me (um|uma|ideias), deixa eu, deixe me, vamos ver, preciso (de|
    que|saber|escrever), procuro, estou procurando, estou à procura, quero (que|um|uma|saber|reservar|fazer|comprar|
    ver|pedir), gostaria (de|que), queria (saber|que|um|uma|reservar|ver|pedir), me pergunto, obrigado, obrigada,
    valeu, alguma (ideia|receita|recomendação|sugestão|dica), o que me, tem alguma, ^(escreva|escreve|traduza|
    traduz|explique|explica|mostre|mostra|encontre|faça|faz|crie|cria|resuma|resume|corrija|corrige|revise|sugira|
    sugere|recomende|recomenda|compare|redija|conte|conta|descreva|descreve|gere|gera|calcule|calcula|leia|lê|
    analise|planeje|reserve|abra|envie|envia|manda|mande|apague|melhore|encurte|adicione|mude|ordene|repita|busque|
    procure|liste|lista|proponha|converta|me lembre|lembra me|prepare|organize|me conta|me indica|me recomenda|
    monta|monte|ajude)
    """,
    suppose="""
    se (eu|você|vc|tu|a gente|for|fosse|tivesse|der|puder|quiser|chover|estiver|um), talvez, quem sabe, tomara,
    poderia, poderíamos, deveria, deveríamos, seria, gostaria, gostaríamos, acho que (você|tu|ele|ela|isso|o|a|vou|
    é|não|sim|está), acredito, penso, suponho, imagino, parece que, espero que, esperamos, se eu tivesse, tivesse,
    fosse, como se, sonhei, no (filme|livro|jogo|romance|conto), na (série|história|música|novela), brincadeira,
    esqueci, pensando (se|em), a pensar se, duvido, não tenho certeza, faria, iria, compraria, moraria, viveria,
    teria, pode ser que, será que, chamaria, conto pra, conto para, devia
    """,
    reported="""
    diz, dizem, disse, disseram, dizia, falou que, fala que, contou, conta que, me contou, comentou, perguntou,
    pergunta se, segundo, afirma, afirmou, escreveu, garante, pensa que, acha que, opina, respondeu, ao que parece,
    pelo visto, ouvi (dizer|falar), li que, imagine, imagina que, imaginemos, suponha, suponhamos, supõe, finja, faz
    de conta, faça de conta, citação
    """,
    void="""
    não consigo me concentrar, gostaria que (me|você me), não como, como se, (e|) como (mãe|pai), o trabalho, como
    (um|uma|o|a|os|as|este|esse|eu|disse|você), assim como, tanto como, não sei (nadar|dirigir|conduzir|cozinhar),
    fora de, me vejo, disse e repito, hoje (moro|vivo|trabalho|em dia), em vez de, se chama, se chamam, na verdade,
    vamos casar, vamos ter, depois do (trabalho|almoço|jantar), depois de ##, eu acho que sou, a gente se, me casei,
    só como, não * de novo, sem tempo, depois que
    """,
)

"""Spanish."""

from __future__ import annotations

from .language import Language

SPANISH = Language(
    name="Spanish",
    code="es",
    first_person=r"[^aeiou]o$|é$|amos$|emos$|imos$|oy$",
    common="""
    el, la, los, las, de, que, y, en, un, una, es, no, por, con, para, mi, mis, me, se, del, al, lo, como, más,
    pero, su, muy, sí, si, ya, yo, tú, tu, te, está, estoy, son, soy, ha, he, hay, tengo, cuando, donde, qué, cómo,
    cuál, porque, desde, hace, este, esta, esto, eso, también, nos, nuestro, nuestra, puedes, hola, gracias,
    siempre, nunca, todos, ahora, le, usted, quiero
    """,
    fillers="""
    (buenos|buenas) (días|tardes|noches), hola a todos, de acuerdo,
    y, hola, buenas, bueno, pues, oye, vale, ok, también, además, la verdad, la verdad es que, por cierto, que, es
    que, sí, no, pero, porque, ya, en realidad, sinceramente, como te dije, como dije, por si acaso, para que lo
    sepas, yo, nosotros, a mí, creo que, o sea, mira, ah, eh, personalmente, en general, por favor, puedes, aunque
    """,
    clause_words="""
    si, pero, porque, aunque, ya que, mientras, así que, (y|) (qué|cómo|cuál|cuáles|puedes|podrías|me puedes|me
    podrías|dónde|cuánto|hay algún|hay alguna|conoces|sabes|tienes alguna|me recomiendas|alguna idea)
    """,
    numbers="""
    un, una, dos, tres, cuatro, cinco, seis, siete, ocho, nueve, diez, once, doce, quince, veinte, treinta,
    cuarenta, cincuenta
    """,
    adverbs="también, ya, todavía, no, actualmente, siempre, ahora, realmente, además, aún, muy",
    negation="no, nunca, jamás, tampoco, ni, ya no, nada de",
    articles="el, la, los, las, un, una, del, al, este, ese, su, tu, buen, mucho, gran",
    subject="me, yo, nosotros, nosotras, a mí, a nosotros, mi * y yo",
    own="mi, mis, nuestro, nuestra, nuestros, nuestras, mío, mía",
    not_liked="""
    (tu|tus|esto|eso|esa idea|esta idea|ese|esa|esta|este|aquello|la idea|el plan|cómo|lo que|la propuesta), que
    (me|te)
    """,
    be="soy, somos, yo soy",
    moods="""
    consciente, yo, el que, la que, quien, capaz, de los que creen, tonto, idiota, un desastre, todo oídos
    """,
    strong="""
    vivo, vivimos, vivía, viví, vivo con, me llamo, me dicen, nos llamamos, trabajo, trabajamos, trabajé, trabajando
    (en|como|de|desde), curro (en|como|de), estudio, estudié, estudiamos, nací, nacimos, me crie, me crié, crecí, me
    mudé, nos mudamos, me trasladé, emigré, vengo de, procedo, hablo, hablamos, me casé, nos casamos, me caso,
    casado, casada, divorciado, divorciada, me divorcié, separado, separada, viudo, viuda, soltero, soltera,
    jubilado, jubilada, me jubilé, embarazada, comprometido, comprometida, adoptamos, adopté, colecciono, llevo
    (gafas|lentes|lentillas|# años|años|más de|casi|toda|un|una|marcapasos|brackets|audífonos|tatuajes|desde|
    viviendo|trabajando), llevamos, uso (gafas|lentes|lentillas|una talla|talla|silla), calzo, peso, mido, padezco,
    sufro, tomo (pastillas|medicación|medicamentos|insulina|antidepresivos|la píldora|una pastilla|metformina|
    antihistamínicos|medicina|anticonceptivos), me diagnosticaron, me operaron, me operé, me rompí, me fracturé,
    dejé (de|el|la|mi), he dejado, nunca (he|aprendí|fui|tuve|había|hemos), no he (estado|ido|probado|tenido|
    aprendido) nunca, no sé (nadar|conducir|cocinar|montar|manejar), aprendo, estoy (aprendiendo|estudiando|
    embarazada|casado|casada|divorciado|divorciada|jubilado|jubilada|operado|operada|separado|separada|ahorrando|
    entrenando|en paro|en el paro|desempleado|desempleada|prometido|prometida|haciendo (un|el|la|una|mi)|criando|
    escribiendo (un|una|mi)|sacándome|sacando|a dieta|preparando (la|las|una|mi|oposiciones)), estamos (casados|
    esperando|divorciados|ahorrando|prometidos|reformando), me gradué, me licencié, hice (un|el|la|mi) (máster|
    doctorado|carrera|grado|tesis|fp), doy clases, enseño, dirijo, fundé, monté, abrí, tengo (# años|alergia|
    diabetes|miedo|asma|hijos|nacionalidad|pánico|fobia|intolerancia|raíces), cumplo, cumplimos, toco, canto en,
    juego (al|a|en), practico, entreno, medito, rezo, ayuno, duermo, madrugo, soy de, somos de, perdí (a|mi|el), mi
    * murió, gané, serví, compramos (un|una|la|nuestra|casa|piso), compré (un|una|mi) (casa|piso|coche|moto|perro|
    departamento), alquilo, alquilamos, cuido, cuidamos, pertenezco, evito, participo, colaboro, echo de menos, me
    formé, ejerzo, cobro, gano, renuncié, me despidieron, me ascendieron, cambié de (trabajo|carrera|país|ciudad),
    empecé a (trabajar|estudiar|aprender|correr|fumar|ir|hacer), acabo de (empezar|mudarme|casarme|jubilarme|
    divorciarme|comprar|tener|adoptar), no (fumo|bebo|conduzco|manejo|tomo|como), soy alérgic*, me apellido, fumo,
    conduzco, ahorro, heredé, bailo, pinto, cultivo, crío, dono, voto
    """,
    weak="""
    tengo, tenemos, tenía, tuve, tuvimos, he tenido, hago, hacemos, hice, hacía, uso, usamos, utilizo, utilizamos,
    leo, cocino, corro, corremos, nado, camino, voy, vamos, fui, iba, tomo, monto, escribo, dibujo, coso, tejo,
    escucho, veo, compro, compré, compramos, vendí, perdí, gané, empecé, comencé, terminé, aprendí, conocí, estuve,
    he estado, estado, era, éramos, pago, gasto, paso, pasé, ayudo, visito, viajo, viajé, viajamos, salgo, conduzco,
    manejo, programo, desarrollo, diseño, puedo, no puedo, sé, necesito, llevo, tenido, poseo, juego, me levanto, me
    acuesto, me despierto, ando, comparto, cambié, cambiamos, estoy, estamos, me operan, trabajaba, estudiaba,
    jugaba, tocaba, fumaba, participé, gestiono, coordino, vendo, fabrico, suelo, solemos, colaboro, volví, regresé,
    quedo, quedamos, pertenezco
    """,
    tastes="""
    como, comemos, bebo, bebemos, desayuno, ceno, almuerzo, tomo, fumo, viajo, vuelo, me levanto, me acuesto, me
    despierto, me siento en, cocino, pido, compro, leo, veo, escucho, elijo, reservo, madrugo, trabajo mejor
    """,
    likes="""
    me (da|dan) (arcadas|náuseas|alergia|grima|repelús|sueño), no me concentro, me concentro mejor, (me|nos) (gusta|
    gustan|gustaba|encanta|encantan|encantaba|flipa|flipan|mola|molan|fascina|fascinan|chifla|chiflan|apasiona|
    apasionan|interesa|interesan|apetece más|molesta|molestan|irrita|irritan|horroriza|agobia|agobian|aburre|
    aburren|repugna|repugnan|da asco|dan asco|da miedo|dan miedo|da pereza|cae mal|sienta mal|sientan mal|pone
    nervioso|pone nerviosa|pirra|pirran|tira más|va más|van más|relaja|relajan|cuesta|estresa|estresan|desagrada|
    disgusta|vuelve loco|vuelve loca|vuelven loco|vuelven loca|resulta|resultan|saca de quicio|parece mejor|parecen
    mejor|parecen aburrid*|parece aburrid*|aburre), prefiero, preferimos, adoro, adoramos, amo, odio, odiamos,
    detesto, aborrezco, disfruto, disfrutamos, no soporto, no aguanto, no trago, soy (muy|más|un|una|gran|) (fan|
    fanático|fanática|amante|aficionado|aficionada|forofo|adicto|adicta|hincha|seguidor|seguidora|de|friki), me va
    más, soy más de, no soy (muy|mucho|nada|de|un|una) *, aprecio, valoro, le tengo manía, tengo debilidad, paso de,
    huyo de, me niego a, no (quiero|necesito) (que me|llamadas|notificaciones|correos), evito, mejor para mí, me
    funciona mejor
    """,
    favourites="""
    es mejor que, son mejores que, me relaja, me estresa, me estresan, por encima de, sobrevalorad*, (mi|mis|
    nuestro|nuestra) * (favorito|favorita|favoritos|favoritas|preferido|preferida|preferidos|preferidas|ideal), (mi|
    mis) (favorito|favorita|favoritos|favoritas|preferido|preferida|plan ideal), favorit*, preferid*, no es lo mío,
    no son lo mío, no va conmigo, no van conmigo, no es para mí, nada como, antes que, mejor que nada, es mi
    debilidad, son mi debilidad, es mi perdición, es lo mío, mi pasión, donde esté un, donde esté una, prefiero, soy
    más de, me gusta más
    """,
    standing="""
    ahórrate, ahórrame, a partir de ahora, de ahora en adelante, en adelante, (respóndeme|contéstame|háblame|
    escríbeme|explícame|responde|contesta|trátame|llámame|dame|háblale|usa|utiliza|no uses|no utilices|evita|
    mándame|envíame|ponme) (siempre|por favor|solo|sólo|en|de|nunca|el|emojis|respuestas|corto|breve|todo|las|
    unidades|grados|tecnicismos|los|un lenguaje|listas|kilómetros), no (me|) (llames|mandes|envíes|pongas|uses|
    trates|hables|escribas|contestes|respondas|recomiendes|sugieras|recuerdes|digas) *, siempre (en español|con|por
    escrito|en formato|de forma|respóndeme|responde|usa|dame), respuestas (cortas|breves|concisas|largas|directas),
    (tutéame|trátame de), sin (emojis|rodeos|tecnicismos|florituras|introducciones|anglicismos), sé (breve|conciso|
    concisa|directo|directa), nada de (emojis|rodeos|tecnicismos)
    """,
    facts="""
    mi (nombre|cumpleaños|apellido|correo|email|e-mail|teléfono|número|móvil|dirección|talla|edad|lengua materna|
    idioma|apodo|signo|pueblo|ciudad|profesión|grupo sanguíneo|peso|altura|aniversario|usuario|código postal|zona
    horaria|estatura|sueldo|salario|presupuesto mensual|religión|nacionalidad|mote|oficio), mis (pronombres|
    apellidos|raíces|orígenes), me llaman, # años, recuerda que, acuérdate de que, ten en cuenta que, toma nota,
    apunta que, no olvides que, que sepas que, como (madre|padre|vegetariano|vegetariana|vegano|vegana|médico|
    médica|profesor|profesora|enfermero|enfermera|estudiante|autónomo|autónoma|diabético|diabética|jubilado|
    jubilada|abogado|abogada|musulmán|musulmana|desarrollador|desarrolladora|celíaco|celíaca|principiante|ingeniero|
    ingeniera|diseñador|diseñadora|freelance), ^(alérgico|alérgica|vegetariano|vegetariana|vegano|vegana|jubilado|
    jubilada|madre de|padre de|casado|casada|celíaco|celíaca|nacido|nacida|autónomo|autónoma), (maestra|maestro|
    profesor|profesora|enfermera|enfermero|médico|médica) (jubilada|jubilado|de), de profesión, en casa somos, somos
    (#|familia), en mi (familia|casa|equipo|empresa|trabajo|pueblo|piso) (somos|usamos|hay|nadie|todos|trabajamos|
    tenemos|vivimos|hablamos), viene de familia, en paro, desde (pequeño|pequeña|niño|niña)
    """,
    hints="llámame, puedes llamarme, me llaman, todos me llaman, me dicen, para mí, en mi casa, en casa",
    kin="""
    superior, supervisora, mujer, marido, esposo, esposa, pareja, novio, novia, prometido, prometida, ex, exmarido,
    exmujer, hij(o|a|os|as), niñ(o|a|os|as), bebé, mellizos, mellizas, gemel(os|as), peque, pequeña, pequeño, mayor,
    madre, mamá, padre, papá, padres, herman(o|a|os|as), abuel(o|a|os|as), niet(o|a|os|as), tí(o|a|os|as),
    prim(o|a|os|as), sobrin(o|a|os|as), suegr(o|a|os|as), cuñad(o|a|os|as), padrastro, madrastra, hijastr(o|a),
    ahijad(o|a), familia, mejor amig(o|a), compañer(o|a) de piso, compañer(o|a), caser(o|a), jef(e|a), médico,
    terapeuta, psicólog(o|a), perr(o|a|os|as), perrit(o|a), gat(o|a|os|as), gatit(o|a), mascota, mascotas, caballo,
    conejo, hámster, loro, cachorro, tortuga, canario, equipo, empresa
    """,
    third="""
    es (#|de|un|una|alérgic*|médic*|profesor*|enfermer*|abogad*|ingenier*|maestr*|autista|celíac*|vegetarian*|
    vegan*|diabétic*|muy), son (#|de|gemelos|mellizos|mis|un|una|los|las), se (llama|llaman|apellida|jubiló|casó|
    mudó|casa|murió|divorciaron), vive, viven, trabaja, trabajan, tiene (#|un|una|asma|diabetes|alergia|miedo|
    demencia|alzheimer|autismo|tdah|cáncer|el), tienen (#|un|una), estudia, estudian, va (a|al), van (a|al), viene
    de, vienen de, juega, juegan, toca, habla, hablan, cumple, cumplen, murió, murieron, falleció, falleciendo,
    nació, nacieron, alérgic*, odia, adora, prefiere, le (gusta|encanta|gustan|encantan|diagnosticaron|operaron),
    come, bebe, está (embarazada|jubilado|jubilada|casado|casada|enferma|enfermo|divorciado|divorciada|en paro|
    sordo|ciego|en la universidad|estudiando), están (divorciados|jubilados|casados|separados), espera un, empieza,
    empezó, conduce, lleva, sufre, padece, era, eran, usa, usamos, usan, emigró, emigraron, nos visita, crio,
    criaron, fue, canta, enseña, ladra, duerme, pesa, mide
    """,
    life="""
    rodillas, corazón, vista, piel, estómago, sueldo, alquiler, custodia, trayecto, alérg*, alerg*, intoleran*,
    asma, asmátic*, diabet*, diabét*, epilep*, migrañ*, tdah, autis*, dislex*, celíac*, celiac*, depres*, ansiedad,
    insomnio, cáncer, artritis, artrosis, hipertens*, colesterol, tensión, tiroides, hipotiroid*, acúfenos, ciática,
    marcapasos, operación, operad*, cirugía, cadera, rodilla, espalda, riñón, vesícula, tatuaje*, gafas, lentillas,
    audífono*, silla de ruedas, insulina, medicación, pastilla*, vegan*, vegetarian*, gluten, lactosa, halal,
    kosher, keto, carne, pescado, cerdo, leche, azúcar, alcohol, café, té, cerveza, vino, marisco, mariscos, nueces,
    cacahuetes, picante, hij(o|a|os|as), niñ(o|a|os|as), bebé, mellizos, mellizas, gemel(os|as), marido, mujer,
    esposo, esposa, novi(o|a), pareja, herman(o|a|os|as), padres, abuel(o|a|os|as), niet(o|a|os|as),
    prim(o|a|os|as), sobrin(o|a|os|as), perr(o|a|os|as), gat(o|a|os|as), caballo*, conejo*, hámster, gallinas,
    abejas, cabras, acuario, mascota*, soltero, soltera, casad(o|a|os), divorciad(o|a), viud(o|a), embarazad*, gay,
    lesbiana, enfermer(o|a), médic(o|a), doctor*, profesor*, maestr(o|a), ingenier(o|a), desarrollador*,
    programador*, abogad(o|a), estudiante, diseñador*, contable, electricista, fontaner(o|a), carpinter(o|a),
    cociner(o|a), panader(o|a), camarer(o|a), piloto, conductor*, agricultor*, autónom(o|a), consultor*,
    científic(o|a), farmacéutic(o|a), dentista, veterinari(o|a), periodista, traductor*, escritor*, artista,
    músic(o|a), fotógraf(o|a), arquitect(o|a), bomber(o|a), policía, militar, mecánic(o|a), jubilad(o|a),
    funcionari(o|a), ama de casa, carrera, doctorado, máster, universidad, facultad, escuela, cole, medicina,
    física, derecho, biología, química, historia, filosofía, economía, psicología, matemáticas, filología,
    informática, piano, guitarra, violín, bajo, batería, saxofón, flauta, trompeta, coro, banda, orquesta, ajedrez,
    fútbol, tenis, pádel, baloncesto, voleibol, golf, yoga, pilates, gimnasio, maratón, maratones, escalada,
    escalar, senderismo, montaña, ciclismo, bici, bicicleta, natación, nadar, correr, vela, buceo, esquí, esquiar,
    surf, kárate, judo, boxeo, crossfit, punto, ganchillo, huerto, jardín, cerámica, podcast*, vinilos, casa, piso,
    departamento, apartamento, ático, estudio, balcón, terraza, granja, hipoteca, coche, carro, moto, furgoneta,
    coche eléctrico, carné, carnet, musulm*, cristian*, católic*, judí*, budista, hindú, ate(o|a), iglesia,
    mezquita, ramadán, acento, bilingüe, idioma*, inglés, francés, alemán, español, catalán, euskera, gallego,
    italiano, portugués, japonés, chino, árabe, ruso, nacionalidad, pasaporte, turno*, noche, noches, teletrabajo,
    remoto, empresa, negocio, tienda, panadería, restaurante, blog, canal, media jornada, zurd(o|a), diestr(o|a),
    daltónic(o|a), sord(o|a), cieg(o|a), alturas, arañas, fobia, miedo a, introvertid(o|a), extrovertid(o|a),
    madrugador*, nocturn*, boda, cumpleaños, aniversario, kilos, kg, cm, hijo único, hija única, pueblo, campo,
    afueras, tercero, ascensor, iphone, android, linux, windows, mac, equipo, voluntari(o|a), banco de alimentos,
    ong, pensión, oposiciones, nacid(o|a), tesis, herencia
    """,
    habits="""
    siempre, nunca, jamás, normalmente, generalmente, casi nunca, casi siempre, a menudo, a veces no, rara vez,
    solo, sólo, solamente, habitualmente, suelo, todos los (días|lunes|martes|miércoles|jueves|viernes|sábados|
    domingos|fines|veranos|años|meses), todas las (mañanas|noches|tardes|semanas), cada (día|mañana|semana|noche|
    año|mes|verano|domingo|sábado|lunes|# *|fin), los (lunes|martes|miércoles|jueves|viernes|sábados|domingos|
    fines), # veces (por|a la|al), una vez (por|a la|al), entre semana, por las (mañanas|noches|tardes), por la
    (mañana|noche|tarde), a diario, diariamente, en mi tiempo libre, ya no, después del trabajo, antes de *, de
    lunes a *, como hobby, de hobby, habitual, regularmente, en ayunas
    """,
    lasting="""
    desde, hace (#|un|una|unos|unas|muchos|varios|poco|años|tiempo|más) *, # años, el año pasado, el mes pasado, el
    verano pasado, el año que viene, (en|desde|de) ##, ##, de (pequeño|pequeña|niño|niña|joven), cuando era, toda mi
    vida, toda la vida, mi infancia, originalmente, en (enero|febrero|marzo|abril|mayo|junio|julio|agosto|
    septiembre|octubre|noviembre|diciembre), este año, próximo (año|verano), este (verano|otoño|invierno), años,
    recientemente, antes, durante *, una vez, por primera vez, un tiempo
    """,
    passing="""
    cambié (el|la|los|las), añadí, agregué, comí, quité, arreglé, recoger, recojo, tengo (frío|calor), me llamó,
    tomé un, cené, desayuné, estaba (en|viendo|pensando), está esperando (en|fuera|aquí|a), están esperando,
    hagámoslo, vamos a ver, entiendo, no entiendo, comprendo, veo, miro, lo miro, pruebo, lo pruebo, probé, he
    probado, intenté, pedí, envié, mandé, te mando, abrí el, descargué, encontré, no encuentro, necesito, espero, me
    siento (mal|bien|raro|un), recuerdo, no recuerdo, me acuerdo, olvidé, olvidado, me duele, me duelen, dolor,
    fiebre, resfriado, resfriada, gripe, derramé, se me (cayó|ha|olvidó|rompió|perdió), me he (tirado|dormido|
    despertado|manchado|olvidado|caído|perdido|equivocado|quedado), despertarme, llego tarde, perdí (las|la|el) *,
    de acuerdo, sé (que|cómo|por|si|lo), no sé, no (puedo|logro|consigo) *, te digo, te cuento, te (aviso|llamo|
    escribo|envío|paso), instalé, subí, copié, reinicié, me sale, me da (error|un|igual), me aparece, me parece
    (bien|que|mal|una|buena), lo siento, perdona, perdón, disculpa, minutos, bajo de ánimo, leí, he visto, vi (que|
    el|la|un), llegué, salí, comí (con|en|un), fui (al|a la|de), me quedé, me equivoqué, hoy, esta (mañana|noche|
    tarde|semana), ahora mismo, en este momento, de momento, ayer, anoche, mañana por, para mañana, luego, más
    tarde, enseguida, acabo de (enviar|mandar|ver|leer|llegar|comer), acaba de, hambre, sed, sueño, prisa, quiero,
    queremos, quería, quisiera, tengo que, tenemos que, voy a (ver|intentar|probar|hacer|salir|comprar|dormir|comer|
    leer|necesitar|pensar|buscar|mirar|preguntar), intento, intentando, estoy (cansad*|hart*|list*|muy|un poco|bien|
    mal|feliz|triste|aquí|en|enfad*|nervios*|segur*|esperando|buscando|pensando|intentando|contento|contenta|
    perdid*|confund*|ocupad*|liad*|preocupad*|agotad*|aburrid*|atascad*|de acuerdo|a punto|viendo|leyendo|trabajando
    en un|trabajando en el), ni idea, no tengo (ni idea|tiempo|idea|ganas), duda*, problema*, pregunta*, reunión,
    cita, otra vez, de nuevo, un momento, el otro día, la semana que viene, este finde, este fin de semana, ahora
    vuelvo, frío, calor, razón, el lunes, el martes, el miércoles, el jueves, el viernes, ganas de, en un rato,
    necesito (comprar|hacer|saber|un|una|que|terminar|ayuda)
    """,
    tasks="""
    batería, móvil, celular, portátil, wifi, internet, pantalla, cargador, paso, pasos, opciones, instrucciones,
    resultado, mensaje, precio, tren, bus, autobús, taxi, tiempo hace, lluvia, camisa, error*, fallo, bug, código,
    archivo*, fichero*, script, función, compilación, consulta, log*, excepción, adjunto, contraseña, reunión,
    plazo, informe, documento, presentación, diapositivas, hoja de cálculo, ensayo, párrafo, frase, borrador, carta
    de presentación, reserva*, vuelo, billete, entrada*, pedido, paquete, enlace, versión, instal*, deberes,
    factura, captura, pdf, idea, atasco, pestaña, página, comando, servidor, base de datos, actualiz*, ordenador,
    computador*, impresora, mesa para
    """,
    ask="""
    ^(qué|que|cuál|cuáles|quién|quiénes|dónde|cuándo|cómo|cuánto|cuánta|cuántos|cuántas|por qué|es posible|hay|
    puedes|podrías|puedo|podría|debería|debo|sabes|crees|piensas|conoces|tienes|has|tú crees|te parece|para qué|a
    qué|de qué|en qué|con qué) (#|*)
    """,
    request="""
    puedes, podrías, puede usted, podría, ayúdame, dime, muéstrame, dame (un|una|ideas|la|el), déjame, vamos a ver,
    necesito (un|una|ayuda|que|tu|saber|escribir|el|la), busco, estoy buscando, quiero (que|un|una|saber|reservar|
    hacer|comprar|pedir|ver), me gustaría (saber|reservar|que|un|una|pedir|hacer|ver|ir|tener), quisiera, me
    pregunto, gracias, alguna (idea|receta|recomendación|sugerencia), qué me, ^(escribe|traduce|explica|explícame|
    muestra|enseña|encuentra|haz|crea|resume|corrige|revisa|sugiere|recomienda|recomiéndame|compara|redacta|cuenta|
    cuéntame|describe|genera|calcula|lee|analiza|planifica|reserva|abre|envía|manda|borra|mejora|acorta|añade|
    cambia|ordena|repite|busca|imagina|lista|propón|convierte|ponme un|recuérdame)
    """,
    suppose="""
    si fuera, si, quizá, quizás, tal vez, a lo mejor, ojalá, podría, podríamos, debería, deberíamos, sería,
    gustaría, querría, creo, creemos, pienso, supongo, imagino, parece que, espero, esperamos, cuando termine, si
    tuviera, tuviera, como si, soñé, en la (película|novela|historia|serie), en el (libro|juego|cuento), es broma,
    olvidé, olvidó, pensando (si|en), dudo, no estoy segur*, haría, iría, compraría, viviría, tendría, puede que, me
    planteo, será, vaya
    """,
    reported="""
    dice, dicen, dijo, dijeron, decía, contó, cuenta que, me contó, comentó, comenta, preguntó, pregunta, según,
    afirma, afirmó, escribió, asegura, piensa que, cree que, opina, respondió, se ve que, al parecer, por lo visto,
    he oído, he leído, leí que, oí que, imagina que, imagínate, supongamos, supón, pongamos, finge, cita, citó
    """,
    void="""
    me gustaría que me (llames|trates|hables|respondas), no como, como si, (y|) como (madre|padre), el trabajo, la
    como, así como, tanto como, como (un|una|el|la|los|este|ese|siempre|dije|te), no sé (si|por|cómo|qué|cuál|
    cuándo|dónde), he leído (todo|toda|todos), fuera de, si bien, busco la belleza, te veo, lo miro, ya veo, a ver,
    vamos a, estado civil
    """,
)

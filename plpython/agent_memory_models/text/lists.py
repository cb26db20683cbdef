"""The lists of lists/, by sql/build.py."""

from typing import Any

ATTRIBUTES: dict[str, Any] = {
 'name': {
  'values': 'one',
  'kind': 'name',
  'en': ['name', 'full name', 'first name', 'called', 'real name'],
  'de': ['name', 'vorname', 'heiße', 'heißt'],
  'es': ['nombre', 'llamo', 'llama'],
  'fr': ['nom', 'prénom', 'appelle'],
  'pt': ['nome', 'chamo', 'chama'],
  'it': ['nome', 'chiamo', 'chiama'],
  'nl': ['naam', 'voornaam', 'heet'],
 },
 'last name': {
  'values': 'one',
  'kind': 'name',
  'en': ['last name', 'surname', 'family name', 'married name'],
  'de': ['nachname', 'familienname'],
  'es': ['apellido', 'apellidos'],
  'fr': ['nom de famille'],
  'pt': ['sobrenome', 'apelido'],
  'it': ['cognome'],
  'nl': ['achternaam', 'familienaam'],
 },
 'nickname': {
  'values': 'one',
  'kind': 'name',
  'en': ['nickname', 'nick name', 'call me'],
  'de': ['spitzname'],
  'es': ['apodo'],
  'fr': ['surnom'],
  'pt': ['alcunha'],
  'it': ['soprannome'],
  'nl': ['bijnaam'],
 },
 'pronouns': {
  'values': 'one',
  'en': ['pronouns'],
  'de': ['pronomen'],
  'es': ['pronombres'],
  'fr': ['pronoms'],
  'pt': ['pronomes'],
  'it': ['pronomi'],
  'nl': ['voornaamwoorden'],
 },
 'age': {
  'values': 'one',
  'kind': 'number',
  'en': ['age', 'how old', 'years old', 'old am i'],
  'de': ['alter', 'wie alt', 'jahre alt'],
  'es': ['edad', 'cuántos años', 'años tengo'],
  'fr': ['âge', 'quel âge'],
  'pt': ['idade', 'quantos anos'],
  'it': ['età', 'quanti anni'],
  'nl': ['leeftijd', 'hoe oud', 'jaar oud'],
 },
 'birthday': {
  'values': 'one',
  'shared': 'bare',
  'kind': 'date',
  'en': ['birthday', 'date of birth', 'birth date', 'born on'],
  'de': ['geburtstag', 'geburtsdatum'],
  'es': ['cumpleaños', 'fecha de nacimiento'],
  'fr': ['anniversaire', 'date de naissance'],
  'pt': ['aniversário', 'data de nascimento'],
  'it': ['compleanno', 'data di nascita'],
  'nl': ['verjaardag', 'geboortedatum'],
 },
 'anniversary': {
  'values': 'one',
  'shared': 'bare',
  'kind': 'date',
  'en': ['anniversary', 'wedding anniversary', 'wedding date', 'wedding day'],
  'de': ['hochzeitstag', 'jahrestag'],
  'es': ['aniversario', 'aniversario de bodas'],
  'fr': ['anniversaire de mariage'],
  'pt': ['aniversário de casamento'],
  'it': ['anniversario'],
  'nl': ['trouwdag'],
 },
 'home': {
  'values': 'one',
  'kind': 'place',
  'en': ['live', 'living', 'home', 'flat', 'apartment', 'house', 'reside', 'moved to', 'hometown now', 'home base',
    'where i am based'],
  'de': ['wohne', 'wohnst', 'wohnt', 'wohnort', 'zuhause', 'lebe', 'umgezogen'],
  'es': ['vivo', 'vive', 'vives', 'vivir', 'residencia', 'casa', 'mudado'],
  'fr': ['habite', 'habites', 'vis', 'domicile', 'déménagé'],
  'pt': ['moro', 'mora', 'moras', 'vivo', 'casa', 'mudei'],
  'it': ['abito', 'abita', 'vivo', 'vive', 'casa', 'trasferito'],
  'nl': ['woon', 'woont', 'wonen', 'woonplaats', 'thuis', 'verhuisd'],
 },
 'address': {
  'values': 'one',
  'shared': 'bare',
  'kind': 'number',
  'en': ['address', 'home address', 'postal address', 'mailing address', 'delivery address', 'street address'],
  'de': ['adresse', 'anschrift', 'lieferadresse', 'postadresse'],
  'es': ['dirección', 'domicilio'],
  'fr': ['adresse', 'adresse postale'],
  'pt': ['endereço', 'morada'],
  'it': ['indirizzo'],
  'nl': ['adres', 'huisadres'],
 },
 'birthplace': {
  'values': 'one',
  'kind': 'place',
  'en': ['hometown', 'home town', 'birthplace', 'born in', 'grew up', 'come from'],
  'de': ['heimatstadt', 'geburtsort', 'geboren', 'aufgewachsen'],
  'es': ['lugar de nacimiento', 'ciudad natal', 'nací'],
  'fr': ['lieu de naissance', 'ville natale', 'né', 'née'],
  'pt': ['cidade natal', 'nasci'],
  'it': ['luogo di nascita', 'città natale', 'nato', 'nata'],
  'nl': ['geboorteplaats', 'geboren'],
 },
 'nationality': {
  'values': 'many',
  'kind': 'text',
  'en': ['nationality', 'citizenship', 'passport', 'citizen'],
  'de': ['nationalität', 'staatsangehörigkeit'],
  'es': ['nacionalidad'],
  'fr': ['nationalité'],
  'pt': ['nacionalidade'],
  'it': ['nazionalità', 'cittadinanza'],
  'nl': ['nationaliteit'],
 },
 'time zone': {
  'values': 'one',
  'en': ['time zone', 'timezone'],
  'de': ['zeitzone'],
  'es': ['zona horaria'],
  'fr': ['fuseau horaire'],
  'pt': ['fuso horário'],
  'it': ['fuso orario'],
  'nl': ['tijdzone'],
 },
 'phone': {
  'values': 'one',
  'shared': 'bare',
  'kind': 'number',
  'en': ['phone number', 'phone', 'number', 'mobile number', 'mobile', 'cell', 'cell number', 'cell phone number',
    'telephone number', 'reach me'],
  'de': ['telefonnummer', 'handynummer', 'nummer', 'telefon', 'handy', 'mobilnummer', 'handynr', 'telefonnr'],
  'es': ['teléfono', 'número de teléfono', 'número', 'móvil', 'celular'],
  'fr': ['téléphone', 'numéro de téléphone', 'numéro', 'portable'],
  'pt': ['telefone', 'número de telefone', 'número', 'telemóvel', 'celular', 'zap', 'whatsapp'],
  'it': ['telefono', 'numero di telefono', 'numero', 'cellulare', 'cell'],
  'nl': ['telefoonnummer', 'nummer', 'mobiel', 'mobiele nummer'],
 },
 'email': {
  'values': 'one',
  'shared': 'bare',
  'kind': 'mail',
  'en': ['email', 'e-mail', 'email address', 'e-mail address', 'mail address'],
  'de': ['e-mail', 'email', 'mail', 'e-mail-adresse', 'mailadresse'],
  'es': ['correo', 'correo electrónico', 'email', 'e-mail'],
  'fr': ['mail', 'e-mail', 'email', 'adresse mail', 'adresse e-mail'],
  'pt': ['e-mail', 'email', 'correio eletrónico'],
  'it': ['email', 'e-mail', 'mail', 'indirizzo email'],
  'nl': ['e-mail', 'email', 'mailadres', 'e-mailadres'],
 },
 'username': {
  'values': 'one',
  'shared': 'bare',
  'en': ['username', 'user name', 'handle', 'login', 'screen name', 'gamertag'],
  'de': ['benutzername', 'nutzername'],
  'es': ['nombre de usuario', 'usuario'],
  'fr': ["nom d'utilisateur", 'pseudo'],
  'pt': ['nome de usuário', 'nome de utilizador'],
  'it': ['nome utente'],
  'nl': ['gebruikersnaam'],
 },
 'customer number': {
  'values': 'one',
  'apart': True,
  'shared': True,
  'kind': 'number',
  'en': ['customer number', 'customer id', 'client number', 'account number', 'member number', 'membership number',
    'loyalty number', 'frequent flyer number', 'policy number', 'contract number', 'order number', 'reference number',
    'booking number', 'booking reference', 'booking ref', 'reference', 'ref', 'policy no', 'case number',
    'ticket number'],
  'de': ['kundennummer', 'kontonummer', 'mitgliedsnummer', 'vertragsnummer', 'versicherungsnummer', 'bestellnummer',
    'buchungsnummer'],
  'es': ['número de cliente', 'número de cuenta', 'número de socio', 'número de pedido', 'número de contrato'],
  'fr': ['numéro client', 'numéro de client', 'numéro de compte', 'numéro de contrat', 'numéro de commande'],
  'pt': ['número de cliente', 'número de conta', 'número de sócio', 'número do pedido', 'número de contrato'],
  'it': ['numero cliente', 'numero di cliente', 'codice cliente', 'numero di conto', "numero d'ordine"],
  'nl': ['klantnummer', 'rekeningnummer', 'lidnummer', 'contractnummer', 'bestelnummer', 'polisnummer'],
 },
 'employer': {
  'values': 'one',
  'switch': True,
  'kind': 'name',
  'en': ['employer', 'work at', 'work for', 'company', 'where do i work', 'job at', 'workplace'],
  'de': ['arbeitgeber', 'arbeite', 'arbeitest', 'arbeitet', 'firma'],
  'es': ['empleador', 'trabajo', 'trabaja', 'trabajas', 'empresa'],
  'fr': ['employeur', 'travaille', 'travailles', 'entreprise'],
  'pt': ['empregador', 'trabalho', 'trabalha', 'empresa'],
  'it': ['datore di lavoro', 'lavoro', 'lavora', 'azienda'],
  'nl': ['werkgever', 'werk', 'werkt', 'bedrijf'],
 },
 'profession': {
  'values': 'one',
  'en': ['profession', 'job', 'occupation', 'job title', 'position', 'role', 'title', 'for a living', 'work as'],
  'de': ['beruf', 'job', 'stelle', 'position', 'arbeite als'],
  'es': ['profesión', 'puesto', 'oficio', 'cargo'],
  'fr': ['profession', 'métier', 'poste'],
  'pt': ['profissão', 'cargo'],
  'it': ['professione', 'mestiere', 'ruolo'],
  'nl': ['beroep', 'functie', 'baan'],
 },
 'salary': {
  'values': 'one',
  'kind': 'number',
  'en': ['salary', 'income', 'pay', 'wage', 'hourly rate', 'day rate', 'earn'],
  'de': ['gehalt', 'einkommen', 'verdiene', 'stundensatz'],
  'es': ['salario', 'sueldo', 'gano'],
  'fr': ['salaire', 'gagne'],
  'pt': ['salário', 'ganho'],
  'it': ['stipendio', 'guadagno'],
  'nl': ['salaris', 'verdien'],
 },
 'work hours': {
  'values': 'one',
  'en': ['work hours', 'working hours', 'office hours', 'shift', 'shifts', 'schedule'],
  'de': ['arbeitszeit', 'arbeitszeiten', 'schicht'],
  'es': ['horario', 'turno'],
  'fr': ['horaires'],
  'pt': ['horário', 'turno'],
  'it': ['orario', 'turno'],
  'nl': ['werktijden', 'dienst'],
 },
 'manager': {
  'values': 'one',
  'shared': 'bare',
  'kind': 'person',
  'en': ['manager', 'boss', 'line manager', 'supervisor', 'team lead', 'report to'],
  'de': ['chef', 'chefin', 'vorgesetzter', 'vorgesetzte'],
  'es': ['jefe', 'jefa'],
  'fr': ['chef', 'cheffe', 'patron', 'patronne'],
  'pt': ['chefe'],
  'it': ['capo', 'responsabile'],
  'nl': ['baas', 'leidinggevende', 'manager'],
 },
 'school': {
  'values': 'one',
  'switch': True,
  'kind': 'name',
  'en': ['school', 'university', 'college', 'study at'],
  'de': ['schule', 'universität', 'uni', 'hochschule'],
  'es': ['escuela', 'universidad', 'colegio'],
  'fr': ['école', 'université', 'fac'],
  'pt': ['escola', 'universidade', 'faculdade'],
  'it': ['scuola', 'università'],
  'nl': ['school', 'universiteit'],
 },
 'studies': {
  'values': 'one',
  'en': ['major', 'studies', 'degree', 'field of study', 'study', 'studying', 'course of study'],
  'de': ['studium', 'studienfach', 'studiere'],
  'es': ['carrera', 'estudios', 'estudio'],
  'fr': ['études', 'étudie'],
  'pt': ['curso', 'estudos', 'estudo'],
  'it': ['studi', 'studio'],
  'nl': ['studie', 'studeer'],
 },
 'marital status': {
  'values': 'one',
  'kind': 'marital',
  'en': ['marital status', 'relationship status', 'married', 'single', 'divorced', 'engaged'],
  'de': ['familienstand', 'verheiratet', 'ledig', 'geschieden', 'single'],
  'es': ['estado civil', 'casado', 'casada', 'soltero', 'soltera'],
  'fr': ['état civil', 'situation familiale', 'marié', 'mariée', 'célibataire'],
  'pt': ['estado civil', 'casado', 'casada', 'solteiro', 'solteira'],
  'it': ['stato civile', 'sposato', 'sposata', 'single'],
  'nl': ['burgerlijke staat', 'getrouwd', 'single', 'gescheiden'],
 },
 'partner': {
  'values': 'one',
  'kind': 'person',
  'en': ['partner', 'boyfriend', 'girlfriend', 'husband', 'wife', 'fiancé', 'fiancée', 'fiance', 'fiancee', 'spouse',
    'dating', 'married to'],
  'de': ['partner', 'partnerin', 'freund', 'freundin', 'mann', 'frau', 'ehemann', 'ehefrau', 'verlobter', 'verlobte'],
  'es': ['pareja', 'novio', 'novia', 'marido', 'esposo', 'esposa', 'mujer'],
  'fr': ['compagnon', 'compagne', 'copain', 'copine', 'mari', 'femme', 'conjoint', 'fiancé', 'fiancée'],
  'pt': ['parceiro', 'parceira', 'namorado', 'namorada', 'marido', 'esposa', 'mulher', 'companheiro', 'companheira'],
  'it': ['compagno', 'compagna', 'fidanzato', 'fidanzata', 'ragazzo', 'ragazza', 'marito', 'moglie'],
  'nl': ['partner', 'vriend', 'vriendin', 'man', 'vrouw', 'echtgenoot'],
 },
 'child': {
  'values': 'many',
  'kind': 'person',
  'en': ['child', 'children', 'kid', 'kids', 'son', 'daughter', 'baby'],
  'de': ['kind', 'kinder', 'sohn', 'tochter'],
  'es': ['hijo', 'hija', 'hijos', 'hijas'],
  'fr': ['enfant', 'enfants', 'fils', 'fille'],
  'pt': ['filho', 'filha', 'filhos', 'filhas'],
  'it': ['figlio', 'figlia', 'figli'],
  'nl': ['kind', 'kinderen', 'zoon', 'dochter'],
 },
 'number of children': {
  'values': 'one',
  'kind': 'number',
  'en': ['how many children', 'how many kids'],
  'de': ['wie viele kinder'],
  'es': ['cuántos hijos'],
  'fr': ["combien d'enfants"],
  'pt': ['quantos filhos'],
  'it': ['quanti figli'],
  'nl': ['hoeveel kinderen'],
 },
 'pet': {
  'values': 'many',
  'kind': 'person',
  'en': ['pet', 'pets', 'dog', 'cat', 'puppy', 'kitten', 'horse', 'rabbit', 'hamster', 'parrot', 'guinea pig'],
  'de': ['haustier', 'haustiere', 'hund', 'katze', 'hündin', 'kater', 'pferd', 'kaninchen', 'hamster', 'welpe'],
  'es': ['mascota', 'mascotas', 'perro', 'gato', 'perra', 'gata', 'conejo', 'caballo', 'loro'],
  'fr': ['animal', 'animaux', 'chien', 'chat', 'chienne', 'chatte', 'lapin', 'cheval'],
  'pt': ['animal de estimação', 'cachorro', 'cão', 'gato', 'cadela', 'gata', 'cachorra', 'cavalo', 'coelho'],
  'it': ['animale', 'animali', 'cane', 'gatto', 'cagna', 'gatta', 'cagnolino', 'coniglio', 'cavallo'],
  'nl': ['huisdier', 'huisdieren', 'hond', 'kat', 'poes', 'kater', 'hondje', 'paard', 'konijn'],
 },
 'diet': {
  'values': 'one',
  'kind': 'diet',
  'en': ['diet', 'eat', 'vegan', 'vegetarian', 'dietary'],
  'de': ['ernährung', 'vegan', 'vegetarisch', 'vegetarier', 'esse'],
  'es': ['dieta', 'vegano', 'vegana', 'vegetariano', 'vegetariana', 'como'],
  'fr': ['régime', 'végétarien', 'végétarienne', 'vegan', 'mange'],
  'pt': ['dieta', 'vegano', 'vegana', 'vegetariano', 'vegetariana'],
  'it': ['dieta', 'vegano', 'vegana', 'vegetariano', 'vegetariana', 'mangio'],
  'nl': ['dieet', 'vegan', 'veganist', 'vegetariër', 'eet'],
 },
 'allergy': {
  'values': 'many',
  'en': ['allergy', 'allergic', 'allergies', 'intolerance', 'intolerant'],
  'de': ['allergie', 'allergisch', 'allergien', 'unverträglichkeit'],
  'es': ['alergia', 'alérgico', 'alérgica', 'alergias'],
  'fr': ['allergie', 'allergique', 'allergies'],
  'pt': ['alergia', 'alérgico', 'alérgica', 'alergias'],
  'it': ['allergia', 'allergico', 'allergica', 'allergie'],
  'nl': ['allergie', 'allergisch', 'allergieën'],
 },
 'condition': {
  'values': 'many',
  'en': ['condition', 'illness', 'disease', 'diagnosis', 'diagnosed', 'suffer'],
  'de': ['krankheit', 'diagnose', 'leide'],
  'es': ['enfermedad', 'diagnóstico'],
  'fr': ['maladie', 'diagnostic'],
  'pt': ['doença', 'diagnóstico'],
  'it': ['malattia', 'diagnosi'],
  'nl': ['ziekte', 'diagnose'],
 },
 'medication': {
  'values': 'many',
  'en': ['medication', 'medicine', 'meds', 'pills', 'prescription'],
  'de': ['medikament', 'medikamente'],
  'es': ['medicación', 'medicamento', 'medicamentos'],
  'fr': ['médicament', 'médicaments', 'traitement'],
  'pt': ['medicação', 'remédio', 'remédios'],
  'it': ['farmaco', 'farmaci', 'medicina'],
  'nl': ['medicijn', 'medicijnen'],
 },
 'doctor': {
  'values': 'one',
  'shared': 'bare',
  'kind': 'person',
  'en': ['doctor', 'gp', 'physician', 'family doctor', 'primary care doctor'],
  'de': ['arzt', 'ärztin', 'hausarzt', 'hausärztin'],
  'es': ['médico', 'médica', 'doctor', 'doctora'],
  'fr': ['médecin', 'docteur'],
  'pt': ['médico', 'médica'],
  'it': ['medico', 'dottore', 'dottoressa'],
  'nl': ['arts', 'huisarts', 'dokter'],
 },
 'dentist': {
  'values': 'one',
  'shared': 'bare',
  'kind': 'person',
  'en': ['dentist', 'orthodontist'],
  'de': ['zahnarzt', 'zahnärztin'],
  'es': ['dentista'],
  'fr': ['dentiste'],
  'pt': ['dentista'],
  'it': ['dentista'],
  'nl': ['tandarts'],
 },
 'contact': {
  'values': 'one',
  'shared': 'bare',
  'kind': 'person',
  'apart': True,
  'en': ['contact', 'cleaner', 'babysitter', 'childminder', 'nanny', 'gardener', 'midwife', 'dermatologist',
    'cardiologist', 'gynaecologist', 'gynecologist', 'optician', 'mechanic', 'plumber', 'electrician', 'builder',
    'estate agent', 'solicitor', 'supervisor', 'mentor', 'assistant', 'barber', 'nutritionist', 'dietitian',
    'counsellor', 'agent', 'therapist', 'counselor', 'psychologist', 'coach', 'trainer', 'tutor', 'teacher', 'physio',
    'physiotherapist', 'hairdresser', 'lawyer', 'accountant', 'landlord', 'landlady', 'vet'],
  'de': ['therapeut', 'therapeutin', 'trainer', 'trainerin', 'lehrer', 'lehrerin', 'anwalt', 'vermieter', 'vermieterin',
    'tierarzt'],
  'es': ['terapeuta', 'entrenador', 'entrenadora', 'profesor', 'profesora', 'abogado', 'casero'],
  'fr': ['thérapeute', 'entraîneur', 'professeur', 'avocat', 'propriétaire'],
  'pt': ['terapeuta', 'treinador', 'treinadora', 'professor', 'professora', 'advogado', 'senhorio'],
  'it': ['terapeuta', 'allenatore', 'professore', 'professoressa', 'avvocato', 'padrone di casa'],
  'nl': ['therapeut', 'trainer', 'leraar', 'lerares', 'advocaat', 'huisbaas'],
 },
 'blood type': {
  'values': 'one',
  'en': ['blood type', 'blood group'],
  'de': ['blutgruppe'],
  'es': ['grupo sanguíneo', 'tipo de sangre'],
  'fr': ['groupe sanguin'],
  'pt': ['tipo sanguíneo'],
  'it': ['gruppo sanguigno'],
  'nl': ['bloedgroep'],
 },
 'weight': {
  'values': 'one',
  'shared': 'bare',
  'kind': 'number',
  'en': ['weight', 'weigh'],
  'de': ['gewicht', 'wiege'],
  'es': ['peso'],
  'fr': ['poids', 'pèse'],
  'pt': ['peso'],
  'it': ['peso'],
  'nl': ['gewicht', 'weeg'],
 },
 'height': {
  'values': 'one',
  'kind': 'number',
  'en': ['height', 'tall'],
  'de': ['größe', 'körpergröße', 'groß'],
  'es': ['altura', 'estatura', 'mido'],
  'fr': ['taille', 'mesure'],
  'pt': ['altura'],
  'it': ['altezza', 'alto', 'alta'],
  'nl': ['lengte'],
 },
 'size': {
  'values': 'one',
  'apart': True,
  'en': ['size', 'shoe size', 'dress size', 'shirt size', 'ring size', 'clothing size', 'trouser size', 'jeans size',
    'hat size', 'bra size'],
  'de': ['schuhgröße', 'kleidergröße', 'konfektionsgröße'],
  'es': ['talla', 'número de zapato'],
  'fr': ['pointure', 'taille de vêtement'],
  'pt': ['tamanho', 'número de sapato'],
  'it': ['taglia', 'numero di scarpe'],
  'nl': ['schoenmaat', 'kledingmaat', 'maat'],
 },
 'religion': {
  'values': 'one',
  'kind': 'religion',
  'en': ['religion', 'faith'],
  'de': ['religion', 'glaube', 'konfession'],
  'es': ['religión'],
  'fr': ['religion'],
  'pt': ['religião'],
  'it': ['religione'],
  'nl': ['religie', 'geloof'],
 },
 'language': {
  'values': 'many',
  'kind': 'name',
  'en': ['language', 'languages', 'speak', 'mother tongue', 'native language', 'first language'],
  'de': ['sprache', 'sprachen', 'spreche', 'muttersprache'],
  'es': ['idioma', 'idiomas', 'hablo', 'lengua materna'],
  'fr': ['langue', 'langues', 'parle', 'langue maternelle'],
  'pt': ['língua', 'idioma', 'falo', 'língua materna'],
  'it': ['lingua', 'lingue', 'parlo', 'madrelingua'],
  'nl': ['taal', 'talen', 'spreek', 'moedertaal'],
 },
 'hobby': {
  'values': 'many',
  'en': ['hobby', 'hobbies', 'free time', 'spare time', 'pastime'],
  'de': ['hobby', 'hobbys', 'freizeit'],
  'es': ['afición', 'aficiones', 'pasatiempo', 'tiempo libre'],
  'fr': ['loisir', 'loisirs', 'passe-temps', 'temps libre'],
  'pt': ['passatempo', 'hobby', 'tempo livre'],
  'it': ['hobby', 'passatempo', 'tempo libero'],
  'nl': ['hobby', "hobby's", 'vrije tijd'],
 },
 'instrument': {
  'values': 'many',
  'en': ['instrument', 'instruments'],
  'de': ['instrument', 'instrumente'],
  'es': ['instrumento', 'instrumentos'],
  'fr': ['instrument', 'instruments'],
  'pt': ['instrumento', 'instrumentos'],
  'it': ['strumento', 'strumenti'],
  'nl': ['instrument', 'instrumenten'],
 },
 'sport': {
  'values': 'many',
  'en': ['sport', 'sports', 'workout'],
  'de': ['sport', 'sportart'],
  'es': ['deporte', 'deportes'],
  'fr': ['sport', 'sports'],
  'pt': ['esporte', 'desporto'],
  'it': ['sport'],
  'nl': ['sport'],
 },
 'gym': {
  'values': 'one',
  'switch': True,
  'kind': 'name',
  'en': ['gym', 'club', 'team i play for'],
  'de': ['fitnessstudio', 'verein'],
  'es': ['gimnasio'],
  'fr': ['salle de sport'],
  'pt': ['academia', 'ginásio'],
  'it': ['palestra'],
  'nl': ['sportschool'],
 },
 'favourite': {
  'values': 'one',
  'preference': True,
  'of': True,
  'en': ['favourite', 'favorite', 'go-to', 'preferred'],
  'de': ['lieblings', 'favorit'],
  'es': ['favorito', 'favorita', 'preferido', 'preferida'],
  'fr': ['préféré', 'préférée', 'favori', 'favorite'],
  'pt': ['favorito', 'favorita', 'preferido', 'preferida'],
  'it': ['preferito', 'preferita'],
  'nl': ['lievelings', 'favoriete'],
 },
 'choice': {
  'values': 'one',
  'preference': True,
  'en': ['rather', 'choose'],
 },
 'preference': {
  'values': 'many',
  'preference': True,
  'en': ['prefer', 'preference'],
  'de': ['bevorzuge', 'lieber', 'vorliebe'],
  'es': ['prefiero', 'preferencia'],
  'fr': ['préfère', 'préférence'],
  'pt': ['prefiro', 'preferência'],
  'it': ['preferisco', 'preferenza'],
  'nl': ['voorkeur', 'liever'],
 },
 'like': {
  'values': 'many',
  'preference': True,
  'opposite': ['dislike'],
  'en': ['like', 'love', 'enjoy', 'likes'],
  'de': ['mag', 'liebe', 'gern', 'gerne'],
  'es': ['gusta', 'gustan', 'encanta', 'encantan'],
  'fr': ['aime', 'adore'],
  'pt': ['gosto', 'adoro'],
  'it': ['piace', 'piacciono', 'adoro', 'amo'],
  'nl': ['hou van', 'graag', 'leuk'],
 },
 'dislike': {
  'values': 'many',
  'preference': True,
  'opposite': ['like'],
  'en': ['dislike', 'hate', 'dislikes', "can't stand"],
  'de': ['hasse', 'ungern'],
  'es': ['odio', 'detesto'],
  'fr': ['déteste'],
  'pt': ['odeio', 'detesto'],
  'it': ['odio', 'detesto'],
  'nl': ['haat', 'hekel'],
 },
 'smoking': {
  'values': 'one',
  'kind': 'smoking',
  'en': ['smoke', 'smoker', 'smoking'],
  'de': ['rauche', 'raucher', 'raucherin'],
  'es': ['fumo', 'fumador', 'fumadora'],
  'fr': ['fume', 'fumeur', 'fumeuse'],
  'pt': ['fumo', 'fumante', 'fumador'],
  'it': ['fumo', 'fumatore', 'fumatrice'],
  'nl': ['rook', 'roker'],
 },
 'car': {
  'values': 'one',
  'en': ['car', 'drive', 'vehicle', 'ride'],
  'de': ['auto', 'wagen', 'fahre'],
  'es': ['coche', 'carro', 'auto'],
  'fr': ['voiture'],
  'pt': ['carro'],
  'it': ['macchina', 'auto'],
  'nl': ['auto'],
 },
 'device': {
  'values': 'one',
  'apart': True,
  'switch': True,
  'en': ['device', 'laptop', 'computer', 'smartphone', 'tablet', 'camera', 'operating system', 'editor', 'code editor',
    'browser', 'bike', 'motorbike', 'phone model', 'headphones', 'printer', 'router', 'console'],
  'de': ['laptop', 'computer', 'smartphone', 'tablet', 'kamera', 'betriebssystem', 'fahrrad', 'motorrad'],
  'es': ['portátil', 'ordenador', 'tableta', 'cámara', 'bicicleta', 'moto'],
  'fr': ['ordinateur', 'tablette', 'appareil photo', 'vélo', 'moto'],
  'pt': ['portátil', 'computador', 'tablet', 'câmera', 'bicicleta', 'moto'],
  'it': ['computer', 'portatile', 'tablet', 'fotocamera', 'bicicletta', 'moto'],
  'nl': ['laptop', 'computer', 'tablet', 'camera', 'fiets', 'motor'],
 },
 'bank': {
  'values': 'one',
  'switch': True,
  'kind': 'name',
  'en': ['bank', 'bank with', 'bank account'],
  'de': ['bank'],
  'es': ['banco'],
  'fr': ['banque'],
  'pt': ['banco'],
  'it': ['banca'],
  'nl': ['bank'],
 },
 'provider': {
  'values': 'one',
  'apart': True,
  'shared': 'bare',
  'kind': 'name',
  'switch': True,
  'en': ['provider', 'insurance', 'insurer', 'insurance company', 'carrier', 'internet provider', 'health insurance',
    'plan', 'airline', 'supplier', 'pharmacy', 'supermarket', 'electricity provider', 'energy provider', 'broadband',
    'mobile carrier', 'network', 'hosting provider', 'broker', 'streaming service'],
  'de': ['anbieter', 'versicherung', 'krankenkasse', 'tarif'],
  'es': ['proveedor', 'seguro', 'aseguradora', 'compañía'],
  'fr': ['fournisseur', 'assurance', 'opérateur', 'forfait'],
  'pt': ['provedor', 'seguro', 'operadora', 'plano'],
  'it': ['fornitore', 'assicurazione', 'operatore'],
  'nl': ['provider', 'verzekering', 'verzekeraar', 'abonnement'],
 },
 'rent': {
  'values': 'one',
  'kind': 'number',
  'shared': True,
  'en': ['rent', 'mortgage'],
  'de': ['miete', 'kaltmiete', 'warmmiete'],
  'es': ['alquiler', 'hipoteca'],
  'fr': ['loyer'],
  'pt': ['aluguel', 'renda'],
  'it': ['affitto', 'mutuo'],
  'nl': ['huur', 'hypotheek'],
 },
 'budget': {
  'values': 'one',
  'kind': 'number',
  'shared': True,
  'en': ['budget', 'spending limit', 'price limit', 'limit', 'max budget', 'maximum'],
  'de': ['budget', 'limit'],
  'es': ['presupuesto', 'límite'],
  'fr': ['budget', 'limite'],
  'pt': ['orçamento', 'limite'],
  'it': ['budget', 'limite', 'bilancio'],
  'nl': ['budget', 'limiet'],
 },
 'deadline': {
  'values': 'one',
  'apart': True,
  'kind': 'date',
  'shared': True,
  'en': ['deadline', 'due date', 'release date', 'launch date', 'submission date', 'launch', 'release', 'go-live',
    'move-in date', 'moving date', 'start date', 'end date', 'exam', 'finals', 'flight', 'interview', 'hearing',
    'viewing', 'defence', 'presentation', 'closing date'],
  'de': ['frist', 'abgabetermin', 'stichtag', 'deadline', 'prüfung', 'flug'],
  'es': ['fecha límite', 'plazo', 'fecha de entrega', 'examen', 'vuelo'],
  'fr': ['date limite', 'échéance', 'délai', 'examen', 'vol'],
  'pt': ['prazo', 'data limite', 'exame', 'prova', 'voo'],
  'it': ['scadenza', 'termine', 'esame', 'volo'],
  'nl': ['deadline', 'inleverdatum', 'examen', 'vlucht'],
 },
 'meeting day': {
  'values': 'one',
  'apart': True,
  'kind': 'date',
  'shared': True,
  'en': ['meeting', 'meeting day', 'team meeting', 'weekly meeting', 'stand-up', 'standup', 'sync', 'check-in', '1:1',
    'one-on-one', 'catch-up', 'review', 'retro', 'demo', 'appointment', 'wedding', 'party', 'class', 'classes',
    'lesson', 'lessons', 'training', 'rehearsal', 'rehearsals', 'practice', 'workshop', 'course', 'session', 'trip',
    'vacation', 'holiday', 'game night', 'book club', 'choir', 'bin day', 'delivery', 'surgery', 'operation',
    'checkup', 'check-up'],
  'de': ['besprechung', 'treffen', 'termin', 'hochzeit', 'kurs', 'training', 'urlaub', 'feier', 'meeting', 'jour fixe',
    'sitzung', 'teamsitzung', 'teammeeting', 'daily', 'probe', 'chorprobe', 'sprechstunde', 'stammtisch'],
  'es': ['reunión', 'cita', 'boda', 'clase', 'entrenamiento', 'fiesta', 'vacaciones', 'ensayo', 'taller'],
  'fr': ['réunion', 'rendez-vous', 'mariage', 'cours', 'entraînement', 'fête', 'vacances', 'répétition', 'séance',
    'atelier'],
  'pt': ['reunião', 'consulta', 'casamento', 'aula', 'treino', 'festa', 'férias', 'ensaio', 'oficina'],
  'it': ['riunione', 'appuntamento', 'matrimonio', 'corso', 'allenamento', 'festa', 'ferie', 'prove', 'lezione', 'seduta'],
  'nl': ['vergadering', 'afspraak', 'bruiloft', 'les', 'training', 'feest', 'vakantie', 'overleg', 'teamoverleg',
    'teammeeting', 'repetitie', 'bijeenkomst'],
 },
 'day off': {
  'values': 'one',
  'apart': True,
  'kind': 'date',
  'en': ['day off', 'days off', 'home office day', 'office day', 'office days', 'gym day', 'cleaning day'],
  'de': ['freier tag', 'homeoffice-tag', 'bürotag'],
  'es': ['día libre'],
  'fr': ['jour de congé', 'jour de repos'],
  'pt': ['dia de folga', 'folga'],
  'it': ['giorno libero'],
  'nl': ['vrije dag', 'thuiswerkdag'],
 },
 'wake-up time': {
  'values': 'one',
  'kind': 'number',
  'shared': 'bare',
  'en': ['alarm', 'wake up', 'get up', 'wake-up time', 'alarm clock'],
  'de': ['stehe auf', 'wecker', 'aufstehen'],
  'es': ['despertador', 'me levanto'],
  'fr': ['réveil', 'me lève'],
  'pt': ['despertador', 'acordo'],
  'it': ['sveglia', 'mi sveglio'],
  'nl': ['wekker', 'sta op'],
 },
 'bedtime': {
  'values': 'one',
  'kind': 'number',
  'shared': 'bare',
  'en': ['bedtime', 'bed time', 'go to bed'],
  'de': ['schlafenszeit', 'ins bett'],
  'es': ['hora de acostarme', 'me acuesto'],
  'fr': ['heure du coucher', 'me couche'],
  'pt': ['hora de dormir', 'deito'],
  'it': ['ora di dormire', 'vado a letto'],
  'nl': ['bedtijd', 'naar bed'],
 },
 'commute': {
  'values': 'one',
  'verb': True,
  'en': ['commute', 'get to work', 'go to work', 'way to work'],
  'de': ['arbeitsweg', 'zur arbeit', 'ins büro'],
  'es': ['al trabajo', 'a la oficina', 'trayecto'],
  'fr': ['trajet', 'au travail', 'au bureau'],
  'pt': ['para o trabalho', 'trajeto'],
  'it': ['tragitto', 'al lavoro', 'in ufficio'],
  'nl': ['woon-werkverkeer', 'naar het werk', 'naar kantoor'],
 },
 'office days': {
  'values': 'one',
  'en': ['days in the office', 'days at the office', 'days from home', 'home office'],
  'de': ['tage im büro', 'tage homeoffice', 'homeoffice'],
  'es': ['días en la oficina', 'teletrabajo'],
  'fr': ['jours au bureau', 'télétravail'],
  'pt': ['dias no escritório', 'teletrabalho', 'home office'],
  'it': ['giorni in ufficio', 'smart working'],
  'nl': ['dagen op kantoor', 'thuiswerken'],
 },
 'team': {
  'values': 'one',
  'kind': 'name',
  'en': ['team', 'squad'],
  'de': ['team', 'abteilung'],
  'es': ['equipo', 'departamento'],
  'fr': ['équipe', 'service'],
  'pt': ['equipe', 'equipa', 'departamento'],
  'it': ['team', 'squadra', 'reparto'],
  'nl': ['team', 'afdeling'],
 },
 'flatmate': {
  'values': 'many',
  'kind': 'person',
  'en': ['flatmate', 'roommate', 'housemate', 'flatmates', 'roommates', 'lodger'],
  'de': ['mitbewohner', 'mitbewohnerin', 'wg'],
  'es': ['compañero de piso', 'compañera de piso'],
  'fr': ['colocataire', 'coloc'],
  'pt': ['colega de quarto', 'colega de casa'],
  'it': ['coinquilino', 'coinquilina'],
  'nl': ['huisgenoot', 'huisgenote'],
 },
 'grade': {
  'values': 'one',
  'en': ['grade', 'school year', 'year group'],
  'de': ['klasse', 'schulklasse'],
  'es': ['curso escolar'],
  'fr': ['classe'],
  'pt': ['ano escolar'],
  'it': ['classe'],
  'nl': ['groep', 'schooljaar'],
 },
 'tool': {
  'values': 'many',
  'switch': True,
  'en': ['tool', 'tools', 'app', 'software'],
  'de': ['werkzeug', 'app', 'software'],
  'es': ['herramienta', 'aplicación'],
  'fr': ['outil', 'logiciel', 'appli'],
  'pt': ['ferramenta', 'aplicativo'],
  'it': ['strumento di lavoro', 'app'],
  'nl': ['app', 'software'],
 },
 'trip': {
  'values': 'many',
  'en': ['trip to', 'flying to', 'travelling to'],
 },
 'avoids': {
  'values': 'many',
  'opposite': ['food'],
  'preference': True,
  'en': ['avoid', "can't eat", "don't eat", "don't drink"],
 },
 'seat': {
  'values': 'one',
  'preference': True,
  'en': ['seat', 'seat preference'],
  'de': ['sitzplatz', 'platz'],
  'es': ['asiento'],
  'fr': ['siège', 'place'],
  'pt': ['assento', 'lugar'],
  'it': ['posto'],
  'nl': ['stoel', 'zitplaats'],
 },
 'goal': {
  'values': 'one',
  'en': ['goal', 'target', 'resolution'],
  'de': ['ziel'],
  'es': ['objetivo', 'meta'],
  'fr': ['objectif', 'but'],
  'pt': ['objetivo', 'meta'],
  'it': ['obiettivo'],
  'nl': ['doel'],
 },
 'learning': {
  'values': 'many',
  'en': ['learning', 'learn'],
 },
 'possession': {
  'values': 'many',
  'en': ['own', 'belongings', 'possession'],
 },
 'membership': {
  'values': 'many',
  'en': ['member', 'membership', 'club member'],
 },
 'subscription': {
  'values': 'many',
  'switch': True,
  'en': ['subscription', 'subscriptions', 'subscribe'],
 },
 'drink': {
  'values': 'many',
  'opposite': ['avoids'],
  'en': ['drink', 'drinks'],
 },
 'food': {
  'values': 'many',
  'opposite': ['avoids', 'allergy'],
  'en': ['eats', 'foods'],
 },
 'habit': {
  'values': 'many',
  'en': ['habit', 'habits', 'routine', 'volunteer'],
 },
}

LASTING: dict[str, Any] = {
 'attributes': ['name', 'last name', 'nickname', 'employer', 'profession', 'diet', 'allergy', 'condition', 'medication',
   'blood type'],
 'en': ['passport', 'visa', 'driving licence', "driver's license", 'identity card', 'id card', 'residence permit',
   'work permit', 'social security number', 'insurance number', 'tax number'],
 'de': ['reisepass', 'visum', 'führerschein', 'personalausweis', 'aufenthaltstitel', 'arbeitserlaubnis',
   'sozialversicherungsnummer', 'versicherungsnummer', 'steuernummer'],
 'es': ['pasaporte', 'visado', 'carné de conducir', 'permiso de conducir', 'permiso de residencia', 'permiso de trabajo',
   'número de seguridad social'],
 'fr': ['passeport', 'visa', 'permis de conduire', "carte d'identité", 'titre de séjour', 'permis de travail',
   'numéro de sécurité sociale'],
 'pt': ['passaporte', 'visto', 'carta de condução', 'carteira de motorista', 'autorização de residência',
   'número de segurança social'],
 'it': ['passaporto', 'visto', 'patente', "carta d'identità", 'permesso di soggiorno', 'permesso di lavoro',
   'codice fiscale'],
 'nl': ['paspoort', 'visum', 'rijbewijs', 'identiteitskaart', 'verblijfsvergunning', 'werkvergunning',
   'burgerservicenummer'],
}

STATEMENTS: dict[str, Any] = {
 'de': {
  'verb_last': True,
  'perfect_is_past': True,
  'capital_nouns': True,
  'words': {
   'skip': ('für mich, jetzt, nun, inzwischen, mittlerweile, derzeit, momentan, aktuell, gerade, endlich, wirklich, noch, '
     'immer noch, auch, schon, bereits,\n'
     '  kürzlich, neulich, eigentlich, übrigens, wieder, nur, sehr, ganz, hier, seitdem, seither, mich, mir, uns, '
     'sich, doch, ja, halt, also,\n'
     '  zur zeit, zurzeit, im moment, gern, streng, total, stark, schwer, leider, zum glück, künftig, ab sofort, da, '
     'dann, überwiegend, hauptsächlich,\n'
     '  tatsächlich, mehr, komplett, so, um, zurück, weg, aus, endgültig'),
   'not': 'nicht, nicht mehr, nie, niemals, kein, keine, keinen, keiner, keinem, nimmer',
   'wrong': ('zahlendreher, in wahrheit, nachgeschaut, was sag ich, was rede ich, stop, stopp, ach mist, mist, sollte '
     'heissen, quatsch, moment, ich meinte, ich meine, meinte, tippfehler, vertippt, falsch, mein fehler, korrektur, '
     'irrtum, geirrt, stimmt nicht, verschrieben,\n'
     '  vertan, versprochen, verwechselt, doch nicht, es stellte sich heraus, hat sich herausgestellt, nein moment, '
     'ach nein, sollte heißen, besser gesagt'),
   'mild': ('nein, ach, sorry, entschuldigung, also, eigentlich, es ist, es sind, das ist, er ist, sie ist, sie lautet, '
     'ist, sind, lautet, war, und, aber, genauer, richtig ist, richtig, ähm,\n'
     '  ups, hoppla, die neue ist, die richtige ist, ich, sondern, habe mich, hab mich, dass es, die, der, nicht'),
   'but': 'sondern, aber, doch',
   'instead_of': 'statt, anstatt, anstelle von, nicht, und nicht',
   'from': 'von, vom, aus',
   'to': 'auf, zu, nach, zum, zur',
   'of': 'bei, für, von, der, des, vom, beim',
   'and': 'und, oder, sowie',
   'titles': 'herr, frau, dr, doktor, prof',
   'the': 'der, die, das, den, dem',
   'be': 'sein',
   'now': 'jetzt, nun, inzwischen, mittlerweile, neu, neue, neuer, neues, wieder',
   'never': ('es, das, dies, diese, dir, dich, dein, deine, ihn, ihm, alles, nichts, was, wie, hause, zuhause, wohnung, '
     'haus, stadt, nähe, wg, land, spaß, mal, lust, ende,\n'
     '  angst, beruf, nacht, mich, so, stock, hotel, gut, gerne, sein, homeoffice, dorf, arbeit, problem, hier, dort'),
   'articles': ('der, die, das, den, dem, des, ein, eine, einen, einem, einer, eines, mein, meine, meinen, meinem, meiner, '
     'unser, unsere, als'),
   'stop': ('weil, da, denn, aber, sondern, mit, für, wenn, wo, der, die, das, dass, ob, als, nachdem, bevor, bis, obwohl, '
     'außer, bitte, danke, jetzt, heute, auch,\n'
     '  seit, und ich, und wir, und mein, ich, wir, er, sie, es, ist, sind, war, habe, hat, bin, werde, will, '
     'möchte, kann, um, zurück, statt, nicht, zu, gezogen, umgezogen, von,\n'
     '  ein, eine, einer, mehr, in der nähe, wieder, mein, meine, momentan, nun, wohnt, wohne, lebe, lebt, arbeite, '
     'arbeitet, angefangen, gewechselt, beim, bei, nach'),
   'stop_thing': 'in, an, auf, im, am',
  },
  'subjects': {
   'first': 'ich, wir, mein mann und ich, meine frau und ich, * und ich',
   'own': 'mein, meine, meinen, meinem, meiner, meines, unser, unsere, unseren, unserem, unserer',
   'third': 'er, sie, es',
   'third_own': 'sein, seine, ihr, ihre, seiner, ihrer',
   'possessive': 's',
   'bare': 'mama, papa, mutti, vati, oma, opa',
   'relations': ('mutter/mama/mutti/mutter, vater/papa/vati, eltern, bruder, brüder, schwester, schwestern, sohn, söhne, '
     'tochter, töchter, kind, kinder, baby, frau/ehefrau, mann/ehemann,\n'
     '  partner, partnerin, freund, freundin, verlobter, verlobte, oma/großmutter, opa/großvater, großeltern, enkel, '
     'enkelin, tante, onkel, cousin, cousine, neffe, nichte,\n'
     '  schwiegermutter, schwiegervater, schwager, schwägerin, mitbewohner, mitbewohnerin, chef, chefin, kollege, '
     'kollegin, team, firma, projekt, hund, katze, kater, pferd, nachbar, nachbarin, ex'),
   'named_only': 'kollege, kollegin, nachbar, nachbarin, freund, freundin, projekt, firma, team',
   'adjectives': ('große, großer, kleine, kleiner, ältere, älterer, jüngere, jüngerer, älteste, jüngste, liebe, lieber, beste, '
     'bester, erste'),
  },
  'changes': {
   'drops': ('kündigte, gekündigt, verkauft, verkaufte, abgegeben, aufgegeben, abgesetzt, abbestellt, gestrichen, beendet, '
     'geschmissen, verlassen, verloren, abgemeldet, getrennt, entsorgt, zurückgegeben,\n'
     '  abgelegt, abgeschafft, weggegeben, verschenkt, aufgehört, ausgetreten, ausgestiegen, hingeschmissen, '
     'begraben, einschläfern, gelöscht, weg von, adieu, schluss mit, fertig mit, raus aus'),
   'swaps': 'gewechselt von, umgestellt (von|), umgestiegen von, getauscht, eingetauscht, ersetzt, gewechselt',
   'around': 'aus … (ausgetreten|ausgestiegen), (durfte|konnte|musste) … absetzen',
   'takes_place': 'gegen, durch, auf, zu, zum, zur',
   'generic': 'abo, vertrag, mitgliedschaft, konto, kurs, stelle, job, sache',
   'passes': ('gestorben, starb, verstorben, eingeschläfert, endete, aufgelöst, abgelaufen, weggefallen, fällt weg, '
     'ausgefallen, ist vorbei, hat mir gekündigt, hat mich entlassen, hat geschlossen, hat zugemacht, hat '
     'dichtgemacht'),
   'is_over': ('vorbei, aus, weg, zu ende, beendet, geschichte, schluss, tot, erledigt, fertig, dicht, abgeschafft, '
     'gestrichen, abgesagt, verkauft, gekündigt, gelöscht, vergangenheit, raus, rum, ausgelaufen, pleite'),
   'goes': ('ausgezogen, weggezogen, gegangen, in rente gegangen, in rente, in den ruhestand gegangen, zog aus, '
     'pensioniert, zieht aus'),
   'no_more': 'nicht mehr, kein * mehr, keine * mehr, keinen * mehr, nie wieder, nie mehr, nimmer, nicht länger',
   'takes': ('umgestiegen auf, bin (jetzt|nun|inzwischen|mittlerweile|) (bei|auf|mit|im|in), sind (jetzt|nun|) '
     '(bei|auf|mit|im|in), haben (jetzt|nun|), habe (jetzt|nun|), hab (jetzt|nun|), mache (jetzt|nun|), mach '
     '(jetzt|nun|), lerne, nehme, wohnt (jetzt|nun), gekauft, bekommen, stattdessen, dafür, übernimmt'),
   'tells': ('wohnt (jetzt|nun), (es|das|er|sie) ist (jetzt|nun|), (wir sind|ich bin) (jetzt|nun|) (in|bei|auf|im|), nimm, '
     'nehmt, heißt (jetzt|nun|), läuft (jetzt|nun|), bin ich (jetzt|nun|) (bei|in|auf), zahlen wir, zahle ich, auf'),
   'lately': ('jetzt, nun, neuerdings, inzwischen, mittlerweile, seit, ab sofort, ab jetzt, ab heute, künftig, stattdessen, '
     'neue, neuer, neues, in zukunft'),
   'others': 'kumpel, jemand, leute, alle, kunde, kundin, bekannte, bekannter, nachbarn, freunde',
   'units': 'mg, ml, g, kg, km, euro, stück, uhr, minuten, stunden, tage, wochen, monate, jahre, mal, prozent, einheiten',
  },
  'between': {
   'have': 'habe, hab, haben, hat, habt',
   'be': 'bin, sind, ist',
   'past': 'früher, damals, einst, ehemals, vorher, hatte, war, mal, einmal, als kind',
   'plan': 'werde, werden, wird, plane, planen, habe vor, demnächst, bald',
   'maybe': ('würde, würden, will, wollen, möchte, möchten, könnte, sollte, überlege, vielleicht, hätte, wäre, muss, kann, '
     'mag, wenn'),
   'stopped': 'aufgehört, habe aufgehört, höre auf, abgewöhnt',
  },
  'dropped': {
   'ich': ('wohne, arbeite, trainiere, bin, hab, esse, trinke, fahre, nehme, spiele, lerne, heiße, rauche, nutze, benutze, '
     'hasse, verdiene,\n'
     '  zahle, studiere, vertrage, pendle, gehe, laufe, gehöre, komme aus'),
  },
  'verbs': {
   'irregular': ('trainieren/trainiere trainiert trainier/trainierte/trainiert/trainieren, pendeln/pendle '
     'pendelt/pendelte/gependelt/pendeln, sein/bin ist sind bist/war waren/gewesen/sein, wohnen/wohne wohn '
     'wohnt/wohnte wohnten/gewohnt/wohnen, leben/lebe lebt leb/lebte lebten/gelebt/leben,\n'
     '  ziehen/ziehe zieht zieh/zog zogen/gezogen umgezogen hingezogen/ziehen umziehen, arbeiten/arbeite arbeitet '
     'arbeit/arbeitete arbeiteten/gearbeitet/arbeiten,\n'
     '  heißen/heiße heisse heißt heisst/hieß/geheißen/heißen, essen/esse isst iss ess/aß aßen/gegessen/essen, '
     'haben/habe hab hat haben/hatte hatten/gehabt/haben,\n'
     '  mögen/mag mögen/mochte mochten/gemocht/mögen, lieben/liebe liebt/liebte/geliebt/lieben, hassen/hasse '
     'hasst/hasste/gehasst/hassen, spielen/spiele spielt spiel/spielte/gespielt/spielen,\n'
     '  sprechen/spreche spricht sprech/sprach/gesprochen/sprechen, rauchen/rauche raucht '
     'rauch/rauchte/geraucht/rauchen, werden/werde wird/wurde wurden/geworden/werden,\n'
     '  wechseln/wechsle wechsele wechselt/wechselte/gewechselt/wechseln, kündigen/kündige '
     'kündigt/kündigte/gekündigt/kündigen, verlassen/verlasse verlässt/verließ/verlassen/verlassen,\n'
     '  anfangen/fange fängt/fing/angefangen/anfangen, beginnen/beginne beginnt/begann/begonnen/beginnen, '
     'verlieren/verliere verliert/verlor/verloren/verlieren,\n'
     '  umsteigen/steige steigt/stieg/umgestiegen/umsteigen, fahren/fahre fährt/fuhr/gefahren/fahren, kaufen/kaufe '
     'kauft/kaufte/gekauft/kaufen, verkaufen/verkaufe verkauft/verkaufte/verkauft/verkaufen,\n'
     '  trennen/trenne trennt/trennte/getrennt/trennen, heiraten/heirate heiratet/heiratete/geheiratet/heiraten, '
     'aufgeben/gebe gibt/gab/aufgegeben/aufgeben, studieren/studiere studiert/studierte/studiert/studieren,\n'
     '  bevorzugen/bevorzuge bevorzugt/bevorzugte/bevorzugt/bevorzugen, trinken/trinke trinkt '
     'trink/trank/getrunken/trinken, machen/mache macht mach/machte/gemacht/machen, nehmen/nehme '
     'nimmt/nahm/genommen/nehmen,\n'
     '  nennen/nenn nennt nenne/nannte/genannt/nennen, bekommen/bekomme bekommt/bekam/bekommen/bekommen, '
     'sterben/sterbe stirbt/starb/gestorben verstorben/sterben, leiden/leide leidet/litt/gelitten/leiden,\n'
     '  aufwachsen/wachse wächst/wuchs/aufgewachsen/aufwachsen, gehen/gehe geht geh/ging/gegangen/gehen, '
     'verdienen/verdiene verdient/verdiente/verdient/verdienen, lernen/lerne lernt lern/lernte/gelernt/lernen,\n'
     '  stehen/stehe steht/stand/gestanden/stehen, vertragen/vertrage verträgt/vertrug/vertragen/vertragen, '
     'aufhören/höre hört/hörte/aufgehört/aufhören, wiegen/wiege wiegt/wog/gewogen/wiegen,\n'
     '  finden/finde findet/fand/gefunden/finden, sammeln/sammle sammelt/sammelte/gesammelt/sammeln, '
     'erreichen/erreichst erreicht/erreichte/erreicht/erreichen, zahlen/zahle zahlt/zahlte/gezahlt/zahlen'),
  },
  'kinds': {
   'diet': ('vegan, vegetarisch, veganer, veganerin, vegetarier, vegetarierin, pescetarier, pescetarierin, flexitarier, '
     'flexitarierin, glutenfrei, laktosefrei, koscher, halal, low carb, fleisch, fisch, alles'),
   'marital': 'verheiratet, ledig, single, geschieden, verlobt, verwitwet, getrennt, vergeben',
   'smoking': 'raucher, raucherin, nichtraucher, nichtraucherin',
   'profession': ('lehrer, lehrerin, arzt, ärztin, ingenieur, ingenieurin, entwickler, entwicklerin, krankenpfleger, '
     'krankenschwester, pfleger, pflegerin, student, studentin, anwalt, anwältin, koch, köchin,\n'
     '  bäcker, bäckerin, verkäufer, verkäuferin, designer, designerin, journalist, journalistin, architekt, '
     'architektin, mechaniker, mechanikerin, elektriker, elektrikerin, buchhalter, buchhalterin, erzieher, '
     'erzieherin,\n'
     '  rentner, rentnerin, polizist, polizistin, musiker, musikerin, künstler, künstlerin, tischler, tischlerin, '
     'schreiner, friseur, friseurin, apotheker, apothekerin, projektleiter, projektleiterin, manager, managerin,\n'
     '  berater, beraterin, übersetzer, übersetzerin, gärtner, gärtnerin, physiotherapeut, physiotherapeutin, '
     'programmierer, programmiererin, teamleiter, teamleiterin, grafiker, grafikerin, azubi, hebamme, selbstständig, '
     'arbeitslos'),
   'pet': ('hund, katze, kater, kaninchen, hamster, meerschweinchen, pferd, papagei, wellensittich, hunde, katzen, hühner, '
     'schildkröte, welpe, welpen, vogel, fische, ratte, ratten, kätzchen'),
   'instrument': ('geige, violine, klavier, gitarre, cello, bass, schlagzeug, saxophon, saxofon, flöte, querflöte, blockflöte, '
     'trompete, klarinette, ukulele, harfe, bratsche, akkordeon, orgel, keyboard'),
   'sport': ('fußball, tennis, basketball, volleyball, handball, badminton, golf, hockey, squash, tischtennis, eishockey, '
     'schach, poker, padel'),
   'hobby': ('yoga, pilates, judo, karate, joggen, klettern, schwimmen, wandern, tanzen, reiten, angeln, töpfern, boxen, '
     'bouldern, laufen, surfen, segeln, skifahren, radfahren, crossfit, turnen'),
   'language': ('deutsch, englisch, spanisch, französisch, portugiesisch, italienisch, niederländisch, polnisch, russisch, '
     'chinesisch, japanisch, koreanisch, arabisch, türkisch, schwedisch, dänisch, griechisch, ukrainisch, latein, '
     'kroatisch, ungarisch, tschechisch, finnisch, norwegisch'),
   'religion': 'katholisch, evangelisch, muslim, muslimin, buddhist, jüdisch, atheist, atheistin, christ, christin',
  },
  'over': {
   'partner': ['{person} und ich (haben uns getrennt|sind getrennt|sind nicht mehr zusammen)', 'aus mit {person}',
     'mit {person} ist (es|) (aus|schluss|vorbei)', 'schluss mit {person}',
     '{person} hat (schluss gemacht|mich verlassen)', 'von {person} getrennt'],
   'pet': ['{person} ist (gestern|heute|) (gestorben|tot|eingeschläfert worden)',
     'mussten {person} (einschläfern|gehen lassen|einschläfern lassen)', '{person} lebt nicht mehr',
     '{person} ist (über die regenbogenbrücke|von uns) gegangen'],
   'medication': ['(brauche|brauch|nehme|nehm) kein {medication} mehr', '{medication} (abgesetzt|brauche ich nicht mehr)'],
   'gym': ['bei {person} gekündigt', '{person} gekündigt'],
   'flatmate': ['{person} ist (ausgezogen|weggezogen) .'],
  },
  'nouns': {
   'is': ('ist, sind, lautet, heißt, ist am, ist jetzt, beträgt, liegt bei, wurde auf, wurde, ist auf, hat sich, geht an, '
     'findet statt, findet, fällt auf, steigt auf, stieg auf, sank auf, ist gestiegen, wird, liegt jetzt bei, liegt '
     'nun bei, liegt in, ist in, ist um'),
   'was': 'war, waren, lautete, hieß, betrug',
   'change': ('geändert, erhöht, gesenkt, verschoben, verlegt, gestiegen, gesunken, gekürzt, aufgestockt, reduziert, '
     'angehoben, verlängert, erhöhen, gewechselt'),
   'new': ('neue, neuer, neues, neuen, neuem, aktuelle, aktueller, aktuelles, eigene, eigener, jetzige, jetziger, '
     'richtige, richtiger, genaue, monatliche, monatliches, gesamtes, volle, voller, vollständiger, private, '
     'wöchentliches, wöchentliche, absolute, absolutes'),
   'old': 'alte, alter, altes, alten, frühere, früherer, ehemalige, ehemaliger, bisherige, vorherige',
  },
  'home': {
   'states': ['(in|bei|am|auf) {place} wohnen', 'wohnen (in|bei|am|auf) {place}', 'leben (in|bei|am|auf) {place}'],
   'begins': ['ziehen (von {old place}|aus {old place}|) (nach|in) {place}', 'ziehen nach {place} von {old place}'],
   'ends': ['ziehen (aus|weg aus|von) {place}', 'verlassen {place}'],
  },
  'address': {
   'states': ['wohnen (in der|im|am|in) {address}'],
  },
  'birthplace': {
   'facts': ['aufwachsen in {place}', 'kommen aus {place}', 'sein in {place} geboren', 'sein aus {place}'],
  },
  'name': {
   'states': ['heißen {name}'],
  },
  'nickname': {
   'states': ['^ nennen mich {name}', '* nennen mich {name}'],
  },
  'age': {
   'states': ['sein {age} (jahre|jahr) (alt|)', 'sein {age} .'],
   'begins': ['werden {age} (jahre alt|)'],
  },
  'employer': {
   'after_profession': ['(bei|bei der|beim|an der|in der) {org}'],
   'states': ['arbeiten (bei|für|bei der|beim|an der|am|in einem|in einer|im) {org}',
     'sein (bei|bei der) {person} (angestellt|beschäftigt|tätig)'],
   'begins': ['anfangen (bei|bei der) {org}', 'beginnen (bei|bei der) {org}',
     'haben (einen neuen job|eine neue stelle|einen job|eine stelle) (bei|bei der) {org}',
     'bekommen (einen job|eine stelle|einen neuen job) bei {org}'],
   'ends': ['kündigen (bei|bei der|beim) {org}', 'kündigen', 'kündigen (meinen job|den job|meine stelle)', 'verlassen {org}',
     'verlieren (meinen job|den job|meine stelle)', 'aufhören bei {org}', 'sein arbeitslos', 'sein in rente'],
  },
  'profession': {
   'states': ['arbeiten als {thing}', 'sein {profession}', 'sein {profession} von beruf'],
   'begins': ['werden {profession}'],
  },
  'marital status': {
   'states': ['sein {marital}'],
   'begins': ['heiraten'],
   'ends': [],
  },
  'partner': {
   'after_marital status': ['mit {person}'],
   'states': ['sein mit {person} (zusammen|verheiratet)'],
   'begins': ['heiraten {person}'],
   'ends': ['trennen von {person}', 'trennen', 'haben schluss gemacht', 'haben mit {person} schluss gemacht'],
  },
  'pet': {
   'states': ['haben (einen|eine|ein|zwei|drei|) {pet}'],
   'begins': ['bekommen (einen|eine|ein) {pet}', 'kaufen (einen|eine|ein) {pet}'],
   'ends': ['verkaufen (den|die|das|meinen|unseren|unsere|meine) {pet}', '{pet} sterben'],
  },
  'diet': {
   'states': ['sein {diet}', 'essen {diet}', 'leben {diet}', 'ernähren {diet}'],
   'begins': ['werden {diet}', 'umsteigen auf {diet}'],
  },
  'allergy': {
   'states': ['sein allergisch (gegen|auf) {list}', 'sein gegen {list} allergisch', 'haben (eine|) allergie gegen {list}',
     'haben eine {word} allergie', 'vertragen {list} nicht'],
   'begins': ['bekommen eine allergie gegen {list}'],
  },
  'condition': {
   'states': ['leiden (an|unter) {list}',
     'haben [diabetes|asthma|migräne|epilepsie|rheuma|zöliakie|bluthochdruck|adhs|neurodermitis]'],
  },
  'medication': {
   'states': ['nehmen [metformin|insulin|ibuprofen|aspirin|cortison|antidepressiva|blutverdünner|betablocker|die pille]',
     'nehmen (jeden tag|täglich|) {medication}'],
  },
  'language': {
   'states': ['sprechen (|fließend|ein bisschen|etwas|gut) {language}'],
  },
  'learning': {
   'states': ['lernen {language}', 'lernen {instrument}'],
  },
  'instrument': {
   'states': ['spielen {instrument}'],
   'ends': ['aufgeben {instrument}', 'aufgeben (das|mit dem) {instrument}', 'verkaufen (meine|mein|die|das) {instrument}',
     'aufhören mit (der|dem|) {instrument}'],
  },
  'sport': {
   'states': ['spielen {sport}'],
   'ends': ['aufhören mit {sport}', 'aufgeben {sport}', 'aufgeben (den|das|mit dem|) {sport}'],
  },
  'hobby': {
   'states': ['machen {hobby}', 'gehen {hobby}', 'sammeln {bare}'],
   'begins': ['anfangen mit (dem|) {hobby}'],
   'ends': ['aufhören mit (dem|) {hobby}', 'aufgeben (das|) {hobby}'],
  },
  'choice': {
   'states': ['bevorzugen {thing} (statt|gegenüber) {old thing}', 'mögen lieber {thing} als {old thing}',
     'trinken lieber {thing} als {old thing}'],
  },
  'preference': {
   'states': ['bevorzugen {thing}'],
  },
  'like': {
   'states': ['mögen {thing}', 'lieben {thing}', 'essen {thing} gern', 'essen gerne {thing}', 'trinken gerne {thing}',
     'essen gern {thing}', 'trinken gern {thing}'],
  },
  'dislike': {
   'states': ['hassen {thing}'],
  },
  'smoking': {
   'states': ['rauchen', 'sein {smoking}'],
   'begins': ['anfangen (zu|mit dem) rauchen'],
   'ends': ['aufhören (zu|mit dem) rauchen', 'aufgeben das rauchen', 'haben mit dem rauchen aufgehört'],
  },
  'car': {
   'states': ['fahren (einen|eine|ein) {thing}'],
   'ends': ['verkaufen (mein|unser|das|den|meinen) (auto|wagen)', 'verkaufen (meinen|den) {person}'],
  },
  'phone': {
   'states': ['* erreichen mich unter {number}', '^ erreichen mich unter {number}'],
  },
  'salary': {
   'states': ['verdienen {number}'],
  },
  'weight': {
   'states': ['wiegen {number}'],
  },
  'rent': {
   'states': ['zahlen {number} miete'],
  },
  'budget': {
   'states': ['haben ein budget von {number}', 'haben {number} zur verfügung', 'haben ein budget von (etwa|rund) {number}'],
  },
  'any': {
   'begins': ['wechseln (von {old org}|) (zu|zur|zum) {org}', 'umsteigen (von {old org}|) auf {name}'],
  },
  'commute': {
   'states': ['fahren mit (dem|der|) [bus|bahn|zug|rad|fahrrad|auto|u-bahn|s-bahn|straßenbahn|roller] (zur arbeit|ins büro)',
     '(nehmen) (den|die|das) [bus|bahn|zug|rad|auto|u-bahn|s-bahn] (zur arbeit|ins büro)',
     'pendeln mit (dem|der) [bus|bahn|zug|rad|auto]'],
  },
  'gym': {
   'states': ['trainieren (bei|im) {org}'],
  },
  'work hours': {
   'states': ['arbeiten {number} stunden (die woche|pro woche|in der woche|)',
     'arbeiten [nachts|vollzeit|teilzeit|in teilzeit|in vollzeit]', 'sein (runter|rauf|jetzt|) auf {number} stunden'],
  },
 },
 'en': {
  'words': {
   'skip': ('now, at most, up to, no more than, roughly, approximately, around, about, currently, actually, just, finally, '
     'really, still, also, already, recently, both, all, only, mostly, mainly,\n'
     '  presently, nowadays, these days, lately, at the moment, right now, for now, as of now, officially, '
     'basically, well,\n'
     '  happily, back, once again, again, though, too, even, pretty much, ever, only just, by the way, btw, so, '
     'then, instead,\n'
     '  very, quite, pretty, super, of choice, every day, each day, daily, every week, weekly, every other week, '
     'each week, weird, honestly, sadly, luckily,\n'
     '  thankfully, fortunately, unfortunately, apparently, as it happens, for the record, strictly, fully, '
     'completely, totally, mainly, probably, definitely, always, usually,\n'
     '  ended up, at last, permanently, temporarily, together, over, down, there, personally, meanwhile, today, out, '
     'up'),
   'not': 'not, never, no longer, no more, anymore, any more, any longer, neither, hardly',
   'wrong': ('no wait, wait no, wait, scratch that, i meant, i mean, typo, my mistake, my bad, i misspoke, misspoke, '
     'correction,\n'
     '  wrong, i mixed up, mixed up, i mistyped, mistyped, i was mistaken, oops, whoops, it turned out, it turns '
     'out, turns out,\n'
     '  turned out, i misremembered, i got that wrong, not right, incorrect, after all, sorry i meant, not true, i '
     'made a mistake,\n'
     '  rather, i should have said, in fact, apologies, pardon, hang on, hold on, nope, nvm, never mind, nevermind, '
     'misread, i (mix|mixed) (those|them|it|the two|these) up, i always mix * up, told you wrong,\n'
     '  scratch, ignore what i said, who am i kidding, silly me, my error, duh, gah, doh, spelled it wrong, spelt it '
     'wrong, misspelled, misheard, autocorrect, dictation, i lied, strike that, let me rephrase, actually no, did i '
     'say, sorry'),
   'mild': ('lol, haha, btw, by the way, fyi, just so you know, heads up, quick update, small update, oh, hey, hi, hello, '
     'anyway, also, so, guess what, good news, bad news, news, finally, context, background, for context, for '
     'reference, quick intro, intro, ps, p.s., actually, sorry, no, well, um, uh, hmm, ah, oh, please, note, edit, '
     'update, ok, okay, yes, and, but, so, the new one is, it should be, should be, make that, that should be, it '
     "is, that is, it's, that's, is, 's, was, the right one is, the correct one is, now, rather, to be"),
   'but': 'but, rather',
   'instead_of': 'instead of, rather than, and not, not, over, in place of',
   'who': 'who',
   'from': 'from',
   'to': 'to, into',
   'of': 'of, for, at, with',
   'and': 'and, or, &',
   'titles': 'doctor, dr, mr, mrs, ms, prof, professor',
   'the': 'the',
   'be': 'be',
   'now': 'now, instead, nowadays, again, new, anymore, days, lately',
   'never': ('it, that, this, them, these, those, you, your, how, him, her, me, us, everything, something, anything, '
     'nothing,\n'
     '  someone, somebody, everyone, what, there, here, home, myself, fun, once, least, all, hand, times, work, '
     'night, noon, free, to,\n'
     '  being, going, having, doing, not, no, so, very, just, if, when, where, one, another, tomorrow, yesterday, '
     'sorry, done, able, love'),
   'gone': 'gone, over, cured, history',
   'not_place': ('postgres, postgresql, mysql, sqlite, kubernetes, docker, aws, azure, gcp, slack, teams, github, gitlab, jira, '
     'linux,\n'
     '  ubuntu, windows, android, ios, python, rust, typescript, react, django, redis, kafka, mongodb, notion, '
     'discord, zoom, go, java,\n'
     '  kotlin, terraform, excel, spotify, netflix, gmail, outlook, firefox, chrome, vim, emacs, pytest, section, '
     'chapter, phase, plan'),
   'articles': 'a, an, the, some, my, our, his, her, their',
   'stop': ('because, since, but, so, with, for, when, while, where, who, which, that, if, as, after, before, until, '
     'although,\n'
     '  though, except, plus, whose, whereas, than, per, via, thanks, please, anymore, now, today, too, instead, '
     'from, near, by,\n'
     '  right, is, are, was, were, have, has, had, am, do, does, did, will, would, can, could, should, it, i, we, '
     'he, she, they,\n'
     '  you, then, again, currently, these, actually, though, lately, every, each, to, because of, due, starting, '
     'about, into,\n'
     '  like, these days, and my, and our, and i, and we, and the, and it, and then, or so, ago, back, my, your'),
   'stop_thing': 'in, at, on',
   'instead': 'instead, rebooked',
   'besides': ('on the side, side gig, side hustle, side job, second job, in addition, as a sideline, at weekends, on '
     'weekends,\n'
     '  on saturdays, on sundays, moonlighting, moonlight, in my spare time, in my free time, as a hobby, part time '
     'as'),
   'at': 'at, with',
   'joking': 'figuratively, figuratively speaking, metaphorically, so to speak, just kidding, only joking, jk',
   'trailing': 'so, and, but, because, since, as, or, cuz, cause, plus',
  },
  'subjects': {
   'first': 'i, we, * and i, i and *, me and my *, my * and i, i myself, both of us, we both, we all',
   'own': 'my, our',
   'third': 'he, she, they, it',
   'third_own': 'his, her, their, its',
   'possessive': "'s",
   'bare': 'mum, mom, mama, mummy, dad, daddy, papa, grandma, grandpa, granny, gran, nan, nana, grandad, auntie, baby',
   'relations': ('mother/mum/mom/mama/mummy, father/dad/papa/daddy, parents, brother/bro, brothers, sister/sis, sisters, son,\n'
     '  sons, daughter, daughters, child/kid, children/kids, baby, toddler, twins, twin, wife, husband/hubby, '
     'partner, spouse,\n'
     '  fiancé/fiance, fiancée/fiancee, girlfriend, boyfriend, ex, ex-wife, ex-husband, '
     'grandmother/grandma/gran/granny/nan/nana,\n'
     '  grandfather/grandpa/grandad, grandparents, grandson, granddaughter, aunt/auntie, uncle, cousin, niece, '
     'nephew,\n'
     '  mother-in-law/mother in law, father-in-law/father in law, sister-in-law/sister in law, '
     'brother-in-law/brother in law,\n'
     '  stepson, stepdaughter, stepmother/stepmom, stepfather/stepdad, stepbrother, stepsister, godson, goddaughter, '
     'roommate,\n'
     '  flatmate, housemate, best friend, boss, manager, colleague/coworker/co-worker, team, company, project, dog, '
     'cat, puppy,\n'
     '  kitten, horse, rabbit, hamster, parrot, family, neighbour/neighbor, landlord, landlady, client, assistant, '
     'startup, band'),
   'named_only': 'friend, colleague, cousin, neighbour, client, project, team, company',
   'adjectives': ('older, younger, little, big, elder, eldest, oldest, youngest, late, dear, other, middle, twin, new, old, '
     'lovely, best, first, second, own'),
  },
  'dropped': {
   'i am': ('down to, in bed by, in bed at, not allergic to, no longer allergic to, no longer '
     '(living|working|vegan|vegetarian|married), not (vegan|vegetarian|living|working), now '
     '(vegan|vegetarian|pescatarian), allergic to, based in, living in, working (at|as|for|in), vegan, vegetarian, '
     'married to, married, divorced, lactose intolerant,\n'
     '  gluten intolerant, coeliac, celiac, currently living, currently working, currently (in|based), originally '
     'from, born (in|on),\n'
     '  pescatarian, self-employed, retired, engaged to, happily married, recently divorced, diabetic, intolerant '
     'to, also allergic to,\n'
     '  severely allergic to, still living in, still working (at|as), now living in, now based in, now working '
     '(at|for|as), on a (vegan|keto|low-carb|gluten-free)'),
   'i have': ('been '
     '(learning|living|working|playing|taking|studying|using|seeing|dating|vegan|vegetarian|doing|a|an|married|on|going|with|driving)'),
  },
  'changes': {
   'drops': ('quit, left, dropped, ditched, sold, cancelled, canceled, gave up, given up, gave away, got rid of, stopped, '
     'came off, come off, finished with,\n'
     '  done with, am off, broke up with, broken up with, split (up|) (with|from), separated from, divorced, dumped, '
     'moved (out|away|on) (of|from|),\n'
     '  stepped down (as|from|), resigned (as|from|), retired (as|from), dropped out of, packed in, packed up, '
     'jacked in, shut down, grew out of, grown out of,\n'
     '  gone off, went off, paid off, pulled the plug on, said goodbye to, say goodbye to, saying goodbye to, fired, '
     'sacked, let go of, unsubscribed from, deleted, uninstalled, wiped,\n'
     '  scrapped, scrap, binned, handed back, gave back, kicked, cut out, abandoned, put down, weaned off, outgrew, '
     'outgrown, over'),
   'swaps': ('switched (over|) (from|), swapped (out|), traded (in|), changed (from|), replaced, exchanged, moved (over|) '
     '(on|) from, migrated from, converted from, went from, gone from, upgraded from,\n'
     '  downgraded from, ported from, ditched, dropped'),
   'around': ('let … (go|lapse|expire|run out), (paid|called|broke) … off, put … (down|to sleep), (had|got|took|taken) … '
     '(taken out|removed|out|off), packed … in, gave … (up|away|back),\n'
     "  (handed|sent|gave) … back, shut … down, cut … out, threw … (out|away), left … behind, don't need … any more"),
   'takes_place': 'for, to, with, by, and',
   'bare': 'dropped, left, lost',
   'away': 'off, out, up, closed, over, gone',
   'generic': ('subscription, membership, account, plan, policy, contract, job, course, class, classes, lessons, group, diet, '
     'app, place, position, thing'),
   'passes': ('died, passed (away|on|), folded, closed down, shut down, ended, expired, lapsed, lapse, ran out, run out, '
     'broke up, fell through, finished, came off, disbanded,\n'
     '  dissolved, went (bust|under|bankrupt), got (adopted|cancelled|canceled|sold|scrapped|stolen|deleted), taken '
     'out, removed, dumped me, left me, left us'),
   'is_over': ('over, gone, done, finished, dead, history, no more, off, out, on ice, in the past, closed, scrapped, gone for '
     'good, a thing of the past, up, boxed up, retired, adopted, stolen, ancient history, signed off, sent back, '
     'back to the shop, behind me, no longer *'),
   'goes': ('retired, left, moved (out|away|back|on|to|in with), went (home|back), quit, resigned, emigrated, is leaving, '
     'graduated, died'),
   'no_more': 'no longer, not * (anymore|any more|any longer), anymore, any more, any longer, used to, not (needed|required)',
   'takes': ('switched (over|) to, moved (over|) to, changed (over|) to, went (over|) (with|to|for), gone (over|) (with|to), '
     "joined, started, got, bought, picked up, adopted, signed up (for|with|to), (am|'m) (now|) "
     '(with|on|at|in|using),\n'
     "  (am|'m) (seeing|dating), (are|is|'s) (now|) (with|on|at|in), (it is|it 's|that 's) (now|) (called|), there "
     "(is|'s), taken up, took up, handed over to, carry on with, put, use, using, have, now, replaced "
     '(it|him|her|them) with, with, instead'),
   'tells': ("(it|that|this|he|she|name|mine) (is|'s) (just|now|called|some|), (we are|i am|they are) (now|) "
     '(at|in|on|with|under|), are (now|) with, is (now|) with, call me, go by, reach me (at|on), use,\n'
     '  (move|moved|put|stuck) (me|us) (to|on|in|with), going with, (i|we) prefer, should (read|be|say), keep'),
   'lately': ('now, these days, nowadays, lately, as of, from now on, from here on, from today, from then on, since, instead, '
     'at the moment, currently, going forward,\n'
     '  officially, by now, new, finally'),
   'others': ('friend, mate, ex, guy, girl, someone, somebody, people, everyone, everybody, they, neighbour, neighbours, '
     'neighbor, client, customer, cousin, colleague'),
   'units': ('mg, ml, g, kg, km, cm, euro, dollar, pound, quid, unit, minute, min, hour, day, week, month, year, time, '
     'percent, am, pm, people, k, thousand, million'),
  },
  'between': {
   'have': "have, has, 've, had, having",
   'be': "am, are, is, 's, was, were, been, being, be, get, got, keep",
   'do': 'do, does, did',
   'past': 'used to, had to, once, previously, formerly, originally, in the past, back then, at one time',
   'plan': ('will, shall, am going to, are going to, is going to, gonna, am gonna, plan to, plans to, am planning to,\n'
     '  are planning to, is planning to, am about to, are about to, is about to, have decided to, decided to, intend '
     'to, am due to,\n'
     '  expect to, am to, would be, will be, am hoping to, hope to, hopes to, planning to, planning on, am planning '
     'on'),
   'maybe': ('would, might, may, could, should, want to, wants to, would like to, would love to, wish to, wish, must, can,\n'
     '  never want to, thinking of, thinking about, considering, dream of, dreaming of, would never, need to, have '
     'to, has to, try to,\n'
     '  trying to, about to, prefer to, almost, nearly'),
   'stopped': ('stopped, stop, quit, gave up, given up, have stopped, have quit, have given up, has stopped, has quit, can '
     'not, cannot, could no longer,\n'
     '  no longer able to, have had to stop, had to stop, had to give up, done with'),
  },
  'verbs': {
   'irregular': ("be/am are is 's/was were/been, have/have has/had/had, live/live lives/lived/lived,\n"
     '  go/go goes/went/gone, get/get gets/got/got gotten, become/become becomes/became/become, leave/leave '
     'leaves/left/left,\n'
     '  quit/quit quits/quit/quit, sell/sell sells/sold/sold, buy/buy buys/bought/bought, take/take '
     'takes/took/taken,\n'
     '  speak/speak speaks/spoke/spoken, drive/drive drives/drove/driven, eat/eat eats/ate/eaten, drink/drink '
     'drinks/drank/drunk,\n'
     '  find/find finds/found/found, begin/begin begins/began/begun, teach/teach teaches/taught/taught, run/run '
     'runs/ran/run,\n'
     '  make/make makes/made/made, wear/wear wears/wore/worn, break/break breaks/broke/broken, split/split '
     'splits/split/split,\n'
     '  give/give gives/gave/given, swim/swim swims/swam/swum, ride/ride rides/rode/ridden, sing/sing '
     'sings/sang/sung,\n'
     '  grow/grow grows/grew/grown, come/come comes/came/come, do/do does/did/done, hate/hate hates/hated/hated,\n'
     '  play/play plays/played/played, study/study studies/studied/studied, marry/marry marries/married/married,\n'
     '  lose/lose loses/lost/lost, pay/pay pays/paid/paid, set/set sets/set/set, bring/bring '
     'brings/brought/brought,\n'
     '  weigh/weigh weighs/weighed/weighed, see/see sees/saw/seen, keep/keep keeps/kept/kept, call/call '
     'calls/called/called,\n'
     '  wake/wake wakes/woke/woken, put/put puts/put/put, cut/cut cuts/cut/cut, push/push pushes/pushed/pushed, '
     'know/know knows/knew/known,\n'
     '  meet/meet meets/met/met, lead/lead leads/led/led, raise/raise raises/raised/raised, retire/retire '
     'retires/retired/retired'),
   'regular': ('move, relocate, work, settle, reside, switch, start, join, resign, learn, adopt, collect, enjoy, love, like,\n'
     '  dislike, prefer, adore, turn, convert, use, own, earn, attend, suffer, change, divorce, separate, date, '
     'rent, practise,\n'
     '  practice, smoke, swear, detest, despise, graduate, increase, lower, reduce, cancel, update, decide, train, '
     'bank, stay, avoid,\n'
     '  rehome, trade, swap, replace, report, answer, reply, stop, drop, hike, climb, paint, knit, cycle, garden, '
     'bake, dance, surf,\n'
     '  bump, double, halve, postpone, reschedule, shift, upgrade, manage, belong, commute, accept, end, finish, '
     'need, drop'),
  },
  'kinds': {
   'diet': ('vegan, vegetarian, pescatarian, pescetarian, flexitarian, omnivore, meat eater, meat-eater, carnivore, '
     'gluten-free,\n'
     '  gluten free, dairy-free, dairy free, keto, kosher, halal, paleo, low-carb, low carb, plant-based, plant '
     'based, vegetarians,\n'
     '  vegans, pescatarians, raw vegan, lactose-free, sugar-free, on a (keto|vegan|low-carb|gluten-free|vegetarian) '
     'diet'),
   'marital': ('married, single, divorced, engaged, widowed, separated, in a relationship, in a long-term relationship,\n'
     '  a widow, a widower, newly single'),
   'religion': ('muslim, christian, catholic, protestant, jewish, buddhist, hindu, atheist, agnostic, orthodox, sikh, mormon, '
     'lutheran'),
   'smoking': 'smoker, non-smoker, nonsmoker, ex-smoker, a smoker, a non-smoker',
   'profession': ('nurse, doctor, teacher, engineer, developer, programmer, lawyer, student, designer, accountant, electrician,\n'
     '  plumber, carpenter, chef, cook, baker, waiter, waitress, pilot, driver, farmer, freelancer, consultant, '
     'manager, scientist,\n'
     '  researcher, professor, pharmacist, dentist, vet, veterinarian, journalist, translator, writer, artist, '
     'musician,\n'
     '  photographer, architect, librarian, paramedic, firefighter, soldier, mechanic, analyst, barista, bartender, '
     'therapist,\n'
     '  psychologist, surgeon, midwife, editor, director, actor, actress, singer, dancer, coach, trainer, tutor, '
     'lecturer, cashier,\n'
     '  clerk, secretary, assistant, salesman, saleswoman, recruiter, officer, technician, physicist, chemist, '
     'biologist, economist,\n'
     '  statistician, butcher, gardener, florist, tailor, hairdresser, barber, beautician, painter, builder, '
     'bricklayer, roofer,\n'
     '  welder, machinist, operator, cleaner, housekeeper, nanny, caregiver, carer, physiotherapist, optician, '
     'radiologist,\n'
     '  paralegal, judge, solicitor, barrister, banker, broker, trader, investor, entrepreneur, founder, ceo, cto, '
     'cfo, intern,\n'
     '  apprentice, retiree, pensioner, freelance *, product manager, project manager, data scientist, flight '
     'attendant, copywriter,\n'
     '  marketer, realtor, sysadmin, administrator,\n'
     '  hygienist, dental hygienist, cardiologist, dermatologist, neurologist, oncologist, pediatrician, '
     'paediatrician, radiographer,\n'
     '  technologist, videographer, cameraman, stylist, decorator, surveyor, estimator, planner, auditor, actuary, '
     'underwriter,\n'
     '  bookkeeper, controller, buyer, merchandiser, receptionist, concierge, porter, bartender, sous-chef, sous '
     'chef, pastry chef,\n'
     '  head chef, engineer ii, tester, qa, qa lead, lead, team lead, tech lead, head of *, vp of *, director of *, '
     'vice president,\n'
     '  supervisor, foreman, team leader, shift leader, partner, associate, paramedic, dispatcher, janitor, '
     'caretaker, locksmith,\n'
     '  glazier, joiner, seamstress, jeweller, potter, blacksmith, upholsterer, tiler, plasterer, conductor, '
     'organist, cellist,\n'
     '  violinist, pianist, guitarist, drummer, choreographer, playwright, screenwriter, blogger, youtuber, '
     'podcaster, streamer,\n'
     '  ghostwriter, proofreader, interpreter, professor, postdoc, phd student, undergraduate, undergrad, grad '
     'student, fellow,\n'
     '  principal, headteacher, head teacher, teaching assistant, childminder, au pair, nursery teacher, maths '
     'tutor, tutor,\n'
     '  vet nurse, veterinary nurse, pharmacist, dietitian, nutritionist, osteopath, chiropractor, acupuncturist, '
     'masseuse, masseur,\n'
     '  personal trainer, yoga teacher, lifeguard, referee, jockey, footballer, athlete, diver, sailor, skipper, '
     'captain, pilot,\n'
     '  cabin crew, steward, stewardess, train driver, tram driver, lorry driver, trucker, delivery driver, forklift '
     'driver,\n'
     '  warehouse worker, shop assistant, store manager, estate agent, letting agent, travel agent, real estate '
     'agent, agent,\n'
     '  civil servant, councillor, mayor, diplomat, detective, inspector, sergeant, lieutenant, marine, prison '
     'officer, bouncer,\n'
     '  security guard, postwoman, mail carrier, fisherman, forester, ranger, beekeeper, zookeeper, agronomist, '
     'botanist,\n'
     '  zoologist, geographer, meteorologist, astronomer, archaeologist, anthropologist, sociologist, philosopher, '
     'theologian,\n'
     '  data analyst, data engineer, product owner, scrum master, devops engineer, sre, ux designer, webmaster, '
     'contractor,\n'
     '  self-employed, retired, unemployed, stay-at-home *, freelancing, on parental leave, on maternity leave, on '
     'paternity leave, planner, producer, composer, novelist, poet, illustrator, animator, sculptor,\n'
     '  social worker, police officer, bus driver, truck driver, taxi driver, postman, courier, priest, pastor, '
     'rabbi, monk,\n'
     '  stay-at-home *, homemaker, housewife, model, curator, geologist, linguist, historian, mathematician, '
     'sommelier, brewer'),
   'pet': ('dog, cat, puppy, kitten, horse, pony, rabbit, hamster, guinea pig, parrot, budgie, goldfish, tortoise, turtle, '
     'snake,\n'
     '  lizard, gecko, ferret, rat, mouse, canary, hens, chickens, goat, dogs, cats, rabbits, parrots, bird, fish, '
     'fishes, bees,\n'
     '  labrador, poodle, beagle, dachshund, border collie, greyhound, corgi, husky, retriever'),
   'instrument': ('violin, piano, guitar, cello, bass, drums, saxophone, flute, trumpet, clarinet, ukulele, harp, viola, banjo,\n'
     '  accordion, organ, oboe, trombone, mandolin, double bass, keyboard, harmonica, recorder, bassoon, tuba, sax, '
     'lute, sitar, horn'),
   'sport': ('football, soccer, tennis, basketball, volleyball, badminton, golf, hockey, rugby, squash, cricket, baseball,\n'
     '  handball, table tennis, ping pong, padel, water polo, lacrosse, ice hockey, american football, frisbee, '
     'ultimate'),
   'hobby': ('running, hiking, cycling, swimming, climbing, sailing, diving, skiing, surfing, knitting, gardening, '
     'painting,\n'
     '  photography, pottery, baking, yoga, pilates, karate, judo, boxing, crossfit, fishing, dancing, bouldering, '
     'rowing, kayaking,\n'
     '  snowboarding, birdwatching, sewing, crochet, woodworking, chess, origami, archery, fencing, skating, '
     'jogging, crafting'),
   'language': ('english, german, spanish, french, portuguese, italian, dutch, polish, russian, chinese, mandarin, cantonese,\n'
     '  japanese, korean, arabic, hindi, tamil, turkish, hebrew, swedish, norwegian, danish, finnish, greek, czech, '
     'hungarian,\n'
     '  romanian, ukrainian, urdu, bengali, swahili, vietnamese, thai, indonesian, persian, farsi, catalan, basque, '
     'welsh, irish,\n'
     '  croatian, serbian, slovak, bulgarian, latin, sign language, esperanto, tagalog, malay, icelandic'),
   'condition': ('type 1 diabetes, type 2 diabetes, gestational diabetes, diabetes, asthma, migraines, epilepsy, arthritis, '
     'insomnia, adhd, depression, anxiety, coeliac disease, celiac disease,\n'
     '  a heart condition, hypertension, high blood pressure, low blood pressure, eczema, psoriasis, hay fever, '
     'cancer, anemia,\n'
     "  anaemia, a bad back, back pain, tinnitus, vertigo, ibs, crohn's disease, endometriosis, dyslexia, autism, a "
     'thyroid *'),
   'trips': 'flight, flights, train, trip, holiday, hotel, cruise, weekend',
   'streaming': ('netflix, spotify, tidal, deezer, disney+, disney plus, hulu, hbo, hbo max, max, prime, amazon prime, prime '
     'video, apple music,\n'
     '  apple tv, apple tv+, youtube premium, youtube music, audible, kindle unlimited, paramount+, paramount plus, '
     'peacock, dazn, sky,\n'
     '  crunchyroll, mubi, now tv, britbox, qobuz, soundcloud, pandora, xbox game pass, game pass, playstation plus, '
     'duolingo plus,\n'
     '  duolingo, chatgpt plus, claude pro, github copilot, copilot, adobe creative cloud, creative cloud, '
     'photoshop, icloud, dropbox,\n'
     '  google one, nordvpn, hellofresh, strava, headspace, calm, peloton, the economist, the new york times, new '
     'york times,\n'
     '  the guardian, the times, medium, substack, blinkist, babbel, masterclass'),
   'editors': ('vim, neovim, nvim, emacs, doom emacs, helix, vs code, vscode, visual studio code, visual studio, sublime text, '
     'sublime, zed, cursor, windsurf,\n'
     '  intellij, intellij idea, pycharm, webstorm, phpstorm, rider, clion, goland, rubymine, rustrover, eclipse, '
     'xcode, android studio,\n'
     '  notepad++, textmate, nova, fleet, kakoune, micro, geany, kate, spacemacs, rstudio, jupyterlab'),
   'browsers': ('firefox, chrome, safari, brave, vivaldi, opera, microsoft edge, edge, arc, librewolf, chromium, zen browser, '
     'duckduckgo'),
   'systems': ('linux, ubuntu, debian, fedora, arch, arch linux, linux mint, manjaro, nixos, opensuse, pop os, windows, '
     'windows 10, windows 11,\n'
     '  windows 7, macos, mac os, macos sonoma, macos sequoia, macos ventura, chromeos, freebsd, openbsd, elementary '
     'os, centos, gentoo, void linux'),
   'phone_model': ('iphone, pixel, google pixel, galaxy, samsung galaxy, fairphone, oneplus, xiaomi, redmi, nokia, motorola, '
     'huawei, sony xperia, xperia, android phone'),
   'laptop_model': ('macbook, macbook air, macbook pro, thinkpad, lenovo thinkpad, dell xps, xps, surface, surface pro, surface '
     'laptop, chromebook,\n'
     '  zenbook, ideapad, hp spectre, hp envy, framework laptop, razer blade, matebook, dell latitude, latitude, '
     'elitebook, asus rog, acer aspire'),
   'car_model': ('corsa, astra, passat, tiguan, touareg, fiesta, mondeo, kuga, puma, corolla, prius, yaris, rav4, camry, auris, '
     'aygo, civic, accord, jazz,\n'
     '  cr-v, i10, i20, i30, tucson, kona, ioniq, picanto, ceed, sportage, sorento, niro, ev6, qashqai, juke, micra, '
     'cx-5, mx-5,\n'
     '  octavia, fabia, superb, kodiaq, kamiq, ibiza, clio, megane, mégane, twingo, captur, kangoo, 208, 308, 3008, '
     'berlingo, fiat 500,\n'
     '  punto, duster, sandero, lodgy, xc60, xc90, v60, v70, tesla, model 3, model y, model s, porsche, bmw, audi, '
     'mercedes, volvo,\n'
     '  skoda, škoda, toyota, honda, nissan, renault, peugeot, citroën, citroen, dacia, opel, vauxhall, kia, '
     'hyundai, mazda, subaru,\n'
     '  outback, forester, polestar, jeep, wrangler, f-150, silverado, chevy, lexus, vw, volkswagen, id.3, id.4, '
     'vespa, multipla, zafira,\n'
     '  meriva, vectra, insignia, sharan, touran, caddy, up!, mini cooper, land rover, range rover, defender, '
     'discovery, tacoma, highlander'),
   'timezones': ('pacific, central, eastern, mountain, atlantic, central european, eastern european, western european, greenwich '
     'mean, british summer,\n'
     '  indian standard, japan standard, australian eastern, uk, us, london, new york, berlin, tokyo, paris, sydney, '
     'singapore, california,\n'
     '  west coast, east coast, german, utc, gmt, cet, cest, est, edt, cst, cdt, mst, mdt, pst, pdt, ist, jst, bst, '
     'aest, utc+1, utc+2, utc-5, utc-8'),
   'transport': ('bus, train, tube, metro, subway, tram, car, bike, bicycle, ferry, underground, moped, scooter, e-bike, s-bahn, '
     'u-bahn, motorbike,\n'
     '  foot, carpool, light rail, commuter train, cargo bike'),
   'flatmate': 'flatmate, roommate, housemate, lodger',
   'no_role': ('fan, member, customer, client, guest, regular, subscriber, patient, friend, bit, beginner, newbie, novice, '
     'pro, expert, user, user,\n'
     '  volunteer, resident, newcomer, visitor, participant, speaker, stranger, lot, long way, few, person, man, '
     'woman, guy, girl, mum, mom,\n'
     '  mother, dad, father, couple, little, total, parent, sucker, player'),
   'medication': ('metformin, ozempic, wegovy, mounjaro, methotrexate, prednisolone, salbutamol, ventolin, bisoprolol, losartan, '
     'pantoprazole,\n'
     '  fluoxetine, prozac, escitalopram, lexapro, zoloft, concerta, adderall, elvanse, venlafaxine, lithium, '
     'lamotrigine, gabapentin,\n'
     '  pregabalin, naproxen, cetirizine, loratadine, allopurinol, simvastatin, eliquis, apixaban, xarelto, '
     'tamoxifen, propranolol, insulin, antidepressants, statins, ibuprofen, aspirin, blood thinners, beta blockers, '
     'antihistamines,\n'
     '  iron supplements, vitamin d, antibiotics, levothyroxine, lisinopril, sertraline, omeprazole, ritalin, '
     'prednisone, warfarin,\n'
     '  the pill, inhalers, an inhaler, melatonin, paracetamol, magnesium, citalopram, ramipril, amlodipine, '
     'atorvastatin'),
   'game': ('chess, poker, bridge, board games, video games, darts, pool, snooker, dungeons and dragons, d&d, go, bingo, '
     'pétanque'),
   'business': ('bakery, shop, company, business, restaurant, cafe, café, studio, agency, startup, farm, bookshop, salon, bar, '
     'practice'),
   'vehicle': ('car, ioniq, ioniq 5, ioniq 6, astra, tiguan, mondeo, puma, jazz, cr-v, tucson, kona, picanto, sportage, niro, '
     'ev6, qashqai, juke, micra,\n'
     '  cx-5, mx-5, superb, kodiaq, megane, twingo, captur, kangoo, berlingo, duster, sandero, lodgy, xc60, v60, '
     'id.3, id.4, vauxhall, skoda\n'
     '  octavia, estate, wrangler, touran, zafira, cargo bike, motorhome, rav4, f-150, bmw, audi, mercedes, '
     'mercedes-benz, volkswagen, vw, golf, polo, passat, opel, corsa, ford, fiesta, focus, toyota,\n'
     '  corolla, prius, yaris, honda, civic, hyundai, kia, nissan, leaf, mazda, skoda, škoda, octavia, fabia, seat, '
     'ibiza, renault, clio,\n'
     '  zoe, peugeot, citroën, citroen, fiat, panda, dacia, volvo, saab, tesla, model 3, model y, model s, porsche, '
     'ferrari, jaguar, land\n'
     '  rover, range rover, mini, mini cooper, jeep, chevrolet, chevy, dodge, subaru, outback, forester, suzuki, '
     'swift, mitsubishi,\n'
     '  lexus, infiniti, acura, cadillac, buick, gmc, lincoln, polestar, byd, rivian, lucid, smart, alfa romeo, '
     'lancia, beetle, van,\n'
     '  camper van, campervan, minivan, suv, pickup, truck, ev, electric car, hybrid, motorbike, motorcycle, '
     'scooter, vespa, e-bike'),
   'bank': ('barclays, hsbc, lloyds, natwest, santander, monzo, revolut, starling, n26, chase, citi, citibank, wells fargo, '
     'ing, bnp\n'
     '  paribas, deutsche bank, commerzbank, sparkasse, dkb, * bank, bank of *, halifax, nationwide, tsb, wise, '
     'capital one'),
   'drinks': ("spirits, cow's milk, dairy milk, decaf, fizzy drinks, coffee, alcohol, beer, wine, soda, tea, milk, energy "
     'drinks, coke, caffeine, drinking, booze, cola'),
   'foods': ('seafood, shellfish, nuts, peanuts, mushrooms, lamb, chicken, animal products, lactose, soy, tofu, wheat, fried '
     'food, spicy food, fast food, butter, onions, garlic, tomatoes, raw fish, pasta, rice, snacks, desserts, salt, '
     'honey, meat, sugar, dairy, gluten, bread, fish, eggs, pork, beef, sweets, chocolate, carbs, cheese, red meat, '
     'junk food'),
   'gym': "* gym, the gym, * fitness, mcfit, fitx, planet fitness, gold's gym, puregym, crossfit *",
   'school': ('school, university, college, academy, institute, uni, kindergarten, high school, primary school, nursery, mit, '
     'harvard, oxford,\n'
     '  cambridge, yale, stanford, gymnasium, polytechnic, conservatory, law school, medical school'),
   'club': ('choir, band, club, orchestra, team, church, gym, board, union, association, league, group, society, party, '
     'committee,\n'
     '  quartet, ensemble, theatre group, brass band, scouts, network, squad, troupe, cooperative, co-op, volunteer '
     'fire brigade'),
   'app': ('notion, obsidian, evernote, onenote, logseq, roam, todoist, things, trello, asana, jira, linear, clickup, '
     'monday.com, slack, discord, teams,\n'
     '  microsoft teams, zoom, google meet, telegram, whatsapp, signal, excel, google sheets, numbers, libreoffice, '
     'word, google docs, latex, overleaf,\n'
     '  figma, sketch, canva, photoshop, lightroom, darktable, gimp, affinity, premiere, davinci resolve, final cut, '
     'ableton, logic pro,\n'
     '  reaper, blender, autocad, fusion 360, python, java, kotlin, rust, go, golang, typescript, javascript, ruby, '
     'elixir, scala, haskell, swift,\n'
     '  c#, c++, php, perl, julia, clojure, dart, flutter, react, vue, svelte, angular, django, rails, laravel, '
     'spring boot, postgres, postgresql,\n'
     '  mysql, mariadb, sqlite, mongodb, redis, docker, podman, kubernetes, terraform, ansible, aws, azure, gcp, '
     'google cloud, hetzner, heroku,\n'
     '  github, gitlab, bitbucket, git, jenkins, gmail, outlook, proton mail, protonmail, thunderbird, fastmail, '
     'airtable, quickbooks, xero, datev,\n'
     '  lexoffice, ynab, salesforce, hubspot, shopify, woocommerce, wordpress, squarespace, wix, webflow, stripe, '
     'paypal, zotero, anki, duolingo,\n'
     '  pandas, polars, r, stata, spss, matlab, tableau, power bi, looker, pycharm, fish, zsh, bash, tmux, kitty, '
     'alacritty, wezterm, iterm2, npm, pnpm, yarn, bun, deno'),
   'letter_size': 'xs, s, m, l, xl, xxl, xxxl, small, medium, large, extra large',
   'provider': ('vodafone, o2, ee, bt, virgin media, giffgaff, telekom, t-mobile, at&t, verizon, comcast, xfinity, 1&1, '
     'congstar, orange, sfr, bouygues,\n'
     '  movistar, telefonica, swisscom, sunrise, kpn, ziggo, tim, fastweb, octopus energy, octopus, british gas, '
     'eon, e.on, edf, ovo, bulb,\n'
     '  vattenfall, axa, allianz, aetna, cigna, bupa, tk, aok, barmer, dak, geico, state farm, aviva, admiral, '
     'direct line, huk, tesco mobile'),
   'grade': ('kindergarten, nursery, preschool, reception, primary school, elementary school, middle school, secondary '
     'school, high school, sixth form, first grade, second grade, third grade, fourth grade, fifth grade, sixth '
     'grade, seventh grade, eighth grade, ninth grade, 1st grade, 2nd grade, 3rd grade, 4th grade, 5th grade, 6th '
     'grade'),
  },
  'aside': {
   'number of children': ['as (a|the|) (single|proud|busy|new|) (dad|mum|mom|mother|father|parent) (of|to) {age}',
     'my {age} (kids|children)', 'our {age} (kids|children)'],
   'size': ['size {shoe}', 'in size {shoe}', 'my size {shoe}'],
   'office days': ['{number} days a week (in|at) the office', '{number} days (in|at) the office'],
   'time zone': ['everything in {timezones} from now', '{timezones} time (now|from now)', '{timezones} (now|from now) on'],
  },
  'models': {
   'car': 'car_model',
   'device/phone': 'phone_model',
   'device/laptop': 'laptop_model',
  },
  'over': {
   'partner': ['{person} and i (broke up|split up|split|separated|are done|are over|called it quits)', 'over with {person}',
     'over between me and {person}', 'dumped {person}', '{person} dumped me', '{person} left me',
     'done with {person}'],
   'pet': ['{person} (died|passed away|crossed the rainbow bridge|was put down|had to be put down|ran away|is gone)',
     'lost {person}', 'had to put {person} (down|to sleep)', 'said goodbye to {person}'],
  },
  'nouns': {
   'is': ("(is|'s) every, (is|'s) always, are every, (is|'s) scheduled for, (is|'s) booked for, (is|'s) planned for, "
     "(is|'s)\n"
     "  capped at, maxes out at, comes to, clocks in at, (is|'s) down to, (is|'s) up to, (is|'s) back to, (is|'s) "
     'back at,\n'
     "  (is|'s) back on, goes from, runs from, ends at, begins at, takes place at, got shifted to, was shifted to, "
     'was brought\n'
     '  forward to, got brought forward to, was extended to, has been extended to, got extended to, was delayed to, '
     'was\n'
     "  delayed until, got delayed until, got postponed to, was postponed until, got postponed until, (is|'s) "
     'postponed to,\n'
     "  went from, (is|'s) through, (is|'s) by, (is|'s) under, meets on, meets, was * to, were * to, has been * to, "
     'have been\n'
     "  * to, got * to, (is|'s) * for, was * back to, slipped to, slid to, (is|'s) with, are with, (is|'s) now with, "
     "(is|'s)\n"
     "  in, (is|'s) at, was * for, are * for, is, are, 's, 're, (is|'s) now, would be, will be, changed to, has "
     'changed to,\n'
     "  moved to, has moved to, was moved to, has been moved to, has been changed to, was changed to, (is|'s) "
     'called, went up\n'
     '  to, has gone up to, rose to, increased to, has increased to, dropped to, went down to, was raised to, has '
     'been raised\n'
     "  to, was increased to, has been increased to, was cut to, has been cut to, (is|'s) named, was lowered to, has "
     'been\n'
     '  reduced to, got moved to, got bumped to, got pushed to, was pushed to, has been pushed to, was pushed back '
     "to, (is|'s)\n"
     "  set for, (is|'s) set at, (is|'s) set to, was reduced to, has been postponed to, was postponed to, got pushed "
     'back to,\n'
     '  shifted to, has shifted to, has been shifted to, was rescheduled to, has been rescheduled to, became, has '
     'become,\n'
     "  falls on, takes place on, happens on, starts at, (is|'s) on, (is|'s) at, are on, (is|'s) in, got cut to, "
     "(is|'s) going\n"
     "  to be, has been set to, jumped to, has been lowered to, has been pushed back to, (is|'s) due, was updated "
     'to, has been\n'
     '  updated to'),
   'was': "was, were, used to be, had been, 'd been",
   'becomes': ("took over as, takes over as, has taken over as, is now, became, has become, is, 's, will be, stepped in as, "
     'was assigned as, are, took over from * as'),
   'replaces': 'replaced, replaces, has replaced, took over from, succeeded, succeeds',
   'as': 'as',
   'no_noun': ('guess, question, answer, result, output, error, point, score, problem, issue, bet, hunch, estimate, '
     'calculation, query, function, file, script,\n'
     '  turn, idea, test, favourite, bad, head, mind, opinion, heart, train, screen, essay, text, draft, story, '
     'character, password, pin, code, example, variable,\n'
     '  class, sum, total, list, table, column, paragraph, sentence, first, second, last, next, only, hero, '
     'protagonist, poem, model, image, photo'),
   'change': ('changed, changed over, raised, increased, lowered, reduced, cut, moved, pushed, set, updated, switched, '
     'bumped, postponed, rescheduled, shifted, brought, gone, risen, went,\n'
     '  doubled, upgraded, dropped, corrected, have changed, extended, delayed, took, put, pushed back, moved up, '
     'rebooked, rescheduled, slipped'),
   'new': ('new, current, own, actual, correct, real, present, latest, updated, right, full, main, primary, total, '
     'monthly, whole, usual, weekly, daily, all-time, personal, private, best, next, preferred, exact, mobile'),
   'old': 'old, former, previous, ex, earlier, last',
  },
  'home': {
   'states': ['be in {place} now', 'live (in|near|on|outside|around) {place}', 'reside in {place}', 'be based in {place}',
     'be living in {place}', 'call {place} home', 'be (living|settled|at home) in {place}',
     'rent (in|a flat in|an apartment in|a place in|a house in) {place}',
     'have (a|our|my) (home|flat|house|apartment|place) in {place}',
     'be (all|fully|finally|) (settled|moved) (in|into) (in|to|) {place}', 'be {place} based',
     'be back in {place} for good', 'have (my|our) new (home|flat|house|apartment|place) in {place}'],
   'begins': ['move (|back|over|house|away|up|down|out|in) (from {old place}|) (|back|up|down|out|over) to {place}',
     'relocate (from {old place}|) to {place}', 'move (in|into) {place}', 'settle (|down) (in|near) {place}',
     'settle into {place}', 'swap {old place} for {place}', 'trade {old place} for {place}',
     'leave {old place} for {place}', 'exchange {old place} for {place}',
     'buy (a|our|my) (|new|first) (flat|house|apartment|place|home|condo|cottage) in {place}',
     'come to live in {place}', 'move (the family|my family|the kids|our stuff|all of us) to {place}',
     'end up in {place}', 'find (a|an) (flat|apartment|house|place|room) in {place}',
     'get (my own|our own) (flat|place|apartment|house) in {place}',
     'get (a|the) (flat|apartment|house|place|keys to our place|keys) in {place}'],
   'ends': ['move (away|out|) (from|of) {place}', 'move out of {place}', 'leave {place} behind', 'leave {place} for good',
     'sell (our|my) (flat|house|apartment|place) in {place}', 'give up (my|our) (flat|apartment|place) in {place}'],
  },
  'address': {
   'states': ['live at {address}'],
   'begins': ['move (|in|house) to {address}'],
  },
  'birthplace': {
   'facts': ['grow up in {place}', 'be born in {place}', 'be (|originally) from {place}', 'come (|originally) from {place}',
     'be born and raised in {place}', 'be raised in {place}'],
  },
  'birthday': {
   'facts': ['be born {date}', 'have (my|our|a|his|her) birthday {date}'],
  },
  'name': {
   'states': ['be called {name}', 'be named {name}', 'be known as {name}', 'go by the name of {name}', '^ my name {name}'],
   'begins': ['change (my|our|his|her) (|first|full) name (from {old name}|) to {name}'],
  },
  'nickname': {
   'states': ['go by {name}', '^ call me {name}', '* call me {name}'],
  },
  'age': {
   'states': ['be {age} years (old|of age)', 'be {age} years young', 'be aged {age}', 'be {age} .'],
   'begins': ['turn {age}'],
  },
  'employer': {
   'after_profession': ['(at|for|with) {org}'],
   'states': ['run (a|my|an|our) (|own|small) {business}', 'work (for|at|with) {org}',
     'be (working|employed|a contractor|an employee) (for|at|by|with) {org}', 'be on the payroll (of|at) {org}',
     'teach at {org}', 'teach {word} at {org}', 'have a job (at|with) {org}', 'freelance for {org}',
     'consult for {org}', 'intern at {org}', 'be interning at {org}'],
   'begins': ['start (|working|work|a job|a new job|my new job|out|a position|a role|a new role|a new position) (at|for|with) '
     '{org}',
     'join {org}', 'switch (jobs|companies) (from {old org}|) to {org}', 'move (|on|over) from {old org} to {org}',
     'get (hired|recruited|employed|a job) (by|at) {org}',
     'get (a|the|my|an) (|new) (job|position|offer|role|gig) (at|from|with) {org}',
     'take (a|the|up a) (|new) (job|position|role) (at|with) {org}',
     'accept (a|the|an) (job|position|offer|role) (at|from|with) {org}', 'find (a|the) (|new) job (at|with) {org}',
     'be hired by {org}',
     'leave {old org} (for|to join|to work for|to work at|and joined|and now work at|and now work for|to go to) '
     '{org}',
     'change (jobs|employers|job) (|and work|and now work) (at|for) {org}',
     'go (to work|back to work) (for|at) {org}', 'begin (|working|a job) (at|for) {org}',
     'quit {old org} (for|to join|and joined) {org}', 'move (|over|across) to {org} (as|to work)', 'sign with {org}',
     'get poached by {org}', 'be poached by {org}', 'start (|my) (new|) (job|role|position) (at|with) {org}',
     'be starting at {org}'],
   'ends': ['leave (|my job at|my position at|my role at) {org}', 'quit (|my job at|my job with) {org}',
     'resign (|my position) from {org}', 'be (|let go|fired|laid off|made redundant) (by|from) {org}',
     'be (let go|fired|laid off|made redundant)',
     'get (let go|fired|laid off|made redundant|the sack) (|by|from|at) {org}',
     'get (let go|fired|laid off|made redundant)', 'quit (|my|the) job', 'quit (my|the) job',
     'leave (my|the) (job|company)', 'lose (my|the|his|her) job (|at {org})', 'stop working (for|at) {org}',
     'be done (at|with) {org}', 'hand in (my|the) notice (at|to) {org}', 'retire from {org}', 'be unemployed',
     'be out of (a job|work)', 'give up my job (|at {org})', 'resign', 'retire', 'be between jobs',
     'hand in my notice at {org}', 'hand in (my|the) (badge|notice|resignation) (at {org}|)',
     'be no longer (at|with) {org}', 'part ways with {org}', 'be out at {org}', 'finish at {org}',
     'walk out of {org}', 'sell (my|our) (company|business|shop|startup)'],
  },
  'profession': {
   'states': ['work as {thing}', 'be (a|an|the|) {profession}', 'be {thing} by (trade|profession)', 'be employed as {thing}',
     'be working as {thing}', 'make a living as {thing}', 'earn (my|a) living as {thing}',
     'run (a|my|an) (|own) {business}', 'do {thing} for a living', 'be (a|an|the|their|our|) {role}',
     'be (their|our) {profession}',
     'work in '
     '[sales|marketing|finance|accounting|hr|it|retail|logistics|construction|education|healthcare|hospitality|customer '
     'service|customer support|procurement|insurance|advertising|publishing|consulting|banking|catering|child '
     'care|childcare|social work]',
     'be (in|on) [parental leave|maternity leave|paternity leave]'],
   'begins': ['become (a|an|the|) {profession}', 'be promoted to {thing}', 'get promoted to {thing}', 'retrain as {thing}',
     'qualify as {thing}', 'start (|working|work|out) as {thing}',
     'switch (|careers) (from {old thing}|) to (being|) {profession}', 'move up to {thing}',
     '* make me (a|an|the|) {profession}', '* hire me (full time|full-time|) as {profession}',
     '* take me on as {profession}', '* promote me to {thing}', '* bump me (up|) to {profession}',
     'get bumped up to {thing}', 'be made (a|an|the|) {profession}', 'get made (a|an|the|) {profession}',
     'step up (to|as|to be) (a|an|the|) {profession}', 'take over as (a|an|the|) {profession}',
     'be appointed (as|) {thing}', 'get the promotion to {thing}', 'get promoted (and am|and i am|, am) now {thing}',
     'move into (a|an|the) {thing} (role|position)', 'transition (into|to) {thing}',
     'change (careers|jobs) to (be|become) (a|an) {profession}',
     'start (my|a|the|) (new|) (job|role|position) as {thing}', 'get a (new|) job as {thing}',
     'get the job as {thing}'],
   'ends': ['quit (being|working as) {thing}', 'retire as {thing}'],
  },
  'salary': {
   'states': ['earn {number}', 'make {number} (a|per) (year|month|hour|week)', 'get paid {number}', 'be paid {number}'],
   'begins': ['get a (raise|rise|pay rise|bump|pay cut) to {number}',
     '* (raise|bump|increase|cut) (my|our) (salary|pay|wage) (up|) to {number}'],
  },
  'work hours': {
   'states': ['work [nights|night shifts|part-time|part time|full-time|full time|mornings|evenings|weekends|the night '
     'shift|the late shift|the day shift|the early shift]',
     'work from {number}', 'work {number} (days|hours) {rest}', 'work {number} to {number}',
     'work [three days|four days|five days|two days|six days] (a week|per week)',
     'be on [nights|day shifts|night shifts|early shifts|late shifts|the day shift|the night shift|the late '
     'shift|the early shift|earlies|lates|days|mornings]',
     'work [a four-day week|9 to 5|nine to five]', 'start (work|) at {number}', 'finish (work|) at {number}',
     'be [part-time|full-time|part time|full time]'],
   'begins': ['move (|on) to [nights|the day shift|the night shift|the early shift|the late shift]',
     'switch to [nights|night shifts|part-time|part time|full-time|full time|the day shift|the night shift]',
     'go [part-time|part time|full-time|full time]',
     '* (move|put|switch) me (to|on|onto) [nights|days|the night shift|the day shift|the early shift|the late '
     'shift|mornings|evenings|part-time]',
     'drop to [three days|four days|part-time|part time] (a week|)',
     'go down to [three days|four days|part-time|part time] (a week|)'],
  },
  'manager': {
   'states': ['report to {name}', 'work under {person}', 'work for {person} directly'],
   'begins': ['* (move|put) me under {person}', 'have (a|) (new|) (boss|manager) (called|named|:|,) {person}'],
  },
  'school': {
   'states': ['(study|be) at (the|) {school}', 'attend {org}', 'go to {school}', 'be enrolled at {org}',
     'be a student at {org}', 'be (at|in) {school}', 'go to {name} (school|primary|academy|college|high)',
     'be in (her|his|my) {word} year at {school}'],
   'begins': ['transfer (from {old org}|) to {org}', 'switch (schools|universities) to {org}', 'enrol at {org}',
     'get into {school}', '(move|switch|change|transfer|go) (schools|) to {school}', 'start at {school}',
     'start {school}', 'get a place at {school}'],
  },
  'studies': {
   'states': ['study {bare}', 'major in {bare}', "do a (degree|master's|masters|phd|bachelor's) in {thing}",
     "be doing (a|an|my) (degree|master's|masters|phd|bachelor's|msc|bsc|ba|ma|mba) in {thing}",
     'do (a|an|my) (msc|bsc|ba|ma|mba|apprenticeship) in {thing}'],
   'begins': ['switch my major to {thing}', 'change my major to {thing}', 'switch (from {old thing}|) to studying {thing}'],
   'ends': ['drop out of {thing}', 'graduate in {thing}'],
  },
  'marital status': {
   'states': ['be {marital}'],
   'begins': ['get {marital}', 'become {marital}', 'get (back|) together', 'get [engaged|married|divorced|separated]'],
   'ends': ['break off (my|our|the) engagement'],
  },
  'partner': {
   'after_marital status': ['to {person}'],
   'states': ['be dating {name}', 'date {name}', 'be seeing {name}', 'be in a relationship with {name}',
     'be going out with {name}', 'be together with {name}',
     'live with my (boyfriend|girlfriend|partner|husband|wife) {person}'],
   'begins': ['marry {person}', 'get together with {name}', 'start (seeing|dating|going out with) {name}',
     'get engaged to {name}', 'propose to {name}'],
   'ends': ['break up with {name}', 'split up with {name}', 'separate from {name}', 'be divorced from {name}',
     'divorce {name}', 'break up', 'split up', 'leave {name}', 'be broken up with {name}', 'be no longer together'],
  },
  'number of children': {
   'states': ['have {number} (kids|children|sons|daughters|boys|girls)',
     'be (a mother|a father|mother|father|a mum|a mom|a dad) of {number}',
     'have {number} (little ones|grown-up children|grown-up kids|teenagers|little kids|small kids|small children)'],
  },
  'pet': {
   'states': ['have (a|an|the|two|three|one|four|got a|got an|got two) (|new|old|little|rescue|small|big) {pet}',
     'own (a|an|two|three) {pet}', 'keep {pet}', 'have (a|an) {pet} (called|named|,) {person}'],
   'begins': ['get (a|an|two|three|our|my) (|new|old|little|rescue|another) {pet}',
     'adopt (a|an|two|three) (|rescue|little|stray) {pet}', 'buy (a|an) {pet}', 'rescue (a|an) {pet}'],
   'ends': ['rehome (the|our|my) {pet}', 'give away (the|our|my) {pet}', 'give (the|our|my) {pet} away', '{pet} die',
     '{pet} pass away', '{pet} run away', 'sell (the|our|my) {pet}', 'lose (the|our|my) {pet}', 'lose {person}',
     '{pet} be put down', '{pet} be gone', '{pet} cross the rainbow bridge', 'put down (the|our|my) {pet}'],
  },
  'diet': {
   'states': ['be on a [diet]', 'be (a|an|) {diet}', 'eat {diet}', 'follow (a|an|) {diet} (|diet)',
     'be on (a|an|) {diet} (|diet)', 'keep {diet}', 'eat [everything|anything]', 'eat [meat|fish|dairy|pork] again',
     'stick to (a|an|) {diet} (|diet)'],
   'begins': ['become (a|an|) {diet}', 'go {diet}', 'turn {diet}', 'switch to (a|an|being|) {diet} (|diet)',
     'start eating [meat|fish|dairy|eggs|gluten|pork]', 'go back to eating {thing}',
     'go back to (being|) (a|an|) {diet}', 'convert to {diet}', 'decide to (go|be|become) {diet}'],
   'ends': ['give up (being|) (a|an|) {diet}', 'quit (being|) (a|an|) {diet}'],
  },
  'allergy': {
   'states': ['be (|severely|badly|highly|mildly|deathly) allergic to {list}',
     'have (a|an|) (|severe|bad|mild|strong) {word} allergy', 'have (a|an|) (|severe|bad|mild) allergy to {list}',
     'be {word} intolerant', 'be intolerant (to|of) {list}', 'react badly to {list}',
     'have (a|an|) {word} intolerance', 'can not have {list} , am allergic', 'carry an epipen for {list}'],
   'begins': ['develop (a|an|) {word} allergy', 'develop an allergy to {list}', 'become allergic to {list}'],
   'ends': ['outgrow (my|the|his|her) {word} allergy', 'outgrow (my|the) allergy to {list}',
     'grow out of (my|the|his|her) {word} allergy', 'lose (my|the) {word} allergy', '(be|get) over my {word} allergy',
     'be cured of my {word} allergy'],
  },
  'condition': {
   'states': ['have {condition}', 'be [diabetic]', 'be diagnosed with {thing}', 'suffer from {list}', 'be [pregnant]',
     'have (been|) {condition}', 'live with {condition}',
     'be [coeliac|celiac|diabetic|asthmatic|anaemic|anemic|epileptic|dyslexic|colour-blind|color-blind|deaf|blind]'],
   'begins': ['be diagnosed with {thing}', 'get diagnosed with {thing}'],
   'ends': ['recover from {thing}', 'be cured of {thing}', 'beat {condition}'],
  },
  'medication': {
   'states': ['take {medication}', 'be on {medication}', 'take {number} of {medication}', 'be on {number} of {medication}',
     'take {medication} for', 'be prescribed {medication}', 'take {number} {medication}',
     'be on {number} {medication}'],
   'begins': ['start (taking|on) {medication}', '* (put|start) me on {medication}',
     '* (switch|move|change) me (from {old medication}|) to {medication}',
     'switch (from {old medication}|) to {medication}', 'be (put|started) on {medication}', 'get put on {medication}',
     '* prescribe (me|) {medication}'],
   'ends': ['come off {medication}', 'be off {medication}', 'get off {medication}', 'stop {medication}',
     'stop taking {medication}', '* take me off {medication}', '* stop my {medication}', 'be done with {medication}'],
  },
  'weight': {
   'states': ['weigh {number}', 'be (down|up) to {number} (kg|kilos|kilo|pounds|lbs|stone)',
     'be {number} (kg|kilos|pounds|lbs|stone)', 'be at {number} (kg|kilos|pounds|lbs|stone)',
     'be (now|down to|up to|back to) {number} (kg|kilos|pounds|lbs|stone)'],
   'begins': ['(drop|slim|get) (|down) to {number} (kg|kilos|pounds|lbs|stone)'],
  },
  'height': {
   'states': ['be {number} tall', 'be {number} (in height|high)', 'be {number} (m|cm|metres|meters|feet|ft) tall',
     'measure {number}'],
  },
  'religion': {
   'states': ['be (a|an|) {religion}'],
   'begins': ['convert to {thing}', 'become (a|an|) {religion}'],
   'ends': ['leave the (catholic|) church'],
  },
  'language': {
   'states': ['speak (|a bit of|some|a little|fluent|basic|good|native) {language}', 'be fluent in {language}',
     'be a native {language} speaker'],
   'ends': ['forget (all|) my {language}'],
  },
  'learning': {
   'states': ['learn {language}', 'learn (|to play) (the|) {instrument}', 'take {language} (lessons|classes)',
     'take {instrument} (lessons|classes)', 'study {language}', 'learn (|how) to {thing}',
     'take {thing} (lessons|classes)', 'learn {word} (on|with|at)'],
   'begins': ['start (learning|studying) {language}', 'pick up {language}', 'start (on|) {language}',
     'switch (from {old language}|) to {language}', 'take up {language}'],
  },
  'instrument': {
   'states': ['play (the|) {instrument}'],
   'begins': ['take up (the|) {instrument}', 'start (learning|playing) (the|) {instrument}', 'pick up (the|) {instrument}'],
  },
  'sport': {
   'states': ['play {sport}'],
   'begins': ['take up {sport}', 'start (playing|) {sport}'],
  },
  'hobby': {
   'states': ['do {hobby}', 'go {hobby}', 'collect {bare}', 'be into {hobby}', 'practise {hobby}', 'practice {hobby}',
     'play {game}', 'love {hobby}', 'enjoy {hobby}',
     'be (a|an) (keen|avid|passionate|amateur) '
     '[runner|cyclist|climber|swimmer|gardener|photographer|hiker|baker|cook|knitter|reader|skier|surfer|birdwatcher|angler|sailor]'],
   'begins': ['take up {hobby}', 'start {hobby}', 'get into {hobby}', 'start (doing|collecting) {thing}',
     'start {hobby} (again|)', 'pick up {hobby}', 'discover {hobby}'],
  },
  'choice': {
   'states': ['prefer {thing} (over|to|rather than) {old thing}'],
   'begins': ['switch from {old thing} to {thing}'],
  },
  'preference': {
   'states': ['prefer {thing}'],
  },
  'like': {
   'states': ['like {thing}', 'love {thing}', 'enjoy {thing}', 'adore {thing}', 'be (a big|a huge|a|such a) fan of {thing}',
     'be fond of {thing}', 'be (|really|very) into {thing}', 'be crazy about {thing}', 'be a {thing} fan',
     'be keen on {thing}'],
   'begins': ['fall in love with {thing}', 'come to love {thing}'],
   'ends': ['go off {thing}', 'get tired of {thing}', 'be over {thing}', 'lose interest in {thing}'],
  },
  'dislike': {
   'states': ['hate {thing}', 'dislike {thing}', 'detest {thing}', 'despise {thing}', 'can not stand {thing}',
     'be sick of {thing}'],
  },
  'smoking': {
   'states': ['smoke', 'be (a|an|) {smoking}'],
   'begins': ['start smoking (again|)', 'take up smoking (again|)'],
   'ends': ['give up smoking', 'quit smoking', 'stop smoking', 'quit cigarettes'],
  },
  'car': {
   'states': ['drive (a|an|the|my) {vehicle}', 'have a {vehicle}', 'own (a|an) {vehicle}', 'lease (a|an) {vehicle}',
     'be driving (a|an) {vehicle}', 'drive around in (a|an) {vehicle}'],
   'begins': ['buy (a|an|the) {vehicle}', 'get (a|an|the) {vehicle}', 'switch to (a|an) {vehicle}',
     'trade (in|) (my|our|the|) {old vehicle} (in|) for (a|an|another|my) (new|) {vehicle}',
     'swap (my|our|the) {old vehicle} for (a|an) {vehicle}',
     'replace (my|our|the) {old vehicle} with (a|an) {vehicle}',
     '(swap|trade|trade in|exchange) (the|my|our) (old|) {old thing} (in|) for (a|an|the) (new|used|second-hand|) '
     '{vehicle}',
     'upgrade (from {old vehicle}|) to (a|an) {vehicle}',
     '(buy|get|order|lease) (a|an|ourselves a|myself a) (new|used|second-hand) {vehicle}', 'lease (a|an) {vehicle}',
     '(replace|swap) (the|my|our) {old vehicle} (with|for|by) (a|an) {vehicle}'],
   'ends': ['sell (my|our|the) (car|{vehicle})', 'sell (my|our|the) car', 'get rid of (my|our|the) (car|{vehicle})',
     'scrap (my|our|the) car', 'give up (my|our|the) car', 'write off (my|our|the) (car|{vehicle})',
     'give (my|our|the) {vehicle} (to|away)', 'total (my|our|the) (car|{vehicle})'],
  },
  'bank': {
   'states': ['bank (with|at) {org}'],
   'begins': ['(switch|move) (|banks|my account|my accounts|over|everything|all my money|my money) to {bank}',
     'open an account (at|with) {org}'],
  },
  'phone': {
   'states': ['^ reach me (at|on|under) {number}', '^ call me (at|on|under) {number}', '* reach me (at|on|under) {number}',
     'have a new (|phone|mobile|cell) number (:|which is|) {number}', '* call me (at|on|under) {number}'],
   'begins': ['get a new (|phone|mobile) number (:|which is|) {number}', 'change (my|our) (|phone|mobile) number to {number}',
     '(switch|change) (my|the) number to {number}'],
  },
  'email': {
   'states': ['^ use {mail}', '^ (email|write|mail) me (at|on) {mail}', '* (email|reach|write|contact) me (at|on) {mail}',
     '^ (reach|contact) me (at|on) {mail}'],
   'begins': ['(switch|change|move) (over|my email|my e-mail|) to {mail}'],
  },
  'time zone': {
   'states': ['be (in|on) {zone}', 'be (in|on) (the|) {timezones} (time|time zone|timezone)',
     'be (in|on) (the|) {timezones} time zone', 'live in (the|) {timezones} time zone', 'be on {timezones}'],
   'begins': ['switch to {timezones} time', 'move to {timezones} time'],
  },
  'rent': {
   'states': ['pay {number} (in|for) rent', 'pay {number} rent'],
   'begins': ['* (raise|increase|bump|put up|lower|reduce) (my|our|the) rent (up|) to {number}'],
  },
  'budget': {
   'states': ['have a budget of {number}', 'have {number} to spend', 'can spend {number}', 'be willing to spend {number}',
     'can afford {number}', 'can go up to {number}', 'can stretch to {number}', 'can go as high as {number}',
     'have a {number} budget', 'want to spend (|at most|up to|no more than|around|about) {number}',
     'be looking to spend (up to|around|about|) {number}',
     'have (about|around|up to|only|) {number} (for|to spend on)', 'can only spend {number}',
     'have a limit of {number}'],
   'begins': ['increase (my|our|the) budget to {number}',
     '(raise|increase|lower|bump|cut|reduce|stretch|extend) (my|our|the) budget (up|down|) to {number}'],
  },
  'wake-up time': {
   'states': ['(wake|get) up (at|around|about) {number}', '(wake|get) up at {number} now', 'be up (at|by) {number}',
     'rise at {number}'],
  },
  'possession': {
   'states': ['own (a|an|two|three|my own) {thing}'],
  },
  'membership': {
   'states': ['be a member of (a|the|my|our|) {club}', 'sing in (a|the|our) {club}', 'play (in|for|with) (a|the|our) {club}',
     'belong to (a|the) {club}', 'be (in|on) (a|the) [board|choir|band|committee|council]'],
   'begins': ['join (a|the) {club}'],
  },
  'subscription': {
   'states': ['have (a|an) {word} (subscription|membership|account)', 'subscribe to {name}', 'be subscribed to {name}',
     'pay for {name}', 'have {streaming}', 'have a subscription to {name}',
     'have (a|an) {streaming} (subscription|account|membership)', 'pay for {streaming}', 'be on {streaming}',
     'use {streaming}', 'subscribe to {streaming}', 'read {streaming}', 'watch {streaming}'],
   'begins': ['sign up for {name}', 'get (a|an) {word} (subscription|membership)',
     'take out (a|an) {word} (subscription|membership)', 'get {streaming}', 'get {streaming} instead',
     '(switch|move|go|change) (from {old streaming}|over|) to {streaming}', 'sign up (for|to|with) {streaming}',
     'subscribe to {streaming} instead'],
  },
  'drink': {
   'states': ['drink {bare}', 'drink {drinks}', 'can drink {drinks}', 'touch {drinks}', 'can have {drinks}',
     'can drink {drinks} again'],
   'begins': ['start drinking {bare}'],
  },
  'food': {
   'states': ['eat {bare}', 'eat {foods}', 'can eat {foods}', 'can have {foods}', 'tolerate {foods}', 'can tolerate {foods}',
     'touch {foods}', 'be allowed {foods}', 'eat {foods} again', 'can eat {foods} again', 'can have {foods} again'],
   'begins': ['start eating {bare}', 'reintroduce {foods}'],
  },
  'gym': {
   'states': ['(go|be) to the gym at {person}', '(go|train|work out) at {person}', 'be a member at {name}'],
   'begins': ['(switch|change) gyms to {name}', 'join {gym}', '(move|change|go) (gyms|) to {gym}'],
  },
  'habit': {
   'states': ['volunteer (at|for|with) (the|a|) {org}', 'see a [therapist|psychologist|physio|nutritionist|chiropractor]',
     'use [glasses|a wheelchair|a hearing aid|crutches|a cane|a walking stick|a screen reader]', 'watch {bare}',
     'read {bare}', 'wear [glasses|contact lenses|contacts|braces|hearing aids]', 'coach {thing}', 'babysit {thing}',
     'play {thing}', 'attend {thing}', 'train for {thing}', 'foster {thing}'],
   'begins': ['start (volunteering|coaching|using|watching|wearing|seeing|playing) (at|a|an|) {thing}'],
  },
  'any': {
   'begins': ['switch (|over) from {old org} to {org}', 'switch (|over) to {name}', 'change (|over) to {name}',
     'swap to {name}', 'go with {name} instead', 'get {name} instead', 'move over to {name}', 'migrate to {name}'],
  },
  'office days': {
   'states': ['be in the office {number} days (a|per) week', 'go (into|to) the office {number} days (a|per) week',
     'go into the office {number} (a week|times a week)', 'work from home {number} days (a|per) week',
     'work from the office {number} days (a|per) week',
     'work [remotely|fully remote|fully remotely|hybrid|from home]', 'be [fully remote|hybrid|fully in the office]',
     'have {number} (home office|office|remote) days', 'be in the office on {date}', 'be in (the office|) on {date}',
     'work from home on {date}'],
   'begins': ['go [fully remote|hybrid]', '* (call|order) us back {number} days a week'],
  },
  'commute': {
   'states': ['commute by {transport}', 'commute by {thing}', 'take the {transport} to (work|the office|school|uni|campus)',
     'cycle (in|) to (work|the office)', 'bike (in|) to (work|the office)', 'walk (in|) to (work|the office)',
     'drive (in|) to (work|the office)', 'run to (work|the office)', 'go (to work|to the office|in) by {transport}',
     'get to (work|the office) by {transport}', 'go by {transport} to (work|the office)',
     '(take|ride) my {transport} to (work|the office)', 'carpool to (work|the office)'],
   'begins': ['switch to (the|my|a) {transport} for (my|the) commute', 'switch to cycling to (work|the office)',
     'start (cycling|walking|driving|taking the {transport}) to (work|the office)'],
  },
  'bedtime': {
   'states': ['go to bed (at|around|about) {number}', 'be in bed by {number}', 'go to sleep (at|around|about) {number}'],
  },
  'team': {
   'states': ['be (in|on|part of|a member of) the {word} (team|squad|department|group)',
     'work (in|on) the {word} (team|squad|department)'],
   'begins': ['(join|move to|move over to|switch to|transfer to) the {word} (team|squad|department)',
     '* (move|transfer) me to (the|) {word} (team|squad|department)'],
  },
  'flatmate': {
   'states': ['live with {name}', 'share (a|the|my) (flat|house|apartment) with {name}'],
   'ends': ['{flatmate} move out'],
  },
  'grade': {
   'states': ['be in (the|) {grade}', 'be in (year|grade|class) {number}', 'be in the {word} (grade|year|class|form)'],
   'begins': ['start (year|grade|class) {number}', 'move up to (year|grade|class) {number}',
     'start (the|) {word} (grade|form)'],
  },
  'tool': {
   'states': ['use {app}', 'use {name} (for|to|as|at work|daily|every day) ', 'run {app}',
     '(do|keep|manage|track) (my|our|the|all my) {word} (in|with|on) {app}', 'work (mostly|mainly|) (with|in) {app}',
     'code (mostly|mainly|) in {app}', 'program (mostly|mainly|) in {app}', 'write (mostly|mainly|) in {app}',
     'develop in {app}', 'be (on|using) {app}'],
   'begins': ['start using {app}', '(switch|migrate|move|change|go) (from {old app}|over|) to {app}'],
  },
  'device/editor': {
   'states': ['use (a|an|the|my|) {editors}', 'be (on|using) (a|an|my|) {editors}', 'run {editors}',
     'work (on|in|with) (a|an|my|) {editors}', 'code in {editors}'],
   'begins': ['(switch|go|move|change|migrate) (back|over|) (from {old editors}|) (back|) to (a|an|the|) {editors}'],
  },
  'device/browser': {
   'states': ['use (a|an|the|my|) {browsers}', 'be (on|using) (a|an|my|) {browsers}', 'run {browsers}',
     'work (on|in|with) (a|an|my|) {browsers}', 'code in {browsers}'],
   'begins': ['(switch|go|move|change|migrate) (back|over|) (from {old browsers}|) (back|) to (a|an|the|) {browsers}'],
  },
  'device/operating system': {
   'states': ['use (a|an|the|my|) {systems}', 'be (on|using) (a|an|my|) {systems}', 'run {systems}',
     'work (on|in|with) (a|an|my|) {systems}', 'code in {systems}'],
   'begins': ['(switch|go|move|change|migrate) (back|over|) (from {old systems}|) (back|) to (a|an|the|) {systems}'],
  },
  'device/phone': {
   'states': ['use (a|an|the|my|) {phone_model}', 'be (on|using) (a|an|my|) {phone_model}', 'run {phone_model}',
     'work (on|in|with) (a|an|my|) {phone_model}', 'code in {phone_model}', 'have (a|an|the|my|) {phone_model}',
     'own (a|an) {phone_model}'],
   'begins': ['(switch|go|move|change|migrate) (back|over|) (from {old phone_model}|) (back|) to (a|an|the|) {phone_model}',
     '(buy|get|order) (a|an|the|myself a|my) (new|) {phone_model}',
     'upgrade (from {old phone_model}|) to (a|an|the|) {phone_model}', 'get (a|an) {phone_model} instead',
     '* (give|issue) me (a|an) (new|) {phone_model}', 'get (a|an) new {phone_model} from work'],
  },
  'device/laptop': {
   'states': ['use (a|an|the|my|) {laptop_model}', 'be (on|using) (a|an|my|) {laptop_model}', 'run {laptop_model}',
     'work (on|in|with) (a|an|my|) {laptop_model}', 'code in {laptop_model}', 'have (a|an|the|my|) {laptop_model}',
     'own (a|an) {laptop_model}'],
   'begins': ['(switch|go|move|change|migrate) (back|over|) (from {old laptop_model}|) (back|) to (a|an|the|) {laptop_model}',
     '(buy|get|order) (a|an|the|myself a|my) (new|) {laptop_model}',
     'upgrade (from {old laptop_model}|) to (a|an|the|) {laptop_model}', 'get (a|an) {laptop_model} instead',
     '* (give|issue) me (a|an) (new|) {laptop_model}', 'get (a|an) new {laptop_model} from work'],
  },
  'trip': {
   'begins': ['book (|a|an|our|my|the) (flight|flights|train|trip|holiday|hotel|cruise|weekend|tickets) to {place}',
     'rebook to {place}', 'book {place} instead'],
   'states': ['be (flying|going|travelling|traveling|off) to {place} (in|on|next|this|for)'],
   'ends': ['cancel (the|our|my) (trip|flight|flights|holiday) to {place}', 'call off (the|our|my) trip to {place}'],
  },
  'avoids': {
   'states': ['avoid {foods}', 'avoid {drinks}', 'be off {foods}', 'be off {drinks}', 'stay away from {foods}',
     'stay off {foods}', 'be not allowed {foods}', 'be not allowed {drinks}'],
  },
  'size': {
   'states': ['wear (a|an|) (size|) {size} (shoes|shoe|jeans|dress|shirt|trousers|now|)', 'take (a|an|) size {size}',
     'be (a|an|) size {size}', 'be (a|an|) size {letter_size}', 'wear (a|an|) (size|) {letter_size}',
     'take (a|an|) (size|) {letter_size}', 'take (a|an) {size} .'],
  },
  'contact': {
  },
  'provider': {
   'states': ['be with {provider}'],
   'begins': ['(switch|move|change|go) (over|) to {provider}'],
  },
 },
 'es': {
  'drops_subject': True,
  'perfect_is_past': True,
  'words': {
   'skip': ('ahora, ya, actualmente, todavía, aún, también, hoy en día, recientemente, por fin, finalmente, realmente, muy, '
     'solo, sólo, siempre, me, te, se, nos, le, les, lo, la, aquí, allí,\n'
     '  por cierto, de momento, al final, acabo de, acabamos de, de hecho, mucho, completamente, totalmente, '
     'oficialmente, pues, bien, nuevamente, otra vez, mi mujer y yo'),
   'not': 'no, ya no, nunca, jamás, tampoco, ningún, ninguna',
   'wrong': ('miento, digo, miré mal, se me fue el dedo, qué cabeza, me corrige, me he liado, me he confundido, me confundí, '
     'puse mal, espera, perdón quise decir, quise decir, quería decir, me equivoqué, me he equivocado, error mío, '
     'errata, corrección, corrijo, equivocado, equivocada, mal, resulta que, al final no, mejor dicho, digo, error'),
   'mild': ('no, perdón, perdona, lo siento, en realidad, bueno, es, son, era, eran, y, pero, ay, ups, uy, el nuevo es, el '
     'correcto es, la correcta es, sino, el bueno es, ahora es, no es, te di el, que, de verdad, mi, su, el, la, un, '
     'una, está'),
   'but': 'sino, pero',
   'instead_of': 'en vez de, en lugar de, y no, no',
   'who': 'que, quien',
   'from': 'de, del, desde',
   'to': 'a, al, por, para, hasta',
   'of': 'de, del, en, con',
   'and': 'y, e, o, u',
   'titles': 'doctor, doctora, señor, señora, dr, dra, sr, sra',
   'the': 'el, la, los, las',
   'be': 'ser, estar',
   'now': 'ahora, ya, actualmente, nuevo, nueva',
   'never': ('eso, esto, lo, que, cómo, todo, nada, algo, ti, tu, tus, su, casa, aquí, paz, general, cuenta, mí, noche, '
     'lunes, una, mucho, ir, un'),
   'articles': 'el, la, los, las, un, una, unos, unas, mi, mis, nuestro, nuestra, al, del, lo',
   'stop': ('porque, pero, con, para, cuando, donde, que, si, como, desde, hasta, aunque, gracias, ahora, hoy, también, y '
     'vivo, y trabajo, y me, y tengo, y mi, y soy, es, son, era, está, estoy, tengo, vivo, trabajo, soy,\n'
     '  sino, por, de momento, hace, mi, cerca, sin, ya, a, no, en vez de, en lugar de, y no, vive, trabaja'),
   'stop_thing': 'en, a',
  },
  'subjects': {
   'first': 'yo, nosotros, nosotras, mi marido y yo, mi mujer y yo, mi pareja y yo',
   'own': 'mi, mis, nuestro, nuestra, nuestros, nuestras',
   'third': 'él, ella, ellos, ellas',
   'third_own': 'su, sus',
   'bare': 'mamá, papá, abuela, abuelo',
   'relations': ('madre/mamá/mami, padre/papá/papi, padres, hermano, hermana, hermanos, hijo, hija, hijos, hijas, bebé, '
     'mujer/esposa, marido/esposo, pareja, novio, novia, abuela, abuelo, abuelos, tía, tío, primo, prima, sobrino, '
     'sobrina,\n'
     '  suegra, suegro, cuñado, cuñada, jefe, jefa, compañero, compañera, amigo, amiga, vecino, vecina, equipo, '
     'empresa, proyecto, perro, perra, gato, gata, ex'),
   'named_only': 'amigo, amiga, compañero, compañera, vecino, vecina, equipo, empresa, proyecto, primo, prima',
   'adjectives': 'mayor, menor, pequeño, pequeña, mejor, gran',
  },
  'changes': {
   'drops': ('dejé (de|), he dejado (de|), dejado (de|), vendí, vendimos, he vendido, vendido, cancelé, he cancelado, '
     'cancelado, anulé, he anulado, anulado (la suscripción de|), di de baja, he dado de baja, me di de baja (de|), '
     'abandoné, he abandonado, perdí, jubilado, echaron de, me fui de, me he ido de, salí de, he salido de, rompí '
     'con, he roto con, corté con, me separé de, adiós (a|al|), lo de, terminé con, acabé con, quité, me quité, '
     'borré, despedí (a|), renuncié (a|al)'),
   'swaps': 'cambié (de|), he cambiado, cambiado, sustituí, he sustituido, me pasé de, me he pasado de, reemplacé',
   'around': 'dejado … atrás, dado … de baja',
   'takes_place': 'por, a, al, con',
   'generic': 'suscripción, contrato, cuenta, curso, trabajo, tema',
   'passes': ('murió, ha muerto, falleció, ha fallecido, cerró, ha cerrado, terminó, ha terminado, acabó, se acabó, se ha '
     'acabado, caducó, venció, quebró, se disolvió, nos hemos separado, se separó, me superó, me despidió, me ha '
     'despedido, me echó, sustituyó'),
   'is_over': ('acabado, acabada, terminado, terminada, muerto, muerta, cancelado, cancelada, anulado, anulada, vendido, '
     'vendida, historia, agua pasada, cerrado, cerrada'),
   'goes': 'se jubiló, se ha jubilado, se marchó, se ha marchado, se fue, se ha ido, se mudó, dejó el piso, se marcha',
   'no_more': 'ya no, no * más, nunca más, tampoco * ya, sin',
   'takes': ('me he pasado (a|al), me pasé (a|al), hemos adoptado (a|), he adoptado (a|), adopté (a|), me pillé, me compré, '
     'me he comprado, compré, ahora (tengo|voy|estoy|uso|me lleva|es|hago), estoy en, estoy con, empecé (con|), he '
     'empezado (con|), me apunté (a|al)'),
   'tells': ('(es|son) (ahora|), ahora es, ya estamos en, ya estoy en, estamos en, estoy en, ponme como, apunta (este|), '
     'escribidme a, escríbeme a, usa, pago, se llama, ejemplos en'),
   'lately': 'ahora, ya, a partir de, desde, nueva, nuevo, últimamente, actualmente, hoy en día, en adelante',
   'others': 'amigo, amiga, alguien, gente, cliente, clienta, todos, cuñado, cuñada, suegro, suegra, vecino, vecina',
   'units': 'mg, ml, g, kg, km, euros, euro, horas, hora, días, semanas, meses, años, veces, por, minutos',
  },
  'between': {
   'have': 'ha, han, había',
   'have_first': 'he, hemos',
   'be': 'está, están, es, fue',
   'be_first': 'soy, somos, estoy, estamos',
   'past': 'antes, solía, en el pasado, de niño, de niña, de pequeño, de pequeña, hace tiempo',
   'past_first': 'solía',
   'plan': 'va a, van a, planea, piensa',
   'plan_first': 'voy a, vamos a, planeo, pienso, pensamos',
   'maybe': ('quiero, queremos, quisiera, me gustaría, podría, puedo, debería, quizás, tal vez, ojalá, si, puede, quiere, '
     'tengo que, iba a, gustaría'),
   'stopped': 'dejó de, ha dejado de, dejaron de',
   'stopped_first': 'dejé de, he dejado de, dejamos de, hemos dejado de, ya no puedo',
  },
  'verbs': {
   'irregular': ('ir/voy vamos|va van/iba fui|fue/ido/ir, vivir/vivo vivimos | vive viven/viví vivía vivíamos | vivió vivían '
     'vivieron/vivido/vivir/viviendo, mudar/mudo mudamos | muda mudan/mudé mudamos | mudó mudaron/mudado/mudarme '
     'mudarnos mudarse/mudando,\n'
     '  trasladar/traslado trasladamos | traslada/trasladé trasladamos | trasladó/trasladado/trasladarme '
     'trasladarnos, trabajar/trabajo trabajamos | trabaja trabajan/trabajé trabajaba trabajamos | trabajó '
     'trabajaban/trabajado/trabajar/trabajando,\n'
     '  llamar/llamo | llama llaman/llamaba/llamado/llamar, ser/soy somos | es son/fui era éramos | fue '
     'eran/sido/ser/siendo, estar/estoy estamos | está están/estuve estaba | estuvo estaban/estado/estar,\n'
     '  tener/tengo tenemos | tiene tienen/tuve tenía teníamos | tuvo tenían/tenido/tener, comer/como comemos | come '
     'comen/comí comía | comió/comido/comer, hablar/hablo hablamos | habla hablan/hablé hablaba | '
     'habló/hablado/hablar,\n'
     '  tocar/toco tocamos | toca tocan/toqué tocaba | tocó/tocado/tocar, jugar/juego jugamos | juega juegan/jugué '
     'jugaba | jugó/jugado/jugar/jugando, fumar/fumo fumamos | fuma/fumé fumaba | fumó/fumado/fumar, odiar/odio '
     'odiamos | odia/odié odiaba | odió/odiado/odiar,\n'
     '  preferir/prefiero preferimos | prefiere/preferí prefería | prefirió/preferido/preferir, gustar/| gusta '
     'gustan/| gustaba gustó gustaban/gustado/gustar, encantar/| encanta encantan/| encantaba '
     'encantó/encantado/encantar, adorar/adoro | adora/adoré adoraba | adoró/adorado/adorar,\n'
     '  dejar/dejo dejamos | deja/dejé dejamos | dejó dejaron/dejado/dejar, empezar/empiezo empezamos | '
     'empieza/empecé empezamos | empezó/empezado/empezar, cambiar/cambio cambiamos | cambia/cambié cambiamos | '
     'cambió/cambiado/cambiar, hacer/hago hacemos | hace hacen/hice hacía | hizo/hecho/hacer/haciendo,\n'
     '  cumplir/cumplo | cumple/cumplí | cumplió/cumplido/cumplir, casar/caso | casa/casé casamos | casó '
     'casaron/casado/casarme casarse, divorciar/| /divorcié divorciamos | divorció/divorciado/divorciarme, separar/| '
     '/separé separamos | separó/separado/separarme, romper/rompo | rompe/rompí rompimos | rompió/roto/romper,\n'
     '  perder/pierdo | pierde/perdí | perdió/perdido/perder, vender/vendo | vende/vendí vendimos | '
     'vendió/vendido/vender, comprar/compro | compra/compré compramos | compró/comprado/comprar, conducir/conduzco | '
     'conduce/conduje conducía | condujo/conducido/conducir, nacer/nazco | nace/nací | nació/nacido/nacer,\n'
     '  volver/vuelvo | vuelve/volví volvimos | volvió/vuelto/volver, hacerse/hago | hace/hice | hizo/hecho/hacerme, '
     'beber/bebo bebemos | bebe/bebí bebía | bebió/bebido/beber, estudiar/estudio estudiamos | estudia/estudié '
     'estudiaba | estudió/estudiado/estudiar/estudiando, aprender/aprendo | aprende/aprendí | '
     'aprendió/aprendido/aprender/aprendiendo,\n'
     '  tomar/tomo tomamos | toma/tomé tomaba | tomó/tomado/tomar, detestar/detesto | detesta/detesté | '
     'detestó/detestado/detestar, ganar/gano | gana/gané ganaba | ganó/ganado/ganar, pagar/pago pagamos | paga/pagué '
     '| pagó/pagado/pagar, pesar/peso | pesa/pesé pesaba | pesó/pesado/pesar, despedir/| /| '
     'despidieron/despedido/despedir, morir/| muere/| murió/muerto/morir,\n'
     '  fichar/ficho | ficha/fiché | fichó/fichado/fichar, pasar/paso pasamos | pasa/pasé pasamos | '
     'pasó/pasado/pasar, abandonar/abandono | abandona/abandoné | abandonó/abandonado/abandonar, adoptar/adopto | '
     'adopta/adopté adoptamos | adoptó/adoptado/adoptar, renunciar/renuncio | renuncia/renuncié | '
     'renunció/renunciado/renunciar, coleccionar/colecciono | colecciona/coleccioné coleccionaba | '
     'coleccionó/coleccionado/coleccionar'),
  },
  'kinds': {
   'diet': ('vegano, vegana, veganos, veganas, vegetariano, vegetariana, vegetarianos, vegetarianas, pescetariano, '
     'pescetariana, flexitariano, flexitariana, omnívoro, omnívora, carne, pescado, de todo, keto, kosher, halal, '
     'sin gluten'),
   'marital': ('casado, casada, casados, soltero, soltera, divorciado, divorciada, viudo, viuda, comprometido, comprometida, '
     'separado, separada'),
   'smoking': 'fumador, fumadora, no fumador, exfumador, exfumadora',
   'profession': ('profesor, profesora, maestro, maestra, médico, médica, enfermero, enfermera, ingeniero, ingeniera, '
     'desarrollador, desarrolladora, programador, programadora, abogado, abogada, cocinero, cocinera, camarero, '
     'camarera, estudiante, contable, arquitecto, arquitecta,\n'
     '  diseñador, diseñadora, periodista, traductor, traductora, mecánico, electricista, fontanero, policía, '
     'bombero, músico, música, artista, farmacéutico, farmacéutica, dentista, psicólogo, psicóloga, vendedor, '
     'vendedora, conductor, conductora, panadero, panadera, peluquero, peluquera, consultor, consultora, gerente, '
     'director, directora, jubilado, jubilada, autónomo, autónoma, veterinario, veterinaria, fisioterapeuta, '
     'administrativo, administrativa, investigador, investigadora'),
   'pet': ('perro, perra, gato, gata, conejo, hámster, caballo, loro, pez, peces, tortuga, perros, gatos, cachorro, '
     'gatito, pájaro, gallinas'),
   'instrument': ('violín, piano, guitarra, violonchelo, chelo, bajo, batería, saxofón, flauta, trompeta, clarinete, ukelele, '
     'arpa, viola, acordeón, órgano, teclado'),
   'sport': 'fútbol, tenis, baloncesto, voleibol, bádminton, golf, hockey, pádel, ajedrez, balonmano, rugby, póker',
   'hobby': ('yoga, pilates, judo, karate, senderismo, escalada, natación, ciclismo, boxeo, cerámica, fotografía, '
     'jardinería, surf, crossfit, remo, baile, running, buceo'),
   'language': ('español, inglés, alemán, francés, portugués, italiano, neerlandés, holandés, polaco, ruso, chino, japonés, '
     'coreano, árabe, turco, sueco, danés, griego, catalán, euskera, gallego, latín'),
  },
  'over': {
   'partner': ['{person} y yo (lo dejamos|lo hemos dejado|rompimos|hemos roto|nos separamos|ya no estamos '
     'juntos|terminamos|cortamos)',
     'lo dejé con {person}', 'lo he dejado con {person}', 'he roto con {person}', 'corté con {person}',
     '{person} me dejó', '{person} me ha dejado', 'ya no estoy con {person}'],
   'pet': ['se nos fue {person}', 'se nos ha ido {person}', '{person} (murió|ha muerto|se murió|falleció)',
     '(murió|falleció|se murió) {person}', 'tuvimos que dormir a {person}'],
   'flatmate': ['{person} se (mudó|ha mudado|fue del piso|ha ido del piso) .'],
  },
  'nouns': {
   'is': ('es, son, está, es de, es el, es ahora, ahora es, ahora son, ha pasado a ser, pasa a ser, pasó a ser, será, ha '
     'subido a, subió a, bajó a, ha bajado a, se ha cambiado a, cambió a, pasa a, pasó a, pasó al, se movió al, se '
     'pasó al, se cambió al, se ha movido al, se ha pasado al, se ha aplazado al, se aplazó al, cae en, es en'),
   'was': 'era, eran, fue',
   'change': ('pasa, se, cambiado, cambié, cambiamos, subido, subimos, bajado, bajamos, aumentado, aumentamos, reducido, '
     'reducimos, movido, movimos, pasado, pasamos, aplazado, ampliado, ampliamos, actualizado, subió, bajó, cambió, '
     'cambiar, movió, pasó, aumentó'),
   'new': ('nuevo, nueva, actual, propio, propia, verdadero, correcto, correcta, completo, mensual, total, máximo, '
     'electrónico'),
   'old': 'antiguo, antigua, viejo, vieja, anterior, ex',
  },
  'home': {
   'states': ['vivir en {place}', 'estar viviendo en {place}', 'vivir (cerca de|a las afueras de) {place}'],
   'begins': ['mudar (de {old place}|desde {old place}|) a {place}', 'trasladar (de {old place}|desde {old place}|) a {place}',
     'dejar {old place} por {place}', 'cambiar {old place} por {place}', 'pasar a vivir en {place}'],
   'ends': ['dejar {place}', 'mudar de {place}'],
  },
  'address': {
   'states': ['vivir en (la calle|calle|la avenida) {address}'],
  },
  'birthplace': {
   'facts': ['nacer en {place}', 'ser de {place}'],
  },
  'name': {
   'states': ['llamar {name}'],
  },
  'age': {
   'states': ['tener {age} años'],
   'begins': ['cumplir {age} (años|)'],
  },
  'employer': {
   'after_profession': ['(en|de|para) {org}'],
   'states': ['trabajar (en|para|con) {org}'],
   'begins': ['empezar (a trabajar|un trabajo|un nuevo trabajo|) (en|con|para) {org}', 'cambiar (de {old org}|) a {org}',
     'fichar por {org}', 'pasar (de {old org}|) a {name}', 'dejar {old org} (por|para ir a|para trabajar en) {org}',
     'tener (un nuevo trabajo|trabajo nuevo|un trabajo nuevo) en {org}'],
   'ends': ['dejar {org}', 'dejar (el trabajo|mi trabajo|el empleo|mi empleo)',
     'dejar (el trabajo|mi trabajo|mi puesto) en {org}', 'perder (el trabajo|mi trabajo|mi empleo)', 'despedir',
     'despedir de {org}', 'renunciar (a mi trabajo|a mi puesto|)',
     'estar (en paro|desempleado|desempleada|jubilado|jubilada)'],
  },
  'profession': {
   'states': ['trabajar (como|de) {thing}', 'ser (|un|una) {profession}'],
   'begins': ['hacer {profession}', 'empezar a trabajar (como|de) {thing}'],
  },
  'marital status': {
   'states': ['estar {marital}', 'ser {marital}'],
   'begins': ['casar', 'divorciar', 'separar'],
  },
  'partner': {
   'after_marital status': ['con {person}'],
   'states': ['ser novio de {person}', 'ser novia de {person}', 'estar saliendo con {person}'],
   'ends': ['romper con {person}', 'dejar con {person}', 'separar de {person}', 'divorciar de {person}', 'romper'],
  },
  'pet': {
   'states': ['tener (un|una|dos|tres) {pet}'],
   'begins': ['adoptar (un|una|dos) {pet}', 'comprar (un|una) {pet}'],
   'ends': ['{pet} morir'],
  },
  'diet': {
   'states': ['ser {diet}', 'comer {diet}', 'seguir una dieta {diet}'],
   'begins': ['hacer {diet}', 'volver {diet}', 'volver a comer {diet}', 'empezar a comer {diet}'],
   'ends': [],
  },
  'allergy': {
   'states': ['ser (alérgico|alérgica) (a|al|a la|a los|a las) {list}', 'tener alergia (a|al|a la|a los|a las) {list}',
     'ser intolerante (a|al|a la) {list}'],
  },
  'condition': {
   'states': ['tener [diabetes|asma|migrañas|epilepsia|artritis|ansiedad|hipertensión|celiaquía]',
     'ser [diabético|diabética|celíaco|celíaca|asmático|asmática]'],
  },
  'medication': {
   'states': ['tomar [metformina|insulina|ibuprofeno|antidepresivos|anticoagulantes|estatinas]'],
  },
  'language': {
   'states': ['hablar (|un poco de|bien) {language}'],
  },
  'learning': {
   'states': ['aprender {language}', 'estudiar {language}', 'estar (aprendiendo|estudiando) {language}'],
  },
  'instrument': {
   'states': ['tocar (el|la) {instrument}'],
   'ends': ['dejar (el|la) {instrument}', 'vender (mi|el|la) {instrument}'],
  },
  'sport': {
   'states': ['jugar (al|a) {sport}'],
   'ends': ['dejar (el|de jugar al) {sport}'],
  },
  'hobby': {
   'states': ['hacer {hobby}', 'practicar {hobby}', 'coleccionar {thing}'],
   'begins': ['empezar {hobby}', 'empezar con {hobby}'],
   'ends': ['dejar (el|la|) {hobby}'],
  },
  'choice': {
   'states': ['preferir {thing} (a|al|antes que|en vez de|en lugar de) {old thing}'],
  },
  'preference': {
   'states': ['preferir {thing}'],
  },
  'like': {
   'states': ['* gustar {thing}', '* encantar {thing}', 'adorar {thing}'],
  },
  'dislike': {
   'states': ['odiar {thing}', 'detestar {thing}'],
  },
  'smoking': {
   'states': ['fumar', 'ser {smoking}'],
   'ends': ['dejar (de fumar|el tabaco)'],
  },
  'car': {
   'states': ['conducir un {thing}', 'tener un [seat|renault|ford|toyota|volkswagen|peugeot|audi|bmw|tesla|fiat|kia|citroën]'],
   'ends': ['vender (el|mi|nuestro) coche', 'vender (el|mi|nuestro) carro'],
  },
  'budget': {
   'states': ['tener un presupuesto de {number}', 'tener {number} de presupuesto'],
  },
  'salary': {
   'states': ['ganar {number}'],
  },
  'rent': {
   'states': ['pagar {number} de alquiler'],
  },
  'weight': {
   'states': ['pesar {number}'],
  },
  'work hours': {
   'states': ['trabajar de [noche|mañana|tarde|día]',
     'trabajar [por la noche|por la mañana|media jornada|a jornada completa|a tiempo parcial]',
     'estar en el turno de [noche|mañana|tarde]'],
   'begins': ['* (pasar|cambiar|poner) al turno de [noche|mañana|tarde]', 'pasar al turno de [noche|mañana|tarde]'],
  },
  'commute': {
   'states': ['ir en [metro|bus|autobús|coche|bici|tren|moto] (al trabajo|a la oficina|al curro)',
     'ir [a pie|andando] (al trabajo|a la oficina)'],
  },
  'provider': {
   'states': ['tener (la línea|el móvil|internet|la luz|el seguro) con {org}'],
  },
  'grade': {
   'states': ['estar en [primero|segundo|tercero|cuarto|quinto|sexto] (de primaria|de la eso|de eso|)'],
   'begins': ['ir a [primero|segundo|tercero|cuarto|quinto|sexto]', 'pasar a [primero|segundo|tercero|cuarto|quinto|sexto]'],
  },
 },
 'fr': {
  'perfect_is_past': True,
  'words': {
   'skip': ('maintenant, désormais, actuellement, en ce moment, toujours, encore, aussi, déjà, récemment, enfin, '
     "finalement, vraiment, très, juste, seulement, d'ailleurs, du coup, ne, n', me, m', te, t', se, s', nous, y, "
     "en, le, l',\n"
     '  donc, bien, à nouveau, de nouveau, en fait, dorénavant, ici, là, tout, complètement, strictement, '
     "sévèrement, viens de, venons de, vient de, depuis, aujourd' hui"),
   'not': 'pas, plus, jamais, ne * pas, ni, aucun, aucune, pas du tout',
   'wrong': ('je veux dire, je confonds, je me trompe, me reprend, aïe, non attends, vérif, plutôt, je me suis planté, je me '
     "suis plantée, j'ai fait une faute, attends, attendez, je voulais dire, je veux dire, faute de frappe, erreur, "
     "je me suis trompé, je me suis trompée, trompé, trompée, correction, coquille, mauvais, mauvaise, il s'avère "
     "que, en fait c'était, finalement non, plutôt, je rectifie"),
   'mild': ("non, pardon, désolé, désolée, en fait, enfin, euh, c'est, ce sont, c'était, est, et, mais, oups, le bon est, "
     'la bonne est, le nouveau est, zut, il est, elle est, ah, que, voilà, numéro, le, la, les, mon, ma, un, une, de'),
   'but': 'mais',
   'instead_of': 'au lieu de, au lieu du, plutôt que, et non, et pas, pas',
   'who': 'qui',
   'from': "de, du, depuis, d'",
   'to': 'à, au, en, pour, vers, chez',
   'of': "de, du, chez, pour, d', des",
   'and': 'et, ou',
   'titles': 'docteur, docteure, dr, monsieur, madame, m, mme',
   'the': "le, la, les, l'",
   'be': 'être',
   'now': 'maintenant, désormais, nouveau, nouvelle, actuellement, dorénavant',
   'never': ('ça, cela, ce, que, comment, tout, rien, toi, ton, ta, votre, vos, lui, maison, paix, fait, train, moi, nuit, '
     'ville, domicile, place'),
   'articles': "le, la, les, l', un, une, des, du, de, d', mon, ma, mes, notre, nos, au, aux",
   'stop': ('parce, car, mais, avec, pour, quand, où, que, qui, si, comme, depuis, jusque, bien que, merci, maintenant, '
     "aujourd', aussi, et je, et j', et nous, et mon, et ma, est, sont, était, suis, ai, habite, travaille,\n"
     "  plus, pas, au lieu de, plutôt, près, sans, désormais, je, j', il y a, en ce moment, toujours, à nouveau, ce, "
     "c', et pas, et non, actuellement"),
   'stop_thing': 'à, dans, en, au, chez',
  },
  'subjects': {
   'first': "je, j', nous, on, moi, mon mari et moi, ma femme et moi, moi je",
   'own': 'mon, ma, mes, notre, nos',
   'third': 'il, elle, ils, elles',
   'third_own': 'son, sa, ses, leur',
   'bare': 'maman, papa, mamie, papi, papy',
   'relations': ('mère/maman, père/papa, parents, frère, frères, sœur/soeur, sœurs, fils, fille, filles, enfant, enfants, bébé, '
     'femme/épouse, mari/époux, compagnon, compagne, conjoint, copain, copine, fiancé, fiancée, grand-mère/mamie, '
     'grand-père/papi/papy,\n'
     '  grands-parents, tante, oncle, cousin, cousine, neveu, nièce, belle-mère, beau-père, beau-frère, belle-sœur, '
     'colocataire, chef, cheffe, patron, patronne, collègue, ami, amie, voisin, voisine, équipe, entreprise, projet, '
     'chien, chienne, chat, chatte, ex'),
   'named_only': 'ami, amie, collègue, voisin, voisine, équipe, entreprise, projet, cousin, cousine',
   'adjectives': 'grand, grande, petit, petite, meilleur, meilleure, aîné, aînée',
  },
  'changes': {
   'drops': ('arrêté, quitté, vendu, résilié, annulé, abandonné, lâché, perdu, supprimé, rompu avec, séparé de, séparée de, '
     "démissionné de, adieu, plus besoin (de|d'), fini (le|la|les|avec|), laissé tomber, rendu, viré, désinstallé, "
     'désabonné de, désabonnée de, parti de, partie de, sorti de, sortie de'),
   'swaps': 'troqué, remplacé, échangé, changé, passé de, passée de, quitté, lâché',
   'around': 'ai … (quitté|arrêté), laissé … tomber',
   'takes_place': 'contre, par, pour, à, au',
   'generic': 'abonnement, contrat, compte, cours, poste, histoire',
   'passes': ("est mort, est morte, est décédé, est décédée, décédé, a fermé, a pris sa retraite, s'est arrêté, s'est "
     "arrêtée, a expiré, a coulé, a fait faillite, m'a viré, m'a virée, m'a licencié, m'a licenciée, ne me font plus "
     'rien, ne me fait plus rien'),
   'is_over': ("fini, finie, finis, terminé, terminée, mort, morte, annulé, annulée, vendu, vendue, de l'histoire ancienne, à "
     'la casse, à la retraite, du passé, fermé, fermée, supprimé, supprimée'),
   'goes': "est parti, est partie, a déménagé, a rendu ses clés, s'en est allé, s'est en allée, m'a quitté, m'a quittée",
   'no_more': ("ne * * plus, n' * * plus, ne * plus, n' * plus, plus de, plus d', plus aucun, plus aucune, plus jamais, j' ai "
     "plus, j' suis plus, je suis plus"),
   'takes': ("s' est pris, suis passé (à|au), suis passée (à|au), passé (à|au), maintenant (je|j'|c'est), (on a|j' ai) "
     '(pris|adopté|acheté|choisi), commencé, inscrit (à|au), inscrite (à|au)'),
   'tells': ("c' est (maintenant|), (nous sommes|je suis|on est) (désormais|maintenant|) (au|à|en|chez|), écris (plutôt|) "
     "(à|), utilise, me joint au, me suit, s' appelle"),
   'lately': ('maintenant, désormais, depuis, dorénavant, à partir de, actuellement, nouveau, nouvelle, plutôt, mtn, ces '
     'temps-ci'),
   'others': "ami, amie, quelqu'un, gens, client, cliente, pote, voisin, voisine, monde",
   'units': 'mg, ml, g, kg, km, euros, euro, h, heures, jours, semaines, mois, ans, fois, minutes',
  },
  'between': {
   'have': 'ai, as, a, avons, ont',
   'be': 'suis, sommes, est, sont',
   'past': "avant, autrefois, jadis, dans le passé, étant enfant, enfant, à l'époque",
   'plan': 'vais, allons, va, vont, compte, comptons, prévois de, prévoyons de, envisage de',
   'maybe': ('voudrais, aimerais, veux, voulons, pourrais, peux, devrais, si, peut-être, rêve de, aimerait, souhaite, dois, '
     'pense, pensons, faut, aimerions'),
   'stopped': 'ai arrêté de, a arrêté de, avons arrêté de, arrête de, ai cessé de, ai renoncé à',
  },
  'dropped': {
   'je suis': 'allergique, végétarien, végétarienne, végan, végane, vegan, intolérant, intolérante, marié, mariée, célibataire',
   'je': 'habite, bosse, travaille, suis, mange, joue, fume, prends, parle',
  },
  'verbs': {
   'irregular': ('aller/vais va allons/allais allait/allé allée/aller, habiter/habite habitons habitent/habitais habitait '
     'habitions/habité/habiter/habitant, vivre/vis vit vivons vivent/vivais vivait vivions/vécu/vivre/vivant, '
     'déménager/déménage déménageons/déménageais/déménagé/déménager, '
     'emménager/emménage/emménageais/emménagé/emménager, installer/installe installons/installais/installé installée '
     'installés/installer,\n'
     '  travailler/travaille travaillons travaillent/travaillais travaillait/travaillé/travailler/travaillant, '
     'bosser/bosse/bossais/bossé/bosser, appeler/appelle appelles appellent/appelais appelait/appelé '
     'appelée/appeler, être/suis est sommes sont/étais était étions/été/être, avoir/ai a avons ont/avais avait '
     'avions/eu/avoir,\n'
     '  manger/mange mangeons mangent/mangeais mangeait/mangé/manger, parler/parle parlons/parlais '
     'parlait/parlé/parler, jouer/joue jouons jouent/jouais jouait/joué/jouer, fumer/fume fumons/fumais '
     'fumait/fumé/fumer, aimer/aime aimons/aimais aimait/aimé/aimer, adorer/adore adorons/adorais/adoré/adorer, '
     'détester/déteste détestons/détestais/détesté/détester,\n'
     '  préférer/préfère préférons/préférais/préféré/préférer, quitter/quitte quittons/quittais/quitté/quitter, '
     'commencer/commence commençons/commençais/commencé/commencer, rejoindre/rejoins '
     'rejoint/rejoignais/rejoint/rejoindre, changer/change changeons/changeais/changé/changer, passer/passe '
     'passons/passais/passé passée/passer, devenir/deviens devient/devenais/devenu devenue devenus/devenir,\n'
     '  faire/fais fait faisons/faisais faisait/fait/faire, naître/nais/naissais/né née/naître, '
     'grandir/grandis/grandissais/grandi/grandir, marier/marie/mariais/marié mariée mariés/marier, '
     'divorcer/divorce/divorçais/divorcé/divorcer, séparer/sépare/séparais/séparé séparée séparés/séparer, '
     'rompre/romps/rompais/rompu/rompre, perdre/perds perd/perdais/perdu/perdre, vendre/vends vend '
     'vendons/vendais/vendu/vendre,\n'
     '  acheter/achète achetons/achetais/acheté/acheter, conduire/conduis conduit/conduisais/conduit/conduire, '
     'arrêter/arrête arrêtons/arrêtais/arrêté/arrêter, prendre/prends prend/prenais/pris/prendre, apprendre/apprends '
     'apprend/apprenais/appris/apprendre, étudier/étudie/étudiais/étudié/étudier, '
     'démissionner/démissionne/démissionnais/démissionné/démissionner, licencier/licencie/licenciais/licencié '
     'licenciée/licencier,\n'
     '  fêter/fête/fêtais/fêté/fêter, boire/bois boit/buvais/bu/boire, gagner/gagne/gagnais/gagné/gagner, payer/paie '
     'paye payons/payais/payé/payer, peser/pèse/pesais/pesé/peser, souffrir/souffre/souffrais/souffert/souffrir, '
     'adopter/adopte/adoptais/adopté/adopter, mourir/meurt/mourait/mort morte/mourir, '
     'embaucher/embauche/embauchais/embauché embauchée/embaucher, venir/viens vient/venais/venu venue/venir, '
     'partir/pars part/partais/parti partie partis/partir, '
     'collectionner/collectionne/collectionnais/collectionné/collectionner, '
     'remanger/remange/remangeais/remangé/remanger'),
  },
  'kinds': {
   'diet': ('végétarien, végétarienne, végétariens, végan, végane, vegan, végétalien, végétalienne, pescétarien, '
     'pescétarienne, flexitarien, flexitarienne, omnivore, casher, halal, viande, poisson, de la viande, du poisson, '
     'de tout, sans gluten'),
   'marital': ('marié, mariée, mariés, célibataire, divorcé, divorcée, fiancé, fiancée, veuf, veuve, séparé, séparée, pacsé, '
     'pacsée, en couple'),
   'smoking': 'fumeur, fumeuse, non-fumeur, non-fumeuse, ex-fumeur',
   'profession': ('professeur, prof, médecin, infirmier, infirmière, ingénieur, ingénieure, développeur, développeuse, '
     'programmeur, programmeuse, avocat, avocate, cuisinier, cuisinière, serveur, serveuse, étudiant, étudiante, '
     'comptable, architecte, graphiste, journaliste, traducteur, traductrice,\n'
     '  mécanicien, mécanicienne, électricien, plombier, policier, policière, pompier, musicien, musicienne, '
     'artiste, pharmacien, pharmacienne, dentiste, psychologue, vendeur, vendeuse, boulanger, boulangère, coiffeur, '
     'coiffeuse, consultant, consultante, gérant, gérante, directeur, directrice, retraité, retraitée, instituteur, '
     'institutrice, vétérinaire, kiné, kinésithérapeute, chercheur, chercheuse, menuisier, designer, chef de projet, '
     'au chômage, enseignant, enseignante'),
   'pet': ('chien, chienne, chat, chatte, lapin, hamster, cheval, perroquet, poisson, tortue, chiens, chats, chiot, '
     'chaton, oiseau, poules'),
   'instrument': ('violon, piano, guitare, violoncelle, basse, batterie, saxophone, flûte, trompette, clarinette, ukulélé, harpe, '
     'alto, accordéon, orgue'),
   'sport': 'foot, football, tennis, basket, volley, badminton, golf, hockey, padel, échecs, handball, rugby, poker',
   'hobby': ('yoga, pilates, judo, karaté, randonnée, escalade, natation, vélo, boxe, poterie, photographie, jardinage, '
     'surf, crossfit, aviron, danse, course à pied, théâtre, équitation, plongée'),
   'language': ('français, anglais, allemand, espagnol, portugais, italien, néerlandais, polonais, russe, chinois, japonais, '
     'coréen, arabe, turc, suédois, danois, grec, catalan, breton, latin, basque'),
  },
  'over': {
   'partner': ["{person} et moi (on s'est|nous nous sommes|c'est|on a) (séparés|quittés|fini|rompu|terminé)",
     'fini avec {person}', 'terminé avec {person}', "{person} m' a (quitté|quittée)", 'plus avec {person}',
     'largué {person}'],
   'pet': ['{person} (est mort|est morte|nous a quittés|est parti pour toujours)', 'on a perdu {person}',
     'a dû faire piquer {person}'],
   'flatmate': ['{person} (est partie|est parti|a déménagé) .'],
  },
  'nouns': {
   'is': ('a été, ont été, est, sont, est de, est le, est maintenant, est désormais, est passé à, est passée à, passe à, '
     'a été porté à, sera, a augmenté à, est monté à, est tombé à, est repoussé au, est repoussée au, a été '
     'repoussée au, a été repoussé au, a été déplacée au, a été déplacé au, est déplacée au, est reportée au, est '
     "reporté au, a été reportée au, a été reporté au, tombe, passe au, est passée au, a lieu, c'est, est à, est au"),
   'was': 'était, étaient',
   'change': ('changé, augmenté, baissé, réduit, déplacé, déplacée, repoussé, repoussée, reporté, reportée, passé, passée, '
     'avancé, avancée, mis, porté, modifié'),
   'new': ('nouveau, nouvelle, nouvel, actuel, actuelle, propre, vrai, vraie, bon, bonne, complet, complète, mensuel, '
     'total, maximum'),
   'old': 'ancien, ancienne, vieux, vieille, précédent, précédente, ex',
  },
  'home': {
   'states': ['habiter (à|au|en|aux|dans|près de|) {place}', 'vivre (à|au|en|aux|près de) {place}'],
   'begins': ['déménager (de {old place}|) (à|au|en|pour|vers) {place}', 'emménager (à|au|en) {place}',
     'installer (à|au|en) {place}', 'quitter {old place} pour {place}', 'changer {old place} pour {place}',
     'partir vivre (à|au|en) {place}', 'partir (de {old place}|) (à|au|en|pour) {place}'],
   'ends': ['quitter {place}', 'déménager de {place}', 'partir de {place}'],
  },
  'address': {
   'states': ['habiter (au|) {address}'],
  },
  'birthplace': {
   'facts': ['naître (à|au|en) {place}', 'grandir (à|au|en) {place}', 'venir de {place}'],
  },
  'name': {
   'states': ['appeler {name}'],
  },
  'age': {
   'states': ['avoir {age} ans'],
   'begins': ['avoir eu {age} ans', 'fêter mes {age} ans'],
  },
  'employer': {
   'after_profession': ['(chez|à|pour) {org}'],
   'states': ['travailler (chez|à|au|pour) {org}', 'bosser (chez|à|au|pour) {org}', 'être employé (chez|par) {org}'],
   'begins': ['commencer (à travailler|un travail|un nouveau travail|un boulot|un nouvel emploi|) (chez|à|au) {org}',
     'rejoindre {org}', 'passer (de {old org}|) (à|chez) {org}', 'quitter {old org} pour {org}',
     'embaucher (chez|par) {org}', 'changer pour {org}',
     'avoir (un nouveau travail|un nouvel emploi|un nouveau poste|un nouveau boulot) chez {org}'],
   'ends': ['quitter {org}', 'quitter (mon travail|mon emploi|mon poste|mon boulot)',
     'quitter (mon travail|mon emploi|mon poste) (chez|à) {org}', 'démissionner', 'démissionner de (chez|) {org}',
     'perdre mon (emploi|travail|boulot)', 'licencier', 'licencier (de|par) {org}',
     'être (au chômage|à la retraite|retraité|retraitée)'],
  },
  'profession': {
   'states': ['travailler comme {thing}', 'être (un|une|) {profession}'],
   'begins': ['devenir {profession}'],
  },
  'marital status': {
   'states': ['être {marital}'],
   'begins': ['divorcer'],
  },
  'partner': {
   'after_marital status': ['(à|avec) {person}'],
   'states': ['être en couple avec {person}', 'sortir avec {person}'],
   'begins': ['marier avec {person}'],
   'ends': ['rompre avec {person}', 'séparer de {person}', 'séparer', 'divorcer de {person}', 'quitter {person}'],
  },
  'pet': {
   'states': ['avoir (un|une|deux|trois) {pet}'],
   'begins': ['adopter (un|une|deux) {pet}', 'acheter (un|une) {pet}'],
   'ends': ['{pet} mourir', 'vendre (mon|notre|le|la) {pet}'],
  },
  'diet': {
   'states': ['être {diet}', 'manger (de la|du|) {diet}'],
   'begins': ['devenir {diet}', 'passer au régime {diet}', 'remanger {diet}', 'commencer à manger {diet}',
     'recommencer à manger {diet}'],
  },
  'allergy': {
   'states': ["être allergique (à|au|aux|à la|à l'|à le) {list}", "avoir une allergie (à|au|aux|à la|à l') {list}",
     'être intolérant (à|au|à la) {list}', 'être intolérante (à|au|à la) {list}'],
  },
  'condition': {
   'states': ["avoir (du|de l'|des|le|la) [diabète|asthme|migraines|épilepsie|arthrose|maladie cœliaque]",
     'être [diabétique|asthmatique|cœliaque|coeliaque|épileptique]'],
  },
  'medication': {
   'states': ["prendre (de la|de l'|du|des) [metformine|insuline|ibuprofène|antidépresseurs|anticoagulants|statines]"],
  },
  'language': {
   'states': ['parler (|couramment|un peu|bien) {language}', "parler (couramment|bien) (le|l'|) {language}"],
  },
  'learning': {
   'states': ["apprendre (le|l'|) {language}", "apprendre (le|la|l'|à jouer du) {instrument}"],
  },
  'instrument': {
   'states': ["jouer (du|de la|de l') {instrument}", "faire (du|de la|de l') {instrument}"],
   'ends': ["arrêter (le|la|l') {instrument}", 'vendre (mon|ma|le|la) {instrument}'],
  },
  'sport': {
   'states': ['jouer (au|aux) {sport}', 'faire (du|de) {sport}'],
   'ends': ['arrêter (le|les) {sport}'],
  },
  'hobby': {
   'states': ["faire (du|de la|de l') {hobby}", 'collectionner {thing}'],
   'begins': ["commencer (le|la|l') {hobby}"],
   'ends': ["arrêter (le|la|l') {hobby}"],
  },
  'choice': {
   'states': ['préférer {thing} (à|au|aux|plutôt que|à la) {old thing}'],
  },
  'preference': {
   'states': ['préférer {thing}'],
  },
  'like': {
   'states': ['aimer {thing}', 'adorer {thing}'],
  },
  'dislike': {
   'states': ['détester {thing}'],
  },
  'smoking': {
   'states': ['fumer', 'être {smoking}'],
   'ends': ['arrêter (de fumer|la cigarette|le tabac)'],
  },
  'car': {
   'states': ['conduire une {thing}',
     'avoir une [renault|peugeot|citroën|volkswagen|toyota|tesla|audi|bmw|fiat|dacia|ford|clio|twingo]'],
   'ends': ['vendre (ma|notre|la) voiture'],
  },
  'budget': {
   'states': ['avoir un budget de {number}'],
  },
  'salary': {
   'states': ['gagner {number}'],
  },
  'rent': {
   'states': ['payer {number} de loyer'],
  },
  'weight': {
   'states': ['peser {number}'],
  },
  'commute': {
   'states': ['aller (au travail|au bureau|au boulot) en [bus|métro|vélo|voiture|train|tram]',
     'prendre le [bus|métro|vélo|train|tram|rer] pour aller (au travail|au bureau|au boulot)',
     'aller (au travail|au bureau|au boulot) à [vélo|pied]'],
  },
 },
 'it': {
  'drops_subject': True,
  'perfect_is_past': True,
  'words': {
   'skip': ('ora, adesso, attualmente, ormai, ancora, anche, già, di recente, recentemente, finalmente, davvero, molto, '
     "solo, sempre, mi, m', ti, ci, si, vi, lo, la, li, qui, lì, tra l'altro, al momento, per ora, in realtà,\n"
     '  oggi come oggi, nuovamente, di nuovo, completamente, gravemente, appena, mio marito e io, poi, infine, più, '
     'bene, stabilmente, invece'),
   'not': 'non, mai, più, non * più, né, nessun, nessuna',
   'wrong': ("mi correggo, ma che dico, no aspetta, m'è saltato, ho guardato, intendevo, ho scritto male, mi ero confuso, "
     'aspetta, volevo dire, intendevo, intendo, mi sono sbagliato, mi sono sbagliata, ho sbagliato, errore di '
     'battitura, refuso, correzione, sbagliato, sbagliata, errore mio, mi correggo, è venuto fuori, alla fine non, '
     'anzi, si è scoperto, errore'),
   'mild': ('no, scusa, scusami, scusate, in realtà, beh, è, sono, era, e, ma, ops, quello nuovo è, quello giusto è, il '
     "nuovo è, bensì, il, la, le, i, lo, l', un, una, mio, mia, che, ora è, ah, ehm, di, alle, agli, al, ai"),
   'but': 'ma, bensì',
   'instead_of': 'invece di, invece che, anziché, al posto di, e non, non',
   'who': 'che',
   'from': "da, dal, dalla, dall', di",
   'to': "a, al, alla, ad, in, per, allo, all'",
   'of': "di, del, della, da, con, presso, in, dell', per",
   'and': 'e, ed, o, oppure',
   'titles': 'dottor, dottore, dottoressa, signor, signora, dott',
   'the': "il, lo, la, i, gli, le, l'",
   'be': 'essere, stare',
   'now': 'ora, adesso, attualmente, ormai, nuovo, nuova',
   'never': ('questo, questa, ciò, che, come, tutto, niente, te, tuo, tua, casa, pace, centro, giro, affitto, campagna, '
     'notte, me, proprio, un'),
   'articles': ("il, lo, la, i, gli, le, l', un, uno, una, un', mio, mia, miei, mie, nostro, nostra, al, del, della, di, dei, "
     'delle'),
   'stop': ('perché, ma, con, per, quando, dove, che, se, come, da, fino, anche, grazie, ora, oggi, adesso, e vivo, e '
     'abito, e lavoro, e mi, e ho, e sono, e mio, è, sono, era, ho, abito, vivo, lavoro, ormai, vicino, senza, non, '
     'invece, dal,\n'
     '  anziché, bensì, e non, al posto, più, attualmente, mi, abita, vive, lavora'),
   'stop_thing': 'in, a, ad, nel, nella',
  },
  'subjects': {
   'first': 'io, noi, io e mio marito, io e mia moglie, mio marito e io, mia moglie e io',
   'own': 'mio, mia, miei, mie, nostro, nostra, nostri, nostre',
   'third': 'lui, lei, loro',
   'third_own': 'suo, sua, suoi, sue',
   'bare': 'mamma, papà, nonna, nonno',
   'relations': ('madre/mamma, padre/papà/babbo, genitori, fratello, sorella, fratelli, figlio, figlia, figli, bambino, bambina, '
     'moglie, marito, compagno, compagna, fidanzato, fidanzata, ragazzo, ragazza, nonna, nonno, nonni, zia, zio, '
     'cugino, cugina, nipote,\n'
     '  suocera, suocero, cognato, cognata, coinquilino, coinquilina, capo, collega, amico, amica, vicino, vicina, '
     'squadra, azienda, progetto, cane, gatto, gatta, ex'),
   'named_only': 'amico, amica, collega, vicino, vicina, squadra, azienda, progetto, cugino, cugina',
   'adjectives': 'grande, piccolo, piccola, maggiore, minore, migliore',
  },
  'changes': {
   'drops': ('smesso (di|con|), venduto, disdetto, lasciato, mollato, cancellato, annullato, abbandonato, perso, chiuso, '
     'licenziato da, dimesso da, dimessa da, addio (a|al|alla|), basta (con|), finito con, finita con, finita '
     '(la|il), restituito, tolto, rotto con, chiuso con, uscito da, uscita da'),
   'swaps': 'cambiato, sostituito, scambiato, passato da, passata da, barattato',
   'around': 'dato … via',
   'takes_place': 'con, per, a, al',
   'generic': 'abbonamento, contratto, conto, corso, posto, storia',
   'passes': ('è morto, è morta, morto, morta, è andato in pensione, è andata in pensione, è finito, è finita, è scaduto, è '
     "scaduta, ha chiuso, è fallito, è fallita, non c'è più, mi ha licenziato, mi ha licenziata, mi ha lasciato, mi "
     'ha lasciata, ha fatto le valigie'),
   'is_over': ('finito, finita, morto, morta, andato in pensione, andata in pensione, scaduto, scaduta, in soffitta, chiuso, '
     'chiusa, venduto, venduta, saltato, saltata, storia vecchia, al museo, acqua passata'),
   'goes': ("se n'è andato, se n'è andata, è partito, è partita, è andato via, è andata via, si è trasferito, si è "
     'trasferita, andato in pensione, andata in pensione'),
   'no_more': 'non * più, niente più, mai più, non più, nessun',
   'takes': ('mi sono buttato su, mi sono buttata su, passato (a|al), passata (a|al), mi son (presa|preso), ho preso, ho '
     'comprato, abbiamo preso, è arrivato, è arrivata, mi segue, ora (faccio|uso|ho|sono)'),
   'tells': ('(è|sono) (ora|adesso|), stiamo in, sto (al|in|a), usa, si chiama, considerami, (da oggi|ora|adesso) è, ha '
     'preso il posto di'),
   'lately': "ora, adesso, da oggi, da gennaio, ormai, nuovo, nuova, d'ora in poi, ultimamente, attualmente",
   'others': 'amico, amica, qualcuno, gente, cliente, tutti, suocero, suocera, vicino, vicina',
   'units': 'mg, ml, g, kg, km, euro, ore, ora, giorni, settimane, mesi, anni, volte, minuti',
  },
  'between': {
   'have': 'ha, hanno, è, aveva',
   'have_first': 'ho, abbiamo, sono, siamo',
   'be': 'sta, stanno',
   'be_first': 'sto, stiamo',
   'past': 'prima, una volta, in passato, da bambino, da bambina, da piccolo, da piccola, un tempo',
   'plan': 'andrà a, sta per',
   'plan_first': 'andrò a, andremo a, sto per, stiamo per, ho intenzione di, abbiamo intenzione di, conto di',
   'maybe': ('vorrei, voglio, vogliamo, vorremmo, potrei, posso, dovrei, se, forse, magari, mi piacerebbe, piacerebbe, '
     'vuole, devo, può, penso di, pensiamo di'),
   'stopped': 'ha smesso di',
   'stopped_first': 'ho smesso di, abbiamo smesso di, smetto di, non riesco più a',
  },
  'verbs': {
   'irregular': ('andare/vado andiamo|va vanno/andavo|andava/andato andata/andare, spostare/sposto sposta|/spostavo/spostato '
     'spostata/spostare, abitare/abito abitiamo | abita abitano/abitavo abitavamo | abitava '
     'abitò/abitato/abitare/abitando, vivere/vivo viviamo | vive vivono/vivevo vivevamo | '
     'viveva/vissuto/vivere/vivendo, trasferire/trasferisco trasferiamo | trasferisce trasferiscono/trasferii | '
     'trasferì/trasferito trasferita trasferiti trasferite/trasferirmi trasferirci trasferire,\n'
     '  traslocare/trasloco traslochiamo | trasloca/traslocavo | traslocò/traslocato/traslocare, lavorare/lavoro '
     'lavoriamo | lavora lavorano/lavoravo lavoravamo | lavorava/lavorato/lavorare/lavorando, chiamare/chiamo | '
     'chiama chiamano/chiamavo | chiamava/chiamato/chiamare, essere/sono siamo | è/ero eravamo | era erano/stato '
     'stata stati/essere,\n'
     '  avere/ho abbiamo | ha hanno/avevo avevamo | aveva avevano/avuto/avere, mangiare/mangio mangiamo | '
     'mangia/mangiavo | mangiava/mangiato/mangiare, parlare/parlo parliamo | parla/parlavo | '
     'parlava/parlato/parlare, suonare/suono suoniamo | suona/suonavo | suonava/suonato/suonare, giocare/gioco '
     'giochiamo | gioca/giocavo | giocava/giocato/giocare,\n'
     '  fumare/fumo | fuma/fumavo | fumava/fumato/fumare, amare/amo amiamo | ama/amavo | amava/amato/amare, '
     'adorare/adoro | adora/adoravo | adorava/adorato/adorare, odiare/odio odiamo | odia/odiavo | '
     'odiava/odiato/odiare, detestare/detesto | detesta/detestavo | detestava/detestato/detestare, '
     'preferire/preferisco preferiamo | preferisce/preferivo | preferiva/preferito/preferire,\n'
     '  piacere/| piace piacciono/| piaceva piacevano/piaciuto piaciuta/piacere, lasciare/lascio lasciamo | '
     'lascia/lasciavo | lasciò/lasciato/lasciare, cominciare/comincio | comincia/cominciavo | '
     'cominciava/cominciato/cominciare, iniziare/inizio iniziamo | inizia/iniziavo | iniziava/iniziato/iniziare, '
     'cambiare/cambio | cambia/cambiavo | cambiò/cambiato/cambiare, passare/passo passiamo | passa/passavo | '
     'passò/passato passata/passare,\n'
     '  diventare/divento | diventa/diventavo | diventò/diventato diventata diventati/diventare, fare/faccio '
     'facciamo | fa fanno/facevo | faceva/fatto/fare, nascere/| /| /nato nata/nascere, crescere/| /| /cresciuto '
     'cresciuta/crescere, sposare/| sposa/| /sposato sposata sposati/sposare sposarmi, divorziare/divorzio | '
     'divorzia/| /divorziato/divorziare, licenziare/| licenzia/| /licenziato licenziata/licenziare,\n'
     '  perdere/perdo | perde/perdevo persi | perse/perso/perdere, vendere/vendo vendiamo | vende/vendevo | '
     'vendette/venduto/vendere, comprare/compro compriamo | compra/compravo | comprò/comprato/comprare, '
     'guidare/guido | guida/guidavo | guidava/guidato/guidare, smettere/smetto | smette/| /smesso/smettere, '
     'prendere/prendo prendiamo | prende/prendevo | prese/preso/prendere, imparare/imparo | impara/| '
     '/imparato/imparare/imparando,\n'
     '  studiare/studio studiamo | studia/studiavo | studiava/studiato/studiare/studiando, dimettere/dimetto | '
     'dimette/| /dimesso dimessa/dimettermi, compiere/compio | compie/| compiva/compiuto/compiere, bere/bevo beviamo '
     '| beve/bevevo | beveva/bevuto/bere, guadagnare/guadagno | guadagna/guadagnavo | '
     'guadagnava/guadagnato/guadagnare, pagare/pago paghiamo | paga/pagavo | pagava/pagato/pagare, pesare/peso | '
     'pesa/pesavo | pesava/pesato/pesare,\n'
     '  rompere/| /| /rotto/rompere, adottare/adotto | adotta/| /adottato/adottare, morire/| muore/| morì/morto '
     'morta/morire, tornare/torno torniamo | torna/| /tornato tornata tornati/tornare, assumere/| assume/| /assunto '
     'assunta/assumere, venire/vengo | viene/| /venuto venuta/venire, collezionare/colleziono | '
     'colleziona/collezionavo | collezionava/collezionato/collezionare, convivere/convivo | convive/| '
     '/convissuto/convivere'),
  },
  'kinds': {
   'diet': ('vegano, vegana, vegani, vegetariano, vegetariana, vegetariani, pescetariano, pescetariana, onnivoro, onnivora, '
     'flessitariano, flessitariana, carne, pesce, la carne, di tutto, senza glutine, kosher, halal'),
   'marital': ('sposato, sposata, sposati, single, divorziato, divorziata, vedovo, vedova, fidanzato, fidanzata, separato, '
     'separata, celibe, nubile'),
   'smoking': 'fumatore, fumatrice, non fumatore, un fumatore',
   'profession': ('insegnante, medico, infermiere, infermiera, ingegnere, sviluppatore, sviluppatrice, programmatore, '
     'programmatrice, avvocato, avvocata, cuoco, cuoca, cameriere, cameriera, studente, studentessa, contabile, '
     'commercialista, architetto, grafico, grafica, giornalista, traduttore, traduttrice, meccanico, elettricista, '
     'idraulico, poliziotto,\n'
     '  musicista, artista, farmacista, dentista, psicologo, psicologa, commesso, commessa, autista, panettiere, '
     'parrucchiere, parrucchiera, consulente, direttore, direttrice, pensionato, pensionata, professore, '
     'professoressa, veterinario, veterinaria, fisioterapista, impiegato, impiegata, ricercatore, ricercatrice, '
     'maestro, maestra, responsabile, disoccupato, disoccupata'),
   'pet': ('cane, gatto, gatta, coniglio, criceto, cavallo, pappagallo, tartaruga, cani, gatti, cucciolo, gattino, '
     'uccello, pesce rosso, galline'),
   'instrument': ('violino, pianoforte, piano, chitarra, violoncello, basso, batteria, sassofono, flauto, tromba, clarinetto, '
     'ukulele, arpa, viola, fisarmonica, organo'),
   'sport': 'calcio, tennis, pallacanestro, basket, pallavolo, badminton, golf, hockey, padel, scacchi, rugby, poker',
   'hobby': ('yoga, pilates, judo, karate, arrampicata, nuoto, ciclismo, boxe, ceramica, fotografia, giardinaggio, surf, '
     'crossfit, canottaggio, danza, corsa, trekking, equitazione'),
   'language': ('italiano, inglese, tedesco, spagnolo, francese, portoghese, olandese, polacco, russo, cinese, giapponese, '
     'coreano, arabo, turco, svedese, danese, greco, catalano, latino'),
  },
  'over': {
   'partner': ['con {person} è (finita|finito)',
     'io e {person} (ci siamo lasciati|ci siamo lasciate|abbiamo chiuso|ci siamo separati|non stiamo più insieme)',
     '{person} e io (ci siamo lasciati|ci siamo separati)', '{person} mi ha (lasciato|lasciata)',
     'è finita con {person}', 'ho lasciato {person}', 'chiuso con {person}'],
   'pet': ["{person} (è morto|è morta|non c'è più|ci ha lasciati|ci ha lasciato)", 'abbiamo perso {person}'],
   'flatmate': ["{person} (se n'è andato|se n'è andata|si è trasferita|si è trasferito) ."],
  },
  'nouns': {
   'is': ('è, sono, è di, è il, ora è, adesso è, è diventato, è diventata, è passato a, è passata a, è salito a, è sceso '
     'a, sarà, è stato portato a, è aumentato a, è cambiato in, è stata spostata a, è stato spostato a, è stata '
     'rinviata a, è stato rinviato a, cade, è in, è alle, è fissato per, è fissata per'),
   'was': 'era, erano',
   'change': ('cambiato, cambiata, aumentato, ridotto, spostato, spostata, rinviato, rinviata, passato, passata, salito, '
     'salita, sceso, portato, alzato, abbassato, anticipata, anticipato, stata, stato'),
   'new': 'nuovo, nuova, attuale, proprio, vero, vera, giusto, giusta, completo, mensile, totale, massimo',
   'old': 'vecchio, vecchia, precedente, ex',
  },
  'home': {
   'states': ['abitare (a|ad|in|vicino a) {place}', 'vivere (a|ad|in) {place}'],
   'begins': ['trasferire (da {old place}|) (a|ad|in) {place}', 'traslocare (da {old place}|) (a|in) {place}',
     'lasciare {old place} per {place}', 'passare a vivere a {place}', 'trasferire (a|in) {place} da {old place}',
     'tornare a vivere (a|in) {place}'],
   'ends': ['lasciare {place}', 'trasferire via da {place}', 'andare via da {place}'],
  },
  'address': {
   'states': ['abitare in via {address}', 'abitare in {address}'],
  },
  'birthplace': {
   'facts': ['nascere (a|in) {place}', 'crescere (a|in) {place}', 'essere di {place}', 'venire da {place}'],
  },
  'name': {
   'states': ['chiamare {name}'],
  },
  'age': {
   'states': ['avere {age} anni'],
   'begins': ['compiere {age} (anni|)'],
  },
  'employer': {
   'after_profession': ["(presso|alla|all'|al|in|per) {org}"],
   'states': ["lavorare (per|presso|in|a|alla|all'|da|al|con) {org}"],
   'begins': ["iniziare (a lavorare|un nuovo lavoro|un lavoro|) (in|da|alla|presso|per|all') {org}",
     "cominciare (a lavorare|un nuovo lavoro|) (in|da|alla|presso|per|all') {org}", 'lasciare {old org} per {org}',
     'assumere (da|in|alla|presso) {org}', 'avere un nuovo lavoro (in|da|presso|alla) {org}'],
   'ends': ['lasciare {org}', 'lasciare (il lavoro|il mio lavoro|il posto)', "dimettere (da|dalla|dall'|) {org}",
     'dimettere', 'perdere il lavoro', 'licenziare', 'licenziare da {org}', 'lasciare il lavoro (in|da|alla) {org}'],
  },
  'profession': {
   'states': ['lavorare come {thing}', "fare (il|la|l'|lo) {profession}", 'essere (un|una|) {profession}'],
   'begins': ['diventare {profession}', 'iniziare a lavorare come {thing}'],
  },
  'marital status': {
   'states': ['essere {marital}'],
   'begins': ['divorziare', 'sposare'],
  },
  'partner': {
   'after_marital status': ['con {person}'],
   'states': ['stare con {person}', 'convivere con {person}'],
   'begins': ['sposare {person}'],
   'ends': ['lasciare con {person}', 'rompere con {person}', 'separare da {person}', 'lasciare {person}'],
  },
  'pet': {
   'states': ['avere (un|una|due|tre) {pet}'],
   'begins': ['adottare (un|una|due) {pet}', 'comprare (un|una) {pet}', 'prendere (un|una) {pet}'],
   'ends': ['{pet} morire'],
  },
  'diet': {
   'states': ['essere {diet}', 'mangiare {diet}', 'seguire una dieta {diet}'],
   'begins': ['diventare {diet}', 'tornare a mangiare {diet}', 'ricominciare a mangiare {diet}', 'iniziare a mangiare {diet}'],
  },
  'allergy': {
   'states': ["essere (allergico|allergica) (a|al|alla|ai|alle|agli|all'|allo) {list}",
     "avere (un'|) allergia (a|al|alla|ai|alle|agli|all') {list}", 'essere intollerante (a|al|alla) {list}'],
  },
  'condition': {
   'states': ["avere (il|l'|la|) [diabete|asma|emicrania|epilessia|artrite|celiachia|ipertensione]",
     'essere [diabetico|diabetica|asmatico|asmatica|celiaco|celiaca]'],
  },
  'medication': {
   'states': ["prendere (la|l'|il|gli|) [metformina|insulina|ibuprofene|antidepressivi|statine|cortisone]"],
  },
  'language': {
   'states': ["parlare (|un po' di|bene|l'|il|lo) {language}"],
  },
  'learning': {
   'states': ["imparare (l'|il|lo|a suonare il|) {language}", "studiare (l'|il|lo|) {language}"],
  },
  'instrument': {
   'states': ["suonare (il|la|l'|lo) {instrument}"],
   'ends': ["lasciare (il|la|l') {instrument}", 'vendere (il mio|la mia|il|la) {instrument}',
     'smettere con (il|la) {instrument}'],
  },
  'sport': {
   'states': ['giocare (a|al) {sport}'],
  },
  'hobby': {
   'states': ['fare {hobby}', 'praticare {hobby}', 'collezionare {thing}'],
   'begins': ['iniziare (a fare|) {hobby}'],
   'ends': ['lasciare {hobby}', 'smettere con (lo|la|il|) {hobby}'],
  },
  'choice': {
   'states': ["preferire (il|la|l'|) {thing} (a|al|alla|all'|rispetto a|rispetto al) {old thing}"],
  },
  'preference': {
   'states': ['preferire {thing}'],
  },
  'like': {
   'states': ['* piacere {thing}', 'adorare {thing}', 'amare {thing}'],
  },
  'dislike': {
   'states': ['odiare {thing}', 'detestare {thing}'],
  },
  'smoking': {
   'states': ['fumare', 'essere {smoking}'],
   'ends': ['smettere (di fumare|con il fumo)'],
  },
  'car': {
   'states': ["guidare (una|un') {thing}"],
   'ends': ['vendere (la|la mia|la nostra) (macchina|auto)', "vendere l' auto"],
  },
  'budget': {
   'states': ['avere un budget di {number}'],
  },
  'salary': {
   'states': ['guadagnare {number}'],
  },
  'rent': {
   'states': ["pagare {number} (di|d') affitto"],
  },
  'weight': {
   'states': ['pesare {number}'],
  },
  'any': {
   'begins': ['passare (da {old org}|) (a|in|alla|al) {org}'],
  },
  'commute': {
   'states': ['andare in [bici|metro|autobus|treno|macchina|auto|bus|tram] (al lavoro|in ufficio)',
     'andare a lavoro in [bici|metro|autobus|treno|macchina|auto]'],
  },
  'school': {
   'states': ["studiare (a|all'università di) {place}"],
   'begins': ["spostare (a|all'università di) {place}", "trasferire all'università di {place}"],
  },
 },
 'nl': {
  'verb_last': True,
  'perfect_is_past': True,
  'words': {
   'skip': ('nu, inmiddels, tegenwoordig, momenteel, op dit moment, eindelijk, echt, nog, nog steeds, ook, al, onlangs, '
     'pas, net, eigenlijk, trouwens, weer, alleen, heel, erg, zeer, hier, sindsdien, me, mij, mezelf, ons, zich, '
     'toch, wel, gewoon,\n'
     '  graag, helaas, voortaan, dan, er, vooral, daar, helemaal, streng, strikt, terug, weg, over, meer, ernstig, '
     'zwaar, uiteindelijk, definitief, officieel'),
   'not': 'niet, niet meer, nooit, geen, nooit meer',
   'wrong': ('ik bedoel, nee wacht, ik lees het verkeerd voor, oeps, sorry hoor, nagekeken, foutje, wacht, typfoutje, '
     'tikfoutje, ik vergiste me, ik heb me vergist, wacht, ik bedoel, ik bedoelde, bedoelde, bedoel, typfout, '
     'tikfout, vergist, fout, foutje, mijn fout, correctie, verkeerd, verkeerde, toch niet, bleek, blijkt, '
     'verschreven, verward, ik had het mis, nee wacht'),
   'mild': ('nee, sorry, eigenlijk, nou, het is, dat is, is, zijn, was, en, maar, oeps, de nieuwe is, het nieuwe is, de '
     'juiste is, het juiste is, het, de, ehm, dus, een, mijn, nummer, ik heb, moet zijn, te zijn, in'),
   'but': 'maar, wel',
   'instead_of': 'in plaats van, en niet, niet',
   'who': 'die',
   'from': 'van, vanuit, uit',
   'to': 'naar, tot, op, voor',
   'of': 'bij, van, voor, der',
   'and': 'en, of',
   'titles': 'dokter, dr, meneer, mevrouw, dhr, mevr',
   'the': 'de, het',
   'be': 'zijn',
   'now': 'nu, inmiddels, tegenwoordig, momenteel, nieuw, nieuwe, weer',
   'never': ('dit, dat, die, deze, jou, jouw, je, hem, alles, niets, wat, hoe, huis, thuis, mij, zo, leuk, gang, werk, stad, '
     'het, buurt, gezond, er'),
   'articles': "de, het, een, mijn, ons, onze, als, 't",
   'stop': ('omdat, want, maar, met, voor, als, waar, die, dat, of, toen, nadat, voordat, tot, hoewel, bedankt, nu, '
     'vandaag, ook, sinds, en ik, en we, en mijn, ik, wij, we, hij, zij, ze, het, is, zijn, was, heb, heeft, ben, '
     'wil, kan, niet, naar, van, verhuisd,\n'
     '  bij, meer, geworden, begonnen, al, momenteel, inmiddels, in plaats, te, gestopt, weer, op dit moment, '
     'tegenwoordig, om, woont, woon, werk, werkt, overgestapt, dichtbij, er, maar'),
   'stop_thing': 'in, aan, op, te',
  },
  'subjects': {
   'first': "ik, 'k, wij, we, mijn man en ik, mijn vrouw en ik, * en ik",
   'own': "mijn, m'n, ons, onze",
   'third': 'hij, zij, ze, het',
   'third_own': 'zijn, haar, hun',
   'bare': 'mama, papa, oma, opa, mam, pap',
   'possessive': 's',
   'relations': ('moeder/mama/mam/ma, vader/papa/pap/pa, ouders, broer, broers, zus/zusje, zussen, broertje, zoon, zonen, '
     'dochter, dochters, kind, kinderen, baby, vrouw/echtgenote, man/echtgenoot, partner, vriend, vriendin, '
     'verloofde, oma/grootmoeder, opa/grootvader, tante, oom, neef, nicht,\n'
     '  schoonmoeder, schoonvader, schoonzus, zwager, huisgenoot, baas, collega, buurman, buurvrouw, team, bedrijf, '
     'project, hond, kat, poes, kater, paard, ex'),
   'named_only': 'collega, buurman, buurvrouw, project, bedrijf, team, neef, nicht',
   'adjectives': 'oudere, jongere, kleine, grote, oudste, jongste, beste, lieve',
  },
  'changes': {
   'drops': ('opgezegd, verkocht, gestopt met, stopte met, opgegeven, beëindigd, geannuleerd, geschrapt, weggedaan, '
     'verlaten, ontslagen, kwijtgeraakt, afgezegd, opgeheven, uit elkaar met, gescheiden van, ingeleverd, '
     'verwijderd, weg bij, vertrokken bij, klaar met, afscheid van, ontslag genomen bij'),
   'swaps': 'ingeruild, ingewisseld, vervangen, geruild, overgestapt van, gewisseld van, verruild',
   'around': 'uit … (gestapt|gegaan), heb … (opgezegd|weggedaan)',
   'takes_place': 'voor, door, naar, tegen',
   'generic': 'abonnement, contract, rekening, cursus, baan',
   'passes': ('overleden, gestorven, failliet, opgeheven, verlopen, afgelopen, gestopt, is met pensioen, met pensioen gegaan, '
     'ingeslapen, heeft me ontslagen, heeft het uitgemaakt, mogen weer, mag weer'),
   'is_over': ('in de ijskast, uit, af, voorbij, weg, over, klaar, dood, afgelopen, verleden tijd, verkocht, opgezegd, '
     'geannuleerd, geschiedenis, naar de sloop, gesloten, dicht, eruit, in de ijskast, gestopt'),
   'goes': 'vertrokken, verhuisd, weggegaan, uit huis, eruit, met pensioen, is weg',
   'no_more': 'niet meer, geen * meer, nooit meer, niet langer, geen',
   'takes': ('overgestapt (op|naar), overgegaan naar, gekocht, heb (nu|) (een|), doe (nu|tegenwoordig), zit (nu|) (bij|op), '
     'ben (nu|) (bij|op|met), begonnen met, lid van, nu'),
   'tells': ('(het|dat|hij|zij|ze) is (nu|), (we zijn|ik ben) (nu|) (in|bij|op|), gebruik (voortaan|), heet (nu|), betalen '
     '(nu|inmiddels|), zit (op|bij), verhuisd naar, nummer'),
   'lately': 'nu, tegenwoordig, inmiddels, voortaan, sinds, vanaf, nieuw, nieuwe, momenteel, in het vervolg',
   'others': 'iemand, mensen, klant, kennis, maat, buren, iedereen, zwager',
   'units': 'mg, ml, g, kg, km, euro, uur, dagen, weken, maanden, jaar, keer, minuten',
  },
  'between': {
   'have': 'heb, hebben, heeft',
   'be': 'ben, zijn, is',
   'past': 'vroeger, ooit, destijds, toen, als kind, eerder, had, was, voorheen',
   'plan': 'ga, gaan, gaat, zal, zullen, van plan, binnenkort',
   'maybe': 'zou, zouden, wil, willen, misschien, kan, kunnen, moet, mag, als, overweeg, denk, denken, wou',
   'stopped': 'gestopt, gestopt met, ben gestopt met, stop met, ben opgehouden met, opgehouden met',
  },
  'dropped': {
   'ik': ('woon, werk, ben, heb, eet, drink, speel, rook, rijd, fiets, studeer, leer, train, sport, gebruik, haat, heet, '
     'neem, kom uit'),
  },
  'verbs': {
   'irregular': ('fietsen/fiets fietst/fietste/gefietst/fietsen, zitten/zit/zat zaten/gezeten/zitten, zijn/ben is zijn bent/was '
     'waren/geweest/zijn, wonen/woon woont wonen/woonde woonden/gewoond/wonen, leven/leef '
     'leeft/leefde/geleefd/leven, verhuizen/verhuis verhuist/verhuisde verhuisden/verhuisd/verhuizen, werken/werk '
     'werkt werken/werkte/gewerkt/werken, heten/heet heten/heette/geheten/heten, eten/eet eten/at/gegeten/eten,\n'
     '  hebben/heb heeft hebben/had hadden/gehad/hebben, houden/hou houd houdt/hield/gehouden/houden, '
     'haten/haat/haatte/gehaat/haten, spelen/speel speelt/speelde/gespeeld/spelen, spreken/spreek '
     'spreekt/sprak/gesproken/spreken, roken/rook rookt/rookte/gerookt/roken, worden/word '
     'wordt/werd/geworden/worden, beginnen/begin begint/begon/begonnen/beginnen, overstappen/stap '
     'stapt/stapte/overgestapt/overstappen,\n'
     '  gaan/ga gaat/ging/gegaan/gaan, opzeggen/zeg zegt/zegde zei/opgezegd/opzeggen, '
     'verlaten/verlaat/verliet/verlaten/verlaten, vertrekken/vertrek vertrekt/vertrok/vertrokken/vertrekken, '
     'verliezen/verlies verliest/verloor/verloren/verliezen, ontslaan/ontsla/ontsloeg/ontslagen/ontslaan, '
     'rijden/rijd rij rijdt/reed/gereden/rijden, kopen/koop koopt/kocht kochten/gekocht/kopen, verkopen/verkoop '
     'verkoopt/verkocht verkochten/verkocht/verkopen,\n'
     '  trouwen/trouw trouwt/trouwde/getrouwd/trouwen, scheiden/scheid/scheidde/gescheiden/scheiden, stoppen/stop '
     'stopt/stopte/gestopt/stoppen, opgeven/geef geeft/gaf/opgegeven/opgeven, studeren/studeer '
     'studeert/studeerde/gestudeerd/studeren, leren/leer leert/leerde/geleerd/leren, drinken/drink '
     'drinkt/dronk/gedronken/drinken, doen/doe doet/deed/gedaan/doen, nemen/neem neemt/nam/genomen/nemen, '
     'noemen/noem noemt noemen/noemde/genoemd/noemen,\n'
     '  krijgen/krijg krijgt/kreeg/gekregen/krijgen, overlijden/overlijdt/overleed/overleden/overlijden, '
     'opgroeien/groei groeit/groeide/opgegroeid/opgroeien, verdienen/verdien verdient/verdiende/verdiend/verdienen, '
     'wegen/weeg weegt/woog/gewogen/wegen, betalen/betaal betaalt/betaalde/betaald/betalen, komen/kom '
     'komt/kwam/gekomen/komen, adopteren/adopteer/adopteerde/geadopteerd/adopteren, verzamelen/verzamel '
     'verzamelt/verzamelde/verzameld/verzamelen, vinden/vind vindt/vond/gevonden/vinden'),
  },
  'kinds': {
   'diet': ('veganist, vegan, veganistisch, vegetariër, vegetarisch, pescotariër, flexitariër, glutenvrij, lactosevrij, '
     'koosjer, halal, koolhydraatarm, vlees, vis, alles'),
   'marital': 'getrouwd, single, vrijgezel, gescheiden, verloofd, weduwe, weduwnaar, uit elkaar, ongehuwd, gehuwd',
   'smoking': 'roker, rookster, niet-roker',
   'profession': ('leraar, lerares, docent, docente, arts, dokter, verpleegkundige, verpleger, ingenieur, ontwikkelaar, '
     'programmeur, advocaat, kok, ober, student, studente, boekhouder, accountant, architect, ontwerper, designer, '
     'journalist, journaliste, vertaler, monteur, elektricien, loodgieter, politieagent, brandweerman, muzikant, '
     'kunstenaar, apotheker, tandarts, psycholoog,\n'
     '  verkoper, verkoopster, chauffeur, bakker, kapper, kapster, consultant, adviseur, manager, directeur, '
     "gepensioneerd, dierenarts, fysiotherapeut, onderzoeker, timmerman, schilder, tuinman, zzp'er, projectleider, "
     'teamleider, werkloos, juf, meester'),
   'pet': ('hond, kat, poes, kater, konijn, hamster, paard, papegaai, cavia, vis, vissen, schildpad, honden, katten, '
     'puppy, kitten, vogel, kippen'),
   'instrument': ('viool, piano, gitaar, cello, bas, drums, saxofoon, fluit, dwarsfluit, trompet, klarinet, ukelele, harp, '
     'altviool, accordeon, orgel, keyboard'),
   'sport': 'voetbal, tennis, basketbal, volleybal, badminton, golf, hockey, padel, handbal, rugby, schaak, poker, korfbal',
   'hobby': ('yoga, pilates, judo, karate, klimmen, zwemmen, wandelen, hardlopen, fietsen, dansen, paardrijden, vissen, '
     'boksen, boulderen, surfen, zeilen, schaatsen, skiën, turnen'),
   'language': ('nederlands, engels, duits, frans, spaans, portugees, italiaans, pools, russisch, chinees, japans, koreaans, '
     'arabisch, turks, zweeds, deens, grieks, fries, latijn'),
  },
  'over': {
   'partner': ['uit met {person}', 'uit tussen {person} en mij',
     '{person} en ik (zijn uit elkaar|hebben het uitgemaakt|zijn gescheiden|zijn niet meer samen)',
     '{person} heeft het uitgemaakt', 'over met {person}', 'uitgemaakt met {person}'],
   'pet': ['{person} is (overleden|dood|doodgegaan|ingeslapen|er niet meer)', 'moesten {person} laten inslapen'],
   'flatmate': ['{person} is (verhuisd|uitgetrokken|vertrokken) .'],
  },
  'nouns': {
   'is': ('is, zijn, luidt, heet, is nu, is geworden, wordt, bedraagt, is verhoogd naar, is verlaagd naar, ging naar, is '
     'gestegen naar, is gedaald naar, is verzet naar, is verplaatst naar, is verschoven naar, is uitgesteld naar, '
     'valt op, ligt op, staat op, is veranderd in, werd'),
   'was': 'was, waren, luidde, heette',
   'change': ('veranderd, verhoogd, verlaagd, verzet, verplaatst, verschoven, uitgesteld, gestegen, gedaald, verhoogden, '
     'gewijzigd, opgehoogd, bijgesteld, verhoogde, gegaan, is, naar'),
   'new': 'nieuwe, nieuw, huidige, eigen, juiste, volledige, echte, maandelijkse, totale, maximale, goede, mobiele',
   'old': 'oude, oud, vorige, voormalige, eerdere',
  },
  'home': {
   'states': ['wonen (in|te|bij|op|aan) {place}', 'leven in {place}'],
   'begins': ['verhuizen (van {old place}|uit {old place}|) naar {place}', 'verhuizen naar {place}', 'gaan wonen in {place}'],
   'ends': ['vertrekken uit {place}', 'weggaan uit {place}', 'verhuizen uit {place}', 'verlaten {place}'],
  },
  'address': {
   'states': ['wonen (op|aan|aan de|in de) {address}'],
  },
  'birthplace': {
   'facts': ['opgroeien in {place}', 'komen uit {place}', 'zijn geboren in {place}', 'zijn in {place} geboren'],
  },
  'name': {
   'states': ['heten {name}'],
  },
  'nickname': {
   'states': ['^ noemen me {name}', '* noemen me {name}', '^ noemen mij {name}'],
  },
  'age': {
   'states': ['zijn {age} (jaar|jaar oud)', 'zijn {age} .'],
   'begins': ['worden {age}'],
  },
  'employer': {
   'after_profession': ['(bij|op|voor|bij de) {org}'],
   'states': ['werken (bij|voor|bij de|op de|op een|in een|in het) {org}'],
   'begins': ['beginnen (bij|bij de) {org}', 'hebben (een nieuwe baan|een baan) (bij|bij de) {org}',
     'krijgen een (nieuwe|) baan bij {org}', 'gaan (van {old org}|) naar {name} (|toe)'],
   'ends': ['vertrekken bij {org}', 'weggaan bij {org}', 'verlaten {org}', 'opzeggen mijn baan (bij {org}|)',
     'stoppen bij {org}', 'ontslaan', 'ontslaan bij {org}', 'verliezen mijn baan', 'zijn werkloos',
     'zijn met pensioen', 'hebben ontslag genomen (bij {org}|)', 'nemen ontslag (bij {org}|)'],
  },
  'profession': {
   'states': ['werken als {thing}', 'zijn {profession}', 'zijn een {profession}'],
   'begins': ['worden {profession}'],
  },
  'marital status': {
   'states': ['zijn {marital}'],
   'begins': [],
  },
  'partner': {
   'after_marital status': ['met {person}'],
   'states': ['hebben een relatie met {person}'],
   'begins': ['trouwen met {person}'],
   'ends': ['zijn uit elkaar met {person}', 'zijn niet meer samen met {person}', 'hebben het uitgemaakt met {person}'],
  },
  'pet': {
   'states': ['hebben (een|twee|drie) {pet}'],
   'begins': ['adopteren (een|twee) {pet}', 'kopen een {pet}', 'krijgen een {pet}'],
   'ends': ['{pet} overlijden'],
  },
  'diet': {
   'states': ['zijn {diet}', 'eten {diet}', 'zijn een {diet}'],
   'begins': ['worden {diet}'],
   'ends': ['stoppen met {diet}'],
  },
  'allergy': {
   'states': ['zijn allergisch voor {list}', 'zijn voor {list} allergisch', 'hebben een allergie voor {list}',
     'kunnen niet tegen {list}'],
  },
  'condition': {
   'states': ['hebben [diabetes|astma|migraine|epilepsie|reuma|coeliakie|suikerziekte|adhd|hoge bloeddruk]',
     'lijden aan {list}'],
  },
  'medication': {
   'states': ['nemen [metformine|insuline|ibuprofen|aspirine|antidepressiva|bloedverdunners|de pil]'],
  },
  'language': {
   'states': ['spreken (|vloeiend|een beetje|goed) {language}'],
  },
  'learning': {
   'states': ['leren {language}'],
  },
  'instrument': {
   'states': ['spelen {instrument}'],
   'ends': ['stoppen met {instrument} (spelen|)', 'verkopen (mijn|de) {instrument}'],
  },
  'sport': {
   'states': ['spelen {sport}'],
   'ends': ['stoppen met {sport}'],
  },
  'hobby': {
   'states': ['doen (aan|) {hobby}', 'verzamelen {bare}'],
   'begins': ['beginnen met {hobby}'],
   'ends': ['stoppen met {hobby}'],
  },
  'like': {
   'states': ['houden van {thing}'],
  },
  'dislike': {
   'states': ['haten {thing}', 'hebben een hekel aan {thing}'],
  },
  'smoking': {
   'states': ['roken', 'zijn {smoking}', 'zijn een {smoking}'],
   'ends': ['stoppen met roken'],
  },
  'car': {
   'states': ['rijden (in|) een {thing}'],
   'ends': ['verkopen (mijn|onze|de) auto'],
  },
  'budget': {
   'states': ['hebben een budget van {number}'],
  },
  'salary': {
   'states': ['verdienen {number}'],
  },
  'rent': {
   'states': ['betalen {number} huur'],
  },
  'weight': {
   'states': ['wegen {number}'],
  },
  'any': {
   'begins': ['overstappen (van {old org}|) naar (de|het|) {org}'],
  },
  'school': {
   'states': ['zitten op (de|het|) {org}'],
  },
  'commute': {
   'states': ['gaan met de [bus|trein|fiets|auto|metro|tram] naar (het werk|mijn werk|kantoor)',
     'fietsen naar (het werk|mijn werk|kantoor)', 'rijden naar (het werk|mijn werk)'],
  },
 },
 'pt': {
  'drops_subject': True,
  'perfect_is_past': True,
  'words': {
   'skip': ('agora, já, atualmente, ainda, também, hoje em dia, recentemente, finalmente, realmente, muito, só, sempre, me, '
     'te, se, nos, aqui, lá, aliás, por enquanto, de momento, no momento, na verdade, acabei de, acabamos de, '
     'completamente, de novo, novamente, oficialmente, então, bem, por fim, mais, gravemente, hoje'),
   'not': 'não, nunca, jamais, já não, nem, nenhum, nenhuma',
   'wrong': ('inverti, falei errado, que disparate, eita, quis dizer, olhei, faltou-me, digitei errado, escrevi errado, '
     'troquei os números, espera, quis dizer, queria dizer, quero dizer, me enganei, enganei-me, me confundi, erro '
     'meu, erro de digitação, correção, corrigindo, errado, errada, afinal não, afinal, na verdade era, errei, digo, '
     'melhor dizendo, engano'),
   'mild': ('não, desculpa, desculpe, perdão, na verdade, bem, é, são, era, e, mas, ops, opa, o novo é, o certo é, a certa '
     'é, o correto é, ah, o, a, os, as, um, uma, meu, minha, que, agora é, sim, senão, sinto muito'),
   'but': 'mas, sim, e sim',
   'instead_of': 'em vez de, ao invés de, no lugar de, e não, não',
   'who': 'que',
   'from': 'de, do, da, desde',
   'to': 'para, a, ao, à, pra, por',
   'of': 'de, do, da, na, no, com, em',
   'and': 'e, ou',
   'titles': 'doutor, doutora, dr, dra, senhor, senhora, sr, sra',
   'the': 'o, a, os, as',
   'be': 'ser, estar',
   'now': 'agora, já, atualmente, novo, nova',
   'never': ('isso, isto, que, como, tudo, nada, algo, você, ti, teu, seu, sua, casa, paz, geral, conta, mim, noite, muito, '
     'um, ir'),
   'articles': 'o, a, os, as, um, uma, uns, umas, meu, minha, nosso, nossa, ao, do, da',
   'stop': ('porque, mas, com, para, quando, onde, que, se, como, desde, até, embora, obrigado, obrigada, agora, hoje, '
     'também, e moro, e trabalho, e tenho, e sou, e meu, e minha, é, são, era, estou, tenho, moro, vivo, trabalho, '
     'sou, por, há, faz, perto, sem,\n'
     '  já, não, em vez, ao invés, e não, mora, trabalha, mais, no momento, de momento, atualmente'),
   'stop_thing': 'em, na, no, a',
  },
  'subjects': {
   'first': 'eu, nós, a gente, eu e meu marido, eu e minha mulher, meu marido e eu, minha esposa e eu',
   'own': 'meu, minha, meus, minhas, nosso, nossa, nossos, nossas',
   'third': 'ele, ela, eles, elas',
   'third_own': 'seu, sua, dele, dela',
   'bare': 'mamãe, papai, mãe, pai, vovó, vovô',
   'relations': ('mãe/mamãe, pai/papai, pais, irmão, irmã, irmãos, filho, filha, filhos, bebê/bebé, mulher/esposa, '
     'marido/esposo, companheiro, companheira, namorado, namorada, noivo, noiva, avó/vovó, avô/vovô, avós, tia, tio, '
     'primo, prima, sobrinho, sobrinha,\n'
     '  sogra, sogro, cunhado, cunhada, chefe, colega, amigo, amiga, vizinho, vizinha, equipe, equipa, empresa, '
     'projeto, cachorro, cachorra, cão, gato, gata, ex'),
   'named_only': 'amigo, amiga, colega, vizinho, vizinha, equipe, equipa, empresa, projeto, primo, prima',
   'adjectives': 'mais, velho, velha, novo, nova, melhor, pequeno, pequena',
  },
  'changes': {
   'drops': ('larguei, parei (de|com), vendi, vendemos, vendido, cancelei, cancelado, deixei (de|o|a|), desisti (de|do|da), '
     'abandonei, perdi, saí (de|do|da), terminei com, acabei com, separei-me de, me separei de, adeus (a|ao|), '
     'rescindi, devolvi, tirei, apaguei, despedi, pedi demissão (de|do|da), pedi as contas (em|no|na), desmarcaram, '
     'desmarquei, acabou (a|o|com)'),
   'swaps': 'troquei, trocámos, trocamos, substituí, mudei (de|do|da), passei (de|do|da), troquei de',
   'around': 'dei … embora, deixei … (caducar|vencer)',
   'takes_place': 'por, pela, pelo, para, pra, pro',
   'generic': 'assinatura, contrato, conta, curso, emprego',
   'passes': ('morreu, faleceu, fechou, acabou, terminou, expirou, caducou, caducar, faliu, reformou-se, se aposentou, '
     'aposentou-se, fugiu, fugiu e não voltou, me demitiu, despediu-me, me mandou embora'),
   'is_over': ('acabado, acabada, terminado, terminada, morto, morta, cancelado, cancelada, vendido, vendida, passado, '
     'fechado, fechada, liberado'),
   'goes': 'foi embora, saiu, mudou-se, se mudou, foi-se embora, casou e saiu, foi para',
   'no_more': 'já não, não * mais, nunca mais, sem, nada de, não mais',
   'takes': ('passei (para|pra) (o|a), inscrevi-me em, me inscrevi em, comprei, peguei (um|uma), adotamos, adotei, ganharam, '
     'agora (é|uso|faço|tenho|estou), estou (na|no|em), comecei (a|com)'),
   'tells': ('(é|são) (agora|), agora é, estamos (na|no|em), (to|tô|estou) (na|no|em), usa, use, chama-se, daqui pra frente '
     'é, virei'),
   'lately': 'agora, já, a partir de, desde, nova, novo, atualmente, ultimamente, daqui pra frente, de agora em diante',
   'others': 'amigo, amiga, alguém, gente, cliente, todos, cunhado, cunhada, sogro, sogra, vizinho, vizinha',
   'units': 'mg, ml, g, kg, km, euros, reais, horas, hora, dias, semanas, meses, anos, vezes, minutos',
  },
  'between': {
   'have': 'tem, têm',
   'have_first': 'tenho, temos',
   'be': 'está, estão, é, foi, anda',
   'be_first': 'sou, somos, estou, estamos, ando, fui',
   'past': 'antes, antigamente, no passado, quando criança, em criança, costumava',
   'past_first': 'costumava',
   'plan': 'vai, vão, pretende',
   'plan_first': 'vou, vamos, pretendo, pretendemos, planejo, planeio',
   'maybe': ('quero, queremos, queria, gostaria de, gostaria, poderia, posso, deveria, talvez, tomara, se, quer, penso em, '
     'pensamos em, estamos pensando em, estou pensando em, adoraria, tenho que'),
   'stopped': 'parou de, deixou de',
   'stopped_first': 'parei de, deixei de, paramos de, deixamos de, não consigo mais, já não posso',
  },
  'verbs': {
   'irregular': ('ir/vou vamos|vai vão/ia fui|foi/ido/ir, morar/moro moramos | mora moram/morei morava moramos | morou morava '
     'moravam/morado/morar/morando, viver/vivo vivemos | vive vivem/vivi vivia | viveu viviam/vivido/viver/vivendo, '
     'residir/resido residimos | reside/residi residia | residiu/residido/residir, mudar/mudo mudamos | muda '
     'mudam/mudei mudamos mudei-me mudámos mudamo-nos | mudou mudaram mudou-se/mudado/mudar mudar-me/mudando,\n'
     '  trabalhar/trabalho trabalhamos | trabalha trabalham/trabalhei trabalhava | '
     'trabalhou/trabalhado/trabalhar/trabalhando, chamar/chamo chamo-me | chama chama-se/chamava | '
     'chamava/chamado/chamar, ser/sou somos | é são/fui era | foi eram/sido/ser/sendo, estar/estou estamos | está '
     'estão/estive estava | esteve/estado/estar, ter/tenho temos | tem têm/tive tinha | teve tinham/tido/ter,\n'
     '  comer/como comemos | come comem/comi comia | comeu/comido/comer/comendo, falar/falo falamos | fala '
     'falam/falei falava | falou/falado/falar, tocar/toco tocamos | toca tocam/toquei tocava | '
     'tocou/tocado/tocar/tocando, jogar/jogo jogamos | joga jogam/joguei jogava | jogou/jogado/jogar/jogando, '
     'fumar/fumo fumamos | fuma/fumei fumava | fumou/fumado/fumar, amar/amo amamos | ama/amei amava | '
     'amou/amado/amar,\n'
     '  adorar/adoro adoramos | adora/adorei adorava | adorou/adorado/adorar, gostar/gosto gostamos | gosta '
     'gostam/gostei gostava | gostou/gostado/gostar, odiar/odeio odiamos | odeia/odiei odiava | odiou/odiado/odiar, '
     'detestar/detesto | detesta/detestei | detestou/detestado/detestar, preferir/prefiro preferimos | '
     'prefere/preferi preferia | preferiu/preferido/preferir, deixar/deixo | deixa/deixei deixamos | '
     'deixou/deixado/deixar, largar/largo | larga/larguei largamos | largou/largado/largar,\n'
     '  sair/saio | sai/saí saímos | saiu/saído/sair, começar/começo começamos | começa/comecei começamos | '
     'começou/começado/começar, trocar/troco | troca/troquei trocamos | trocou/trocado/trocar, passar/passo | '
     'passa/passei passamos | passou/passado/passar, virar/viro | vira/virei viramos | virou/virado/virar, '
     'tornar/torno | torna/tornei tornei-me | tornou/tornado/tornar, fazer/faço fazemos | faz fazem/fiz fazia | '
     'fez/feito/fazer/fazendo, nascer/nasço | nasce/nasci | nasceu/nascido/nascer,\n'
     '  crescer/cresço | cresce/cresci | cresceu/crescido/crescer, casar/caso | casa/casei casamos casei-me | '
     'casou/casado/casar, divorciar/| /divorciei divorciamos divorciei-me | divorciou/divorciado/divorciar, '
     'separar/| /separei separamos | separou/separado/separar, terminar/termino | termina/terminei terminamos | '
     'terminou/terminado/terminar, perder/perco | perde/perdi | perdeu/perdido/perder, vender/vendo vendemos | '
     'vende/vendi vendemos | vendeu/vendido/vender, comprar/compro compramos | compra/comprei compramos | '
     'comprou/comprado/comprar,\n'
     '  dirigir/dirijo | dirige/dirigi dirigia | dirigiu/dirigido/dirigir, conduzir/conduzo | conduz/conduzi | '
     'conduziu/conduzido/conduzir, parar/paro | para/parei paramos | parou/parado/parar, pedir/peço | pede/pedi | '
     'pediu/pedido/pedir, demitir/| /| demitiu/demitido demitida/demitir, despedir/| /despedi despedi-me | '
     'despediu/despedido despedida/despedir, completar/completo | completa/completei | '
     'completou/completado/completar, aprender/aprendo | aprende/aprendi | aprendeu/aprendido/aprender/aprendendo,\n'
     '  estudar/estudo estudamos | estuda/estudei estudava | estudou/estudado/estudar/estudando, tomar/tomo | '
     'toma/tomei tomava | tomou/tomado/tomar, beber/bebo | bebe/bebi bebia | bebeu/bebido/beber, ganhar/ganho | '
     'ganha/ganhei ganhava | ganhou/ganhado ganho/ganhar, pagar/pago pagamos | paga/paguei pagava | '
     'pagou/pago/pagar, pesar/peso | pesa/pesei pesava | pesou/pesado/pesar, adotar/adoto | adota/adotei adotamos | '
     'adotou/adotado/adotar, morrer/| morre/| morreu/morrido morto/morrer, voltar/volto | volta/voltei voltamos | '
     'voltou/voltado/voltar, entrar/entro | entra/entrei | entrou/entrado/entrar, vir/venho | vem/vim | '
     'veio/vindo/vir, colecionar/coleciono | coleciona/colecionei colecionava | colecionou/colecionado/colecionar'),
  },
  'kinds': {
   'diet': ('vegano, vegana, veganos, vegetariano, vegetariana, vegetarianos, pescetariano, pescetariana, flexitariano, '
     'flexitariana, onívoro, onívora, carne, peixe, de tudo, sem glúten, kosher, halal'),
   'marital': ('casado, casada, casados, solteiro, solteira, divorciado, divorciada, viúvo, viúva, noivo, noiva, separado, '
     'separada'),
   'smoking': 'fumante, fumador, fumadora, não fumante, não fumador, ex-fumante',
   'profession': ('professor, professora, médico, médica, enfermeiro, enfermeira, engenheiro, engenheira, desenvolvedor, '
     'desenvolvedora, programador, programadora, advogado, advogada, cozinheiro, cozinheira, garçom, garçonete, '
     'estudante, contador, contadora, contabilista, arquiteto, arquiteta, designer, jornalista, tradutor, '
     'tradutora,\n'
     '  mecânico, eletricista, encanador, policial, polícia, bombeiro, músico, artista, farmacêutico, farmacêutica, '
     'dentista, psicólogo, psicóloga, vendedor, vendedora, motorista, padeiro, padeira, cabeleireiro, cabeleireira, '
     'consultor, consultora, gerente, diretor, diretora, aposentado, aposentada, reformado, reformada, veterinário, '
     'veterinária, fisioterapeuta, pesquisador, pesquisadora, autônomo, autônoma, desempregado, desempregada'),
   'pet': ('cachorro, cachorra, cão, gato, gata, coelho, hamster, cavalo, papagaio, peixe, tartaruga, cachorros, cães, '
     'gatos, filhote, gatinho, pássaro, galinhas'),
   'instrument': ('violino, piano, guitarra, violão, violoncelo, baixo, bateria, saxofone, flauta, trompete, clarinete, ukulele, '
     'harpa, viola, acordeão, órgão, teclado'),
   'sport': ('futebol, tênis, ténis, basquete, basquetebol, vôlei, voleibol, badminton, golfe, hóquei, padel, xadrez, '
     'handebol, rugby, pôquer'),
   'hobby': ('yoga, ioga, pilates, judô, judo, caratê, karaté, escalada, natação, ciclismo, boxe, cerâmica, fotografia, '
     'jardinagem, surfe, surf, crossfit, remo, dança, corrida, trilha, teatro'),
   'language': ('português, inglês, alemão, espanhol, francês, italiano, holandês, polonês, russo, chinês, japonês, coreano, '
     'árabe, turco, sueco, dinamarquês, grego, catalão, latim'),
  },
  'over': {
   'partner': ['eu e (o|a|) {person} (terminamos|nos separamos|acabamos|rompemos|separamos)',
     '(o|a|) {person} e eu (terminamos|nos separamos|acabamos|rompemos)', 'acabei com (o|a) {person}',
     'terminei com (o|a) {person}', '(o|a) {person} terminou comigo', 'não estou mais com (o|a) {person}',
     'acabou com (o|a) {person}'],
   'pet': ['(o|a|) {person} (morreu|faleceu|se foi|virou estrelinha)', 'perdemos (o|a) {person}'],
   'flatmate': ['(o|a|) {person} (se mudou|saiu de casa|foi embora) .'],
  },
  'nouns': {
   'is': ('é, são, é de, é o, é a, agora é, passou a ser, passou para, subiu para, caiu para, baixou para, aumentou para, '
     'foi para, será, foi aumentado para, foi adiada para, foi adiado para, foi transferida para, mudou para, está '
     'em, foi remarcada para, foi remarcado para, cai, fica em, foi alterado para, passa para'),
   'was': 'era, eram',
   'change': ('mudou, aumentou, aumentamos, subiu, subimos, caiu, baixou, baixamos, reduzimos, mudei, mudamos, alterei, '
     'adiado, adiada, passou, adiamos, troquei, foi, transferido, transferida, remarcada, remarcado, passa'),
   'new': 'novo, nova, atual, próprio, verdadeiro, certo, certa, correto, completo, mensal, total, máximo',
   'old': 'antigo, antiga, velho, velha, anterior, ex',
  },
  'home': {
   'states': ['morar (em|no|na|no|perto de) {place}', 'viver (em|no|na) {place}', 'residir (em|no|na) {place}'],
   'begins': ['mudar (de {old place}|do {old place}|) (para|pra|para o|para a) {place}', 'trocar {old place} por {place}',
     'deixar {old place} por {place}', 'ir morar (em|no|na) {place}'],
   'ends': ['deixar {place}', 'sair de {place}', 'mudar de {place}'],
  },
  'address': {
   'states': ['morar (na rua|na avenida) {address}'],
  },
  'birthplace': {
   'facts': ['nascer (em|no|na) {place}', 'crescer (em|no|na) {place}', 'ser (de|do|da) {place}'],
  },
  'name': {
   'states': ['chamar {name}'],
  },
  'age': {
   'states': ['ter {age} anos'],
   'begins': ['fazer {age} (anos|)', 'completar {age} (anos|)'],
  },
  'employer': {
   'after_profession': ['(na|no|em|da|do) {org}'],
   'states': ['trabalhar (na|no|em|para a|para o|para|com) {org}'],
   'begins': ['começar (a trabalhar|um emprego|um novo emprego|um trabalho novo|) (na|no|em) {org}',
     'trocar {old org} por {org}', 'trocar a {old org} pela {org}',
     'mudar (da {old org}|do {old org}|) (para a|para o) {org}', 'entrar (na|no) {org}',
     'ter um (novo emprego|emprego novo) (na|no|em) {org}', 'passar (da {old org}|) para a {org}'],
   'ends': ['deixar (a|o|) {org}', 'sair (da|do|de) {org}', 'deixar (o emprego|meu emprego|o meu emprego|o trabalho)',
     'largar (o emprego|meu emprego|o trabalho)', 'perder (o emprego|meu emprego|o meu emprego|o trabalho)',
     'pedir demissão (da|do|) {org}', 'pedir demissão', 'demitir', 'demitir (da|do) {org}', 'despedir (da|do) {org}',
     'despedir'],
  },
  'profession': {
   'states': ['trabalhar como {thing}', 'ser (um|uma|) {profession}'],
   'begins': ['virar {profession}', 'tornar {profession}', 'começar a trabalhar como {thing}'],
  },
  'marital status': {
   'states': ['ser {marital}', 'estar {marital}'],
   'begins': ['casar', 'divorciar', 'separar'],
  },
  'partner': {
   'after_marital status': ['com {person}'],
   'states': ['namorar com {person}'],
   'begins': ['casar com {person}'],
   'ends': ['terminar com {person}', 'separar de {person}', 'divorciar de {person}'],
  },
  'pet': {
   'states': ['ter (um|uma|dois|duas|três) {pet}'],
   'begins': ['adotar (um|uma|dois) {pet}', 'comprar (um|uma) {pet}'],
   'ends': ['{pet} morrer'],
  },
  'diet': {
   'states': ['ser {diet}', 'comer {diet}', 'seguir uma dieta {diet}'],
   'begins': ['virar {diet}', 'tornar {diet}', 'voltar a comer {diet}', 'começar a comer {diet}'],
  },
  'allergy': {
   'states': ['ser (alérgico|alérgica) (a|ao|à|aos|às) {list}', 'ter alergia (a|ao|à|aos|às) {list}',
     'ser intolerante (a|à|ao) {list}'],
  },
  'condition': {
   'states': ['ter [diabetes|asma|enxaqueca|epilepsia|artrite|ansiedade|hipertensão|doença celíaca]',
     'ser [diabético|diabética|celíaco|celíaca|asmático|asmática]'],
  },
  'medication': {
   'states': ['tomar [metformina|insulina|ibuprofeno|antidepressivos|anticoagulantes|estatinas]'],
  },
  'language': {
   'states': ['falar (|um pouco de|bem) {language}'],
  },
  'learning': {
   'states': ['aprender {language}', 'estudar {language}'],
  },
  'instrument': {
   'states': ['tocar (o|a|) {instrument}'],
   'ends': ['largar (o|a) {instrument}', 'vender (meu|minha|o|a|o meu|a minha) {instrument}', 'deixar (o|a) {instrument}'],
  },
  'sport': {
   'states': ['jogar {sport}'],
   'ends': ['largar o {sport}'],
  },
  'hobby': {
   'states': ['fazer {hobby}', 'praticar {hobby}', 'colecionar {thing}'],
   'begins': ['começar (a fazer|na|no|) {hobby}'],
   'ends': ['largar (a|o|) {hobby}', 'deixar (a|o) {hobby}'],
  },
  'choice': {
   'states': ['preferir {thing} (a|ao|à|em vez de) {old thing}'],
  },
  'preference': {
   'states': ['preferir {thing}'],
  },
  'like': {
   'states': ['gostar (de|do|da|dos|das) {thing}', 'adorar {thing}', 'amar {thing}'],
  },
  'dislike': {
   'states': ['odiar {thing}', 'detestar {thing}'],
  },
  'smoking': {
   'states': ['fumar', 'ser {smoking}'],
   'ends': ['parar de fumar', 'deixar de fumar', 'largar o cigarro'],
  },
  'car': {
   'states': ['dirigir um {thing}', 'conduzir um {thing}'],
   'ends': ['vender (o|meu|o meu|nosso|o nosso) carro'],
  },
  'budget': {
   'states': ['ter um orçamento de {number}'],
  },
  'salary': {
   'states': ['ganhar {number}'],
  },
  'rent': {
   'states': ['pagar {number} de (aluguel|renda)'],
  },
  'weight': {
   'states': ['pesar {number}'],
  },
  'commute': {
   'states': ['ir de [metrô|ônibus|carro|bicicleta|trem|carona|bike|moto|autocarro|comboio] (pro trampo|para o trabalho|pro '
     'trabalho|com|)'],
  },
 },
}

TIMES: dict[str, Any] = {
 'de': {
  'numbers': 'ein/eine/einem/einer/einen, zwei, drei, vier, fünf, sechs, sieben, acht, neun, zehn, elf, zwölf',
  'months': 'januar/jänner, februar, märz, april, mai, juni, juli, august, september, oktober, november, dezember',
  'weekdays': ('montag/montags, dienstag/dienstags, mittwoch/mittwochs, donnerstag/donnerstags, freitag/freitags, '
    'samstag/samstags, sonntag/sonntags'),
  'seasons': 'frühling/frühjahr, sommer, herbst, winter',
  'units': 'tag/tage/tagen, woche/wochen, monat/monate/monaten, jahr/jahre/jahren',
  'days': {
   'vorgestern': -2,
   'gestern': -1,
   'heute': 0,
   'morgen': 1,
   'übermorgen': 2,
  },
  'relative': {
   'ago': 'vor {n} {unit}',
   'ahead': 'in {n} {unit}',
   'last': '(letzte|letzten|letzter|letztes|vergangene|vergangenen|vorige|vorigen|voriges) {of}',
   'this': '(diese|diesen|dieser|dieses|diesem) {of}',
   'next': '(nächste|nächsten|nächster|nächstes|kommende|kommenden|kommendes) {of}',
   'lasting': 'seit {n} {unit}',
  },
  'words': {
   'since': 'seit, seit dem, ab, ab dem, seit anfang, seit ende',
   'until': 'bis, bis zum, bis ende, bis anfang',
   'by': 'vor dem',
   'on': 'am, im, in, anfang, ende, mitte, vom, zum, der, den, jeden, auf, für, vom',
   'of': 'des jahres',
   'ordinal': '',
  },
  'search': {
   'language': 'german',
   'skipped': 'der, den, dem, des, die, das',
   'unsure': 'mai',
   'on': 'während, nach',
  },
 },
 'en': {
  'numbers': 'a/an/one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve',
  'months': ('january/jan, february/feb, march/mar, april/apr, may, june/jun, july/jul, august/aug, september/sept/sep, '
    'october/oct,\n'
    '  november/nov, december/dec'),
  'weekdays': ('monday/mondays, tuesday/tue/tues/tuesdays, wednesday/wednesdays, thursday/thu/thurs/thursdays, '
    'friday/fri/fridays, saturday/saturdays, sunday/sundays'),
  'seasons': 'spring/springtime, summer/summertime, autumn/fall, winter',
  'units': 'day/days, week/weeks, month/months, year/years',
  'month_first': True,
  'days': {
   'the day before yesterday': -2,
   'yesterday': -1,
   'last night': -1,
   'today': 0,
   'tonight': 0,
   'this morning': 0,
   'tomorrow': 1,
   'the day after tomorrow': 2,
  },
  'relative': {
   'ago': '{n} {unit} ago, {n} {unit} back',
   'ahead': 'in {n} {unit}, {n} {unit} from now',
   'last': '(last|this past) {of}',
   'this': 'this {of}',
   'next': 'next {of}, this coming {of}, the coming {of}',
   'lasting': ('for {n} {unit}, for the (last|past) {n} {unit}, (|for |over |in )the (last|past) {unit}, (|for |over |in )the '
     '(last|past) {n} {unit}, for (over|about|almost|nearly) {n} {unit}, {n} {unit} now'),
  },
  'words': {
   'since': 'since, ever since, as of, starting, starting from, beginning, from',
   'until': 'until, till, til, up to, through',
   'by': 'by, before',
   'on': ('on, on the, in, at, back in, early in, around, the, in early, in late, in mid, for, the end of, end of, at the '
     'end of, the start of, the beginning of, until the end of, by the end of, mid, late, early'),
   'of': 'of',
   'ordinal': 'st, nd, rd, th',
  },
  'search': {
   'language': 'english',
   'skipped': 'of, the',
   'unsure': 'may, march',
   'on': 'during, after, early, late, mid',
  },
 },
 'es': {
  'numbers': 'un/una/uno, dos, tres, cuatro, cinco, seis, siete, ocho, nueve, diez, once, doce',
  'months': 'enero, febrero, marzo, abril, mayo, junio, julio, agosto, septiembre/setiembre, octubre, noviembre, diciembre',
  'weekdays': 'lunes, martes, miércoles/miercoles, jueves, viernes, sábado/sábados/sabado, domingo/domingos',
  'seasons': 'primavera, verano, otoño, invierno',
  'units': 'día/días, semana/semanas, mes/meses, año/años',
  'days': {
   'anteayer': -2,
   'ayer': -1,
   'anoche': -1,
   'hoy': 0,
   'mañana': 1,
   'pasado mañana': 2,
  },
  'relative': {
   'ago': 'hace {n} {unit}',
   'ahead': 'dentro de {n} {unit}, en {n} {unit}',
   'last': '(el|la) {of} (pasado|pasada), (el|la) (pasado|pasada) {of}',
   'this': '(este|esta) {of}',
   'next': '(el|la) (próximo|próxima) {of}, (el|la) {of} que viene',
   'lasting': 'desde hace {n} {unit}, hace {n} {unit} que',
  },
  'words': {
   'since': 'desde, desde el, a partir de, a partir del, desde principios de',
   'until': 'hasta, hasta el, hasta finales de',
   'by': 'antes de, antes del, para el',
   'on': 'en, el, los, a principios de, a finales de, en el, del, al, para, de',
   'of': 'de, del',
   'ordinal': 'º',
  },
  'search': {
   'language': 'spanish',
   'skipped': 'de, del, el, la, los',
   'unsure': 'mayo, julio, domingo',
   'on': 'durante, tras',
  },
 },
 'fr': {
  'numbers': 'un/une, deux, trois, quatre, cinq, six, sept, huit, neuf, dix, onze, douze',
  'months': ('janvier, février/fevrier, mars, avril, mai, juin, juillet, août/aout, septembre, octobre, novembre, '
    'décembre/decembre'),
  'weekdays': ('lundi/lundis, mardi/mardis, mercredi/mercredis, jeudi/jeudis, vendredi/vendredis, samedi/samedis, '
    'dimanche/dimanches'),
  'seasons': 'printemps, été, automne, hiver',
  'units': 'jour/jours, semaine/semaines, mois, an/ans/année/années',
  'days': {
   'avant-hier': -2,
   'hier': -1,
   'hier soir': -1,
   "aujourd'hui": 0,
   'demain': 1,
   'après-demain': 2,
  },
  'relative': {
   'ago': 'il y a {n} {unit}',
   'ahead': 'dans {n} {unit}',
   'last': "(|le |la |l'){of} (dernier|dernière|passé|passée)",
   'this': '(ce|cette|cet) {of}',
   'next': "(|le |la |l'){of} (prochain|prochaine)",
   'lasting': 'depuis {n} {unit}, pendant {n} {unit}',
  },
  'words': {
   'since': 'depuis, depuis le, à partir de, à partir du, dès, depuis début, depuis fin',
   'until': "jusqu'à, jusqu'en, jusqu'au, jusque",
   'by': "avant le, d'ici",
   'on': 'en, le, les, au, début, fin, au mois de, du, pour, au début de, de',
   'of': 'de',
   'ordinal': 'er',
  },
  'search': {
   'language': 'french',
   'skipped': 'de, du, d, l, le, la, les',
   'unsure': 'mars',
   'own': 'hier, an, été',
   'on': 'pendant, durant, après, mi',
  },
 },
 'it': {
  'numbers': 'un/uno/una, due, tre, quattro, cinque, sei, sette, otto, nove, dieci, undici, dodici',
  'months': 'gennaio, febbraio, marzo, aprile, maggio, giugno, luglio, agosto, settembre, ottobre, novembre, dicembre',
  'weekdays': 'lunedì/lunedi, martedì/martedi, mercoledì/mercoledi, giovedì/giovedi, venerdì/venerdi, sabato, domenica',
  'seasons': 'primavera, estate, autunno, inverno',
  'units': 'giorno/giorni, settimana/settimane, mese/mesi, anno/anni',
  'days': {
   "l'altro ieri": -2,
   'ieri': -1,
   'ieri sera': -1,
   'oggi': 0,
   'domani': 1,
   'dopodomani': 2,
  },
  'relative': {
   'ago': '{n} {unit} fa',
   'ahead': 'tra {n} {unit}, fra {n} {unit}',
   'last': "(|il |la |l'|lo ){of} (scorso|scorsa|passato|passata), (lo scorso|la scorsa) {of}",
   'this': "(questo|questa|quest') {of}",
   'next': "(|il |la |l'){of} (prossimo|prossima), (il prossimo|la prossima) {of}",
   'lasting': 'da {n} {unit}, per {n} {unit}',
  },
  'words': {
   'since': "da, dal, dall', dalla, a partire da, a partire dal",
   'until': 'fino a, fino al, fino alla, finché',
   'by': 'entro, entro il, prima di, prima del',
   'on': "a, ad, in, nel, nell', il, l', lo, la, di, per, al, per il, dal, alla, del, inizio, fine, a fine, a inizio",
   'of': "del, di, dell'",
   'ordinal': '°',
  },
  'search': {
   'language': 'italian',
   'skipped': 'di, del, dell, il, lo, la, l',
   'own': 'estate',
   'on': 'durante, dopo',
  },
 },
 'ja': {
  'search': {
   'phrases': {
    'おととい': 'the day before yesterday',
    '一昨日': 'the day before yesterday',
    '昨日': 'yesterday',
    'きのう': 'yesterday',
    '昨夜': 'yesterday',
    '先週': 'last week',
    '今週': 'this week',
    '先月': 'last month',
    '今月': 'this month',
    '去年': 'last year',
    '昨年': 'last year',
    '今年': 'this year',
    '春に': 'in spring',
    '春は': 'in spring',
    '夏は': 'in summer',
    '秋は': 'in autumn',
    '冬は': 'in winter',
    '春の': 'in spring',
    '夏に': 'in summer',
    '夏の': 'in summer',
    '夏休み': 'in summer',
    '秋に': 'in autumn',
    '秋の': 'in autumn',
    '冬に': 'in winter',
    '冬の': 'in winter',
    '月曜': 'on monday',
    '火曜': 'on tuesday',
    '水曜': 'on wednesday',
    '木曜': 'on thursday',
    '金曜': 'on friday',
    '土曜': 'on saturday',
    '日曜': 'on sunday',
   },
  },
 },
 'nl': {
  'numbers': 'een/één, twee, drie, vier, vijf, zes, zeven, acht, negen, tien, elf, twaalf',
  'months': 'januari, februari, maart, april, mei, juni, juli, augustus, september, oktober, november, december',
  'weekdays': ('maandag/maandags, dinsdag/dinsdags, woensdag/woensdags, donderdag/donderdags, vrijdag/vrijdags, '
    'zaterdag/zaterdags, zondag/zondags'),
  'seasons': 'lente/voorjaar, zomer, herfst/najaar, winter',
  'units': 'dag/dagen, week/weken, maand/maanden, jaar/jaren',
  'days': {
   'eergisteren': -2,
   'gisteren': -1,
   'vandaag': 0,
   'morgen': 1,
   'overmorgen': 2,
  },
  'relative': {
   'ago': '{n} {unit} geleden',
   'ahead': 'over {n} {unit}',
   'last': '(vorige|vorig|afgelopen) {of}',
   'this': '(deze|dit) {of}',
   'next': '(volgende|volgend|komende|aanstaande) {of}',
   'lasting': 'al {n} {unit}, sinds {n} {unit}',
  },
  'words': {
   'since': 'sinds, vanaf, sedert',
   'until': 'tot, tot en met, tot eind',
   'by': 'voor, uiterlijk',
   'on': 'op, in, begin, eind, op de, de, van, naar, halverwege',
   'of': 'van',
   'ordinal': 'e',
  },
  'search': {
   'language': 'dutch',
   'skipped': 'de, het, van',
   'unsure': 'mei',
   'own': 'lente',
   'on': 'tijdens, na',
  },
 },
 'pt': {
  'numbers': 'um/uma, dois/duas, três/tres, quatro, cinco, seis, sete, oito, nove, dez, onze, doze',
  'months': 'janeiro, fevereiro, março/marco, abril, maio, junho, julho, agosto, setembro, outubro, novembro, dezembro',
  'weekdays': ('segunda/segunda-feira/segundas, terça/terça-feira/terças, quarta/quarta-feira/quartas, '
    'quinta/quinta-feira/quintas, sexta/sexta-feira/sextas, sábado/sábados, domingo/domingos'),
  'seasons': 'primavera, verão, outono, inverno',
  'units': 'dia/dias, semana/semanas, mês/meses/mes, ano/anos',
  'days': {
   'anteontem': -2,
   'ontem': -1,
   'hoje': 0,
   'amanhã': 1,
   'depois de amanhã': 2,
  },
  'relative': {
   'ago': 'há {n} {unit} atrás, {n} {unit} atrás, faz {n} {unit}',
   'ahead': 'daqui a {n} {unit}, em {n} {unit}',
   'last': '(|no |na |a |o ){of} (passado|passada), (no|na) (último|última) {of}',
   'this': '(este|esta|neste|nesta) {of}',
   'next': '(|no |na |o |a )(próximo|próxima) {of}, (|no |na |o |a ){of} que vem',
   'lasting': 'há {n} {unit}, por {n} {unit}, desde há {n} {unit}',
  },
  'words': {
   'since': 'desde, desde o, a partir de, desde a',
   'until': 'até, até o, até ao, até a',
   'by': 'antes de, antes do',
   'on': 'em, no, na, dia, no dia, a, ao, de, da, do, para, para a, para o, o, início de, fim de, à, às',
   'of': 'de, do',
   'ordinal': 'º',
  },
  'search': {
   'language': 'portuguese',
   'skipped': 'de, do, da, o, a, feira',
   'unsure': 'marco, segunda, terça, quarta, quinta, sexta',
   'on': 'durante, após',
  },
 },
 'ru': {
  'months': ('январь/января/январе, февраль/февраля/феврале, март/марта/марте, апрель/апреля/апреле, май/мая/мае, '
    'июнь/июня/июне,\n'
    '  июль/июля/июле, август/августа/августе, сентябрь/сентября/сентябре, октябрь/октября/октябре, '
    'ноябрь/ноября/ноябре, декабрь/декабря/декабре'),
  'weekdays': 'понедельник, вторник, среду/среда, четверг, пятницу/пятница, субботу/суббота, воскресенье',
  'seasons': 'весной/весна/весны/весну, летом/лето/лета, осенью/осень/осени, зимой/зима/зимы/зиму',
  'units': 'день/дня/дней, неделю/неделе/неделя/недели, месяц/месяца/месяце, год/года/году',
  'days': {
   'позавчера': -2,
   'вчера': -1,
   'сегодня': 0,
   'завтра': 1,
  },
  'relative': {
   'last': '(прошлый|прошлая|прошлое|прошлого|прошлой|прошлом|прошлую|прошлым) {of}',
   'this': '(этот|эта|это|этого|этой|этом|эту|этим) {of}',
  },
  'words': {
   'since': 'с, со',
   'until': 'до',
   'by': 'к',
   'on': 'в, во, на, за',
   'of': '',
   'ordinal': 'го',
  },
  'search': {
   'language': 'russian',
   'unsure': 'марта, мая, мае, среда',
  },
 },
 'zh': {
  'search': {
   'phrases': {
    '前天': 'the day before yesterday',
    '昨天': 'yesterday',
    '昨日': 'yesterday',
    '昨晚': 'yesterday',
    '上周': 'last week',
    '上星期': 'last week',
    '上个星期': 'last week',
    '上礼拜': 'last week',
    '上个礼拜': 'last week',
    '这周': 'this week',
    '本周': 'this week',
    '这星期': 'this week',
    '这个星期': 'this week',
    '这礼拜': 'this week',
    '上个月': 'last month',
    '上月': 'last month',
    '这个月': 'this month',
    '本月': 'this month',
    '去年': 'last year',
    '今年': 'this year',
    '春天': 'in spring',
    '春季': 'in spring',
    '夏天': 'in summer',
    '夏季': 'in summer',
    '秋天': 'in autumn',
    '秋季': 'in autumn',
    '冬天': 'in winter',
    '冬季': 'in winter',
    '周一': 'on monday',
    '周二': 'on tuesday',
    '周三': 'on wednesday',
    '周四': 'on thursday',
    '周五': 'on friday',
    '周六': 'on saturday',
    '周日': 'on sunday',
    '星期一': 'on monday',
    '星期二': 'on tuesday',
    '星期三': 'on wednesday',
    '星期四': 'on thursday',
    '星期五': 'on friday',
    '星期六': 'on saturday',
    '星期天': 'on sunday',
    '星期日': 'on sunday',
    '十一月': '11月',
    '十二月': '12月',
    '十月': '10月',
    '一月': '1月',
    '二月': '2月',
    '三月': '3月',
    '四月': '4月',
    '五月': '5月',
    '六月': '6月',
    '七月': '7月',
    '八月': '8月',
    '九月': '9月',
    '三个月': 'three months',
    '前年': '',
   },
  },
 },
}

-- What short facts about people and their work are mostly about, in English, German, Spanish and French: "Is a
-- vegetarian" and "Loves steak" share no word, and small embedding models see little more in them than in unrelated
-- facts.

-- The topics of a memory by its words (memory._claim_words()), such as "+diet".
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
      ('birth', 'born birthday birthplace geboren geburt% nació nací nacid_ cumpleaños né née naissance anniversaire'),
      ('diet', 'vegetari% vegan% végét% végan% meat steak% beef pork ham bacon sausage% chicken lamb burger% barbecue'
        ' fleisch% schnitzel wurst würst% schinken speck hähnchen carne jamón bistec chuleta% pollo cerdo cordero'
        ' chorizo viande% bœuf boeuf jambon poulet porc saucisson agneau omnivor%'),
      ('alcohol', 'alcohol% wine beer whisky sober teetotal% alkohol% wein bier% schnaps abstinent% vino cerveza%'
        ' abstemi_ alcool% vin bière% sobre'),
      ('smoking', 'smok% cigar% tobacco rauch% geraucht nichtraucher% zigar% tabak fuma fumo fuman fumar fume fumer'
        ' fumador% fumeu% tabac%'),
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
      ('answers', 'answer% reply replies response% antwort% respuesta% contest% réponse% répond%'),
      ('car', 'car cars drive drives driving driver% vehicle auto autos wagen führerschein coche% conduc% carné'
        ' voiture% permis conduire conduit automobile'),
      ('bicycle', 'bike% bicycl% cycl% rad fahrrad radfahr% bici% vélo%'),
      ('railway', 'train trains rail% bahn% zug züge tren trenes ferrocarril'),
      ('flying', 'fly flies flying flight% plane planes flieg% flug% vuelo% volar avión aviones avion avions'),
      ('milk', 'milk lactose dairy cheese yog% milch% laktose% käse leche lactosa lácteo% queso lait laitier%'
        ' fromage%'),
      ('nuts', 'nut nuts peanut% almond% walnut% hazelnut% nuss nüsse erdn% haselnuss% nueces secos almendra%'
        ' cacahuete% avellana% noix noisette% amande% cacahuète% arachide%'),
      ('seafood', 'fish shellfish shrimp% prawn% seafood lobster fisch% garnelen meeresfr% marisco% gamba% pescado%'
        ' langostino% poisson% crevette% crustacé%'),
      ('coffee', 'coffee espresso decaf kaffee% café cafés'),
      ('heights', 'height% dizz% acrophob% schwindel% höhen% altura% vértigo vertige% hauteur%'),
      ('swimming', 'swim% schwimm% nada nado nadar natación nager nage natation'),
      ('running', 'jog% running runner marathon laufen läufer% correr corredor_ maratón courir coureu%'),
      ('teaching', 'teach% lehrer% unterricht% profesor_ maestr_ enseñ% enseign% professeur%'),
      ('medicine', 'doctor physician arzt ärztin médico médica médecin% médecine nurse% kranken% enfermer_ infirmi%'),
      ('database', 'db database% postgres% mysql mariadb sqlite mongodb datenbank%'),
      ('cluster', 'kubernetes k8s cluster%')) as t (topic, patterns)
    where exists (select from unnest(p_words) as w where w like any (string_to_array(t.patterns, ' '))));
end;
$$;

-- Which relatives a memory names, such as "sibling sister": a fact about a brother never says the same as one about a
-- sister, nor contradicts that.
create or replace function memory._relatives(p_words text[])
returns text[]
language plpgsql immutable parallel safe
as $$
begin
  return array(
    select r.relative
    from (values
      ('sibling brother', 'brother brothers bruder brüder hermano hermanos frère frères'),
      ('sibling sister', 'sister sisters schwester schwestern hermana hermanas sœur sœurs soeur soeurs'),
      ('parent mother', 'mother mum mom mutter mama madre mère maman'),
      ('parent father', 'father dad vater papa padre père'),
      ('child son', 'son sons sohn söhne hijo fils'),
      ('child daughter', 'daughter daughters tochter töchter hija hijas fille filles'),
      ('grandparent mother', 'grandmother grandma großmutter oma abuela'),
      ('grandparent father', 'grandfather grandpa großvater opa abuelo')) as r (relative, words)
    where p_words && string_to_array(r.words, ' '));
end;
$$;

"""Dutch: only what tells questions and suppositions apart. Its statements are found by phrases of lists/ alone."""

from __future__ import annotations

from .language import Language

DUTCH = Language(
    name="Dutch",
    code="nl",
    needs_subject=True,
    has_inversion=True,
    common="""
    de, het, een, en, van, ik, is, niet, dat, op, te, zijn, met, voor, die, maar, om, aan, ook, er, naar, heb, je, mijn,
    ben, bij, wat, nog, wel, geen, uit, hij, ze, dan, hoe, kan, kun, jij, woon, woont, werk, werkt, hou, mij, me, deze,
    heeft, wij, we, nu, meer, ons, onze, heet, nee, ja, was, mag, jouw, hebben, sinds, jaar
    """,
    fillers="en, ook, hoi, hallo, hey, goedemorgen, goedenavond, dag, oké, ok, dus, nou, eigenlijk, trouwens, ja, nee",
    clause_words="als, omdat, want, maar, hoewel, terwijl, toen, of, zodat, zodra",
    subject="ik, wij, we, ik heb, ik ben",
    own="mijn, m'n, ons, onze",
    other="jij, je, u, hij, zij, ze, het, dat, dit, deze, iemand, niemand, men",
    articles="de, het, een",
    ask="^(wat|welke|wie|waar|wanneer|waarom|hoe|is|zijn|heb|heeft|kan|kun|zal|mag|moet|weet)",
    request="""
    kun je, kan je, kunt u, wil je, zou je, help me, vertel me, laat me, geef me, ik wil graag, ik zoek, ik vraag me af,
    bedankt, dank je, ^(schrijf|vertaal|leg|geef|maak|zoek|controleer|noem|stel|lees|corrigeer)
    """,
    suppose="""
    als (ik|we|wij|je|hij|ze|het|mijn), indien, misschien, wellicht, zou, zouden, stel dat, ik wou, ik hoop, hopelijk,
    ik denk, ik dacht, ik geloof, in het boek, in de film, in mijn droom, alsof
    """,
    reported="""
    stel je voor, zegt, zei, zeggen, zeiden, vertelde, vertelt, beweert, vroeg, schreef, schrijft, volgens, men zegt
    """,
)

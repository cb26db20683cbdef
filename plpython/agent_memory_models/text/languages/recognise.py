"""Which language a message is in, by its commonest words and its letters."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from .tables import LANGUAGES, Language

MAX_WORDS = 400
"""So many words of a message tell its language."""
MAX_CHARACTERS = 20_000
_WORD = re.compile(r"[^\W\d_]+")
_USUAL = 0.5
"""The points of the language that most of the thread is in."""
_ENOUGH = 1.5
_MUCH_MORE = 1.2
"""The least points of a language without a table, and how many times the points of any language with a table."""

# The commonest words of languages without a table, so that a message in one of them is not taken for another one.
_OTHERS = {
    "Polish": """
        i w na nie się jest to że z do mam jestem mój moja moje ale jak po co dla przez od czy tak jej jego są był mnie
        mi już tylko może lubię mieszkam pracuję oraz bardzo
    """,
    "Turkish": """
        ve bir bu da için ben çok ne var mi değil ile ama daha gibi benim sen kadar olarak yok evet o şey bana nasıl
        istiyorum yaşıyorum çalışıyorum seviyorum adım mı
    """,
    "Swedish": """
        och jag är att det som en på i har inte med för av till den vi min mitt men om ett så du kan bor från mycket när
        arbetar gillar mina
    """,
    "Danish or Norwegian": """
        og jeg er det at en på i har ikke med for av af til den vi min mitt mit men om et så du kan bor fra meget når
        hva hvad hvor arbejder jobber mine liker
    """,
    "Finnish": """
        ja on ei että minä olen se en mutta kun niin myös minun ovat oli hän tai joka asun työskentelen kanssa vain mitä
        pidän mikä voi sinä
    """,
    "Czech or Slovak": """
        a se na je to že v jsem ne my můj moje ale jak do pro mám si co už tak jsou byl bydlím pracuji rád ráda som nie
        mám môj aj ako sa pracujem
    """,
    "Romanian": """
        și în de la nu un o este pe cu am mea meu sunt din pentru care mai ce că să eu dar la mi au lucrez locuiesc îmi
        place foarte
    """,
    "Hungarian": """
        a az és nem egy hogy van én is de meg csak vagyok nekem ez azt mert már ha még szeretem élek lakom dolgozom
        egyik nagyon vagy volt
    """,
    "Catalan": """
        el la els les de i que en un una és no per amb em meu meva sóc tinc però més molt visc treballo m'agrada als
        aquest aquesta soc amb
    """,
    "Indonesian or Malay": """
        saya yang dan di ini itu dengan untuk tidak ada dari aku ke adalah akan bisa juga sudah tinggal suka kerja nama
        bekerja kami kamu apa
    """,
    "Vietnamese": """
        tôi là và của có không một cho với ở người được các trong này đã những thích làm sống tên việc rất mình
    """,
}


class Recognised(NamedTuple):
    """The language of a text, or the name of a language without a table; neither where nothing tells."""

    language: Language | None
    unknown: str | None


NOTHING = Recognised(None, None)


def recognise_all(texts: Sequence[str]) -> list[Recognised]:
    """The language of each message of a thread. One that does not tell it is in the language of most others.

    If nothing tells a language, the text counts as English.
    """
    alone = [recognise(text) for text in texts]
    told = Counter(found for found in alone if found != NOTHING)
    usual = told.most_common(1)[0][0] if told else Recognised(LANGUAGES[0], None)
    return [usual if found == NOTHING else recognise(text, usual) for text, found in zip(texts, alone, strict=True)]


def recognise(text: str, usual: Recognised = NOTHING) -> Recognised:
    """The language of a text. `usual` is the language of the other messages of its thread."""
    # The words of addresses are in no language.
    written = " ".join(part for part in text[:MAX_CHARACTERS].split() if "@" not in part and "://" not in part)
    words = [word.lower() for word in _WORD.findall(written)[:MAX_WORDS]]
    if script := _foreign_script(words):
        return Recognised(None, script)
    points = dict.fromkeys([*(language.name for language in LANGUAGES), *_OTHERS], 0.0)
    for word in words:
        for name, value in _votes().get(word, ()):
            points[name] += value
    usual_name = usual.unknown or (usual.language and usual.language.name)
    if usual_name in points:
        points[usual_name] += _USUAL
    ours = max(LANGUAGES, key=lambda language: points[language.name])
    other = max(_OTHERS, key=lambda name: points[name])
    if points[other] >= max(_ENOUGH, _MUCH_MORE * points[ours.name]):
        return Recognised(None, other)
    return Recognised(ours, None) if points[ours.name] else NOTHING


@cache
def _votes() -> dict[str, list[tuple[str, float]]]:
    """Maps each word to the languages that have it, each with its points: fewer if more languages have the word."""
    common = {language.name: language.common_words for language in LANGUAGES}
    common |= {name: frozenset(words.split()) for name, words in _OTHERS.items()}
    known: dict[str, dict[str, float]] = {}
    for language in LANGUAGES:
        for word in language.words:
            known.setdefault(word, {})[language.name] = 0.5
    for name, words in common.items():
        for word in words:
            known.setdefault(word, {})[name] = 1.0
    return {
        word: [(name, value / len(languages)) for name, value in languages.items()] for word, languages in known.items()
    }


def _foreign_script(words: list[str]) -> str | None:
    """The script of most words if this is not the Latin one."""
    scripts = Counter(unicodedata.name(word[0], "?").partition(" ")[0] for word in words)
    if not scripts:
        return None
    [(script, count)] = scripts.most_common(1)
    if script in ("LATIN", "FEMININE", "MASCULINE", "FULLWIDTH", "?") or 2 * count <= len(words):
        return None
    return f"a language in {'Chinese' if script == 'CJK' else script.capitalize()} letters"

"""Facts that a noun names: "my budget is 900", "my sister's phone changed to 555", "teal is my favourite colour".

One rule serves every attribute of lists/attributes.toml: an owner, what tells two of a kind apart, the noun, a word
such as "is" or "changed to", and a value of the attribute's kind.
"""

from __future__ import annotations

from typing import NamedTuple

from .lists import ATTRIBUTES
from .matching import Text, Value
from .subjects import USER, People, Subject

_KINDS = {"number": ("number", "address")}
_MAX_QUALIFIERS = 3


class NounFact(NamedTuple):
    """What a noun names: its words, whose it is, the attribute, its values, and what is said about it.

    `content` is a statement of its own where the sentence only takes it for granted: "My GP: Dr Osei".
    """

    start: int
    end: int
    subject: str
    attribute: str
    value: Value | None
    old: str | None
    status: str
    content: str | None = None


def noun_fact(text: Text, at: int, subjects: dict[int, Subject], people: People) -> NounFact | None:
    """The fact of the noun phrase that begins at a word; without a value if the sentence only names it."""
    owner = _owner(text, at, subjects, people)
    if owner is None:
        return None
    subject, place, how = owner
    lists, qualifiers, is_old = text.lists, list[str](), False
    if how == "own" and (model := _model(text, at, place, subject)):
        return model
    noun = None
    while place < len(text.words) and noun is None:
        word = text.words[place]
        is_told = qualifiers and lists.is_.longest(text.words, place)  # "der Zahnarzt heißt Ley"
        if not is_told and (found := lists.nouns.longest(text.words, place)):
            following = lists.nouns.longest(text.words, found[0])
            if following and not lists.is_.longest(text.words, found[0]):  # "my dentist appointment"
                qualifiers.append(text.span(place, found[0]))
                found = following
            place, noun = found
        elif compound := next(
            (each for each in lists.prefixes if word.text.startswith(each[0]) and len(word.text) > len(each[0]) + 2),
            None,
        ):
            qualifiers.append(word.text.removeprefix(compound[0]))
            place, noun = place + 1, (compound[1], "")
        elif word.text in lists.single["old"]:
            place, is_old = place + 1, True
        elif word.text in lists.single["new"]:
            place += 1
        elif qualifiers and how != "bare" and _tells(text, at, place):
            return _unlisted(text, at, place, subject, " ".join(qualifiers).lower(), how)
        elif not word.text[0].isalnum() or len(qualifiers) == 2 or lists.stop.longest(text.words, place):
            return None
        else:
            qualifiers.append(text.span(place, place + 1))
            place += 1
    if qualifiers and at in subjects and subject == USER and text.word(at) in lists.single["own"]:
        return None  # "my brother Joss lives in Bern"
    if text.word(place) in ("'", "’"):  # "my kids' school"
        return None
    if noun is None or (
        how != "own"
        and ATTRIBUTES[noun[0]].get("shared") not in (True, how)
        and not (noun[0] in text.known and text.begins(at) and not text.text.endswith("?"))
    ):
        return None
    attribute = ATTRIBUTES[noun[0]]
    skipped = lists.skip.longest(text.words, place)
    if skipped and text.word(skipped[0] - 1) not in lists.single["to"]:  # "my editor of choice", but not "up to 900"
        place = skipped[0]
    if attribute.get("of"):
        place = place if qualifiers else _of_favourite(text, place, qualifiers)
        if not qualifiers:
            return None
    elif text.word(place) in lists.single["of"]:
        subject, place = _of(text, place, subject, qualifiers, subjects, people)
    if (gone := _gone(text, place)) and qualifiers and ATTRIBUTES[noun[0]]["values"] == "many":
        # "my pollen allergy is gone"
        where = next(n for n, word in enumerate(text.words) if text.text[word.start : word.end] == qualifiers[0])
        return NounFact(at, gone, subject, noun[0], Value(where, where + len(qualifiers)), None, "denied")
    name = f"{noun[0]}/{' '.join(qualifiers)}" if qualifiers else noun[0] + noun[1]
    if attribute.get("of"):
        name = name.lower()
        name = name.replace("color", "colour") if lists.language == "en" else name
    start = at
    kind = attribute.get("kind", "text")
    if kind in ("text", "name", "person", "place") and how == "own" and (before := _before(text, at, kind)):
        value, old = before
        return NounFact(value.start, place, subject, name, value, old, "holds")
    said = _said(text, at, place, kind)
    if said is None and kind == "date" and (said := _said(text, at, place, "number")):
        name += "/time"  # "the stand-up is at 9:30"
    if said is None and kind == "person" and how == "own" and not is_old and (told := _apposed(text, place)):
        content = f"{text.span(at, place)}: {text.of(told)}"
        return NounFact(start, told.end, subject, name, told, None, "holds", content[0].upper() + content[1:])
    if said is None:
        is_named = how != "bare" or text.word(place) in lists.single["change"]  # "email changed, it's …"
        return NounFact(start, place, subject, name, None, None, "named") if is_named else None
    value, old, effects = said
    status = "denied" if "not" in effects else "ended" if is_old or "was" in effects else "holds"
    return NounFact(start, value.end, subject, name, value, old, status)


def _tells(text: Text, at: int, place: int) -> bool:
    """Whether what stands behind a noun phrase can tell its value: "my postcode is", "they moved my slot to"."""
    lists, words = text.lists, text.words
    if (
        lists.is_.longest(words, place)
        or lists.was.longest(words, place)
        or words[place].text in lists.single["change"]
    ):
        return True
    helper = lists.between.longest(words, place, -1)
    if helper and helper[0] == place - 1 and helper[1] in ("have", "be"):
        return any(text.word(behind) in lists.single["change"] for behind in (place + 1, place + 2))
    return words[place].text in lists.single["to"] and _is_changed(text, at)


def _is_changed(text: Text, at: int) -> bool:
    """Whether a verb of change stands before a noun phrase: "they moved my slot"."""
    return any(text.word(before) in text.lists.single["change"] for before in (at - 1, at - 2))


def _model(text: Text, at: int, place: int, subject: str) -> NounFact | None:
    """What somebody owns by its model's name: "my Corsa" is a car."""
    lists = text.lists
    while text.word(place) in lists.single["new"]:
        place += 1
    for name, kind in lists.models.items():
        for value in text.values(kind, place):
            noun = ATTRIBUTES[name.partition("/")[0]][lists.language][0] if "/" not in name else name.partition("/")[2]
            content = f"{text.span(at, at + 1)} {noun}: {text.of(value)}"
            content = content[0].upper() + content[1:]
            return NounFact(at, value.end, subject, name, value, None, "holds", content)
    return None


def _apposed(text: Text, place: int) -> Value | None:
    """The name behind a noun: "my GP, Dr Osei"."""
    place += text.word(place) == ","
    return next(text.values("person", place), None)


def _unlisted(text: Text, at: int, place: int, subject: str, name: str, how: str) -> NounFact | None:
    """A fact of an attribute that no list has, if its value is a number, date or name: "my postcode is SW1A 1AA"."""
    if text.lists.relations.longest(text.words, at + 1) or name.split()[-1] in text.lists.single["no_noun"]:
        return None
    is_ours = how == "own" or name in text.known
    for kind in ("number", "person", "date") if is_ours else ("date",):
        if said := _said(text, at, place, kind):
            value, old, effects = said
            status = "holds" if not effects else "ended" if "was" in effects else "denied"
            return NounFact(at, value.end, subject, name, value, old, status)
    return None


def _gone(text: Text, place: int) -> int | None:
    """The place behind "is gone"."""
    copula = text.lists.is_.longest(text.words, place) or text.lists.was.longest(text.words, place)
    place = copula[0] if copula else place
    while place < len(text.words) and (skipped := text.lists.skip.longest(text.words, place)):
        place = skipped[0]
    return place + 1 if copula and text.word(place) in text.lists.single["gone"] else None


def _owner(text: Text, at: int, subjects: dict[int, Subject], people: People) -> tuple[str, int, str] | None:
    """Whose thing begins at a word: the subject, the place behind it, and `own`, `the` or `bare`: nothing says so."""
    single, subject = text.lists.single, subjects.get(at)
    if subject and subject.name != USER and text.word(subject.end) in single["possessive"]:
        return subject.name, subject.end + 1, "own"
    if text.word(at) in single["own"]:
        return USER, at + 1, "own"
    if text.word(at) in single["third_own"] and people.last:
        return people.last, at + 1, "own"
    if text.word(at) in single["the"]:
        following = at + (text.word(at + 1) in single["own"])
        return USER, following + 1, "the" if following == at else "own"
    begins = at == 0 or not text.word(at - 1)[0].isalnum() or text.lists.skip.longest(text.words, at - 1)
    if (
        begins
        and text.word(at)[0].isalnum()
        and (text.lists.nouns.longest(text.words, at) or text.word(at) in single["new"])
    ):
        return USER, at, "bare"
    return None


def _of_favourite(text: Text, place: int, qualifiers: list[str]) -> int:
    """The place behind the words that say of which kind: "favourite colour"."""
    lists = text.lists
    while place < len(text.words) and len(qualifiers) < _MAX_QUALIFIERS:
        word = text.words[place].text
        if not word[0].isalnum() or lists.is_.longest(text.words, place) or lists.was.longest(text.words, place):
            break
        if lists.skip.longest(text.words, place) or lists.stop.longest(text.words, place) or text.is_time[place]:
            break
        qualifiers.append(word)
        place += 1
    return place


def _of(
    text: Text, place: int, subject: str, qualifiers: list[str], subjects: dict[int, Subject], people: People
) -> tuple[str, int]:
    """Whose thing or of what it is, behind the noun: "the number of my sister", "my customer number at Telco"."""
    owner = subjects.get(place + 1)
    if owner and owner.name in people.relations.values():
        return owner.name, owner.end
    for value in text.values("thing", place + 1):
        if value.end - value.start < _MAX_QUALIFIERS and not qualifiers:
            qualifiers.append(text.span(value.start, value.end))
            return subject, value.end
    return subject, place


def _before(text: Text, at: int, kind: str) -> tuple[Value, str | None] | None:
    """The new and the old value of "Teal is my favourite colour" and "Ana replaced Joe as my GP"."""
    lists, words = text.lists, text.words
    for end in range(max(1, at - 4), at):
        is_told = any((found := tree.longest(words, end)) and found[0] == at for tree in (lists.is_, lists.becomes))
        if is_told:
            if text.word(end - 1) in lists.single["third"] and kind == "person":  # "to Dr Osei, she took over as my GP"
                named = [value for start in range(end) for value in text.values("person", start)]
                return (named[0], None) if named else None
            return (value, None) if (value := _ending(text, end, kind)) else None
    if kind == "person" and lists.becomes_after.longest(words, at - 1):
        for end in range(at - 2, max(0, at - 6), -1):
            if (found := lists.replaces.longest(words, end)) and (value := _ending(text, end, kind)):
                return value, text.span(found[0], at - 1)
    return None


def _ending(text: Text, end: int, kind: str) -> Value | None:
    """The value that ends before a word."""
    start = end
    while start and text.word(start - 1)[0].isalnum() and end - start < 3:
        start -= 1
    if kind == "person":
        while start < end and not text.words[start].is_capitalised:
            start += 1
    first = text.word(start)
    if start == end or first in text.lists.single["never"] or first in text.lists.subject_words:
        return None
    return Value(start, end)


def _said(text: Text, at: int, place: int, kind: str) -> tuple[Value, str | None, set[str]] | None:
    """The new and the old value behind a noun, and what the words before them do."""
    lists, words = text.lists, text.words
    changes = _is_changed(text, at)
    if lists.verb_last:  # "wir haben das Budget auf 1300 erhöht"
        changes = changes or any(word.text in lists.single["change"] for word in words[place:])
    effects: set[str] = set()
    is_said = False
    while place < len(words):
        word = words[place].text
        if found := lists.was.longest(words, place):
            is_longer = (other := lists.is_.longest(words, place)) and other[0] > found[0]
            place, is_said = (other if is_longer and other else found)[0], True
            effects |= set() if is_longer else {"was"}
        elif found := lists.is_.longest(words, place):
            place, is_said = found[0], True
        elif word == ":":
            place, is_said = place + 1, True
        elif word in lists.single["from"] or (word in lists.single["to"] and changes):
            is_said = is_said or changes
            break
        elif word in lists.single["change"]:
            place, is_said = (
                place + 1,
                kind == "date" or text.word(place + 1) in lists.single["to"] | lists.single["from"],
            )
        elif no := (is_said and lists.negation.longest(words, place)):
            place = no[0]
            effects.add("not")
        elif kind == "date" and text.is_time[place]:
            break
        elif skipped := lists.skip.longest(words, place):
            place = skipped[0]
            is_said = is_said or (changes and text.word(place - 1) in lists.single["to"])  # "put the rent up to 900"
        elif (
            (
                (helper := lists.between.longest(words, place, -1))
                and helper[0] == place - 1
                and helper[1] in ("have", "be")
            )
            or text.is_time[place]
            or (word in lists.single["to"] and is_said)
        ):
            place += 1
        else:
            break
    if not (is_said or (changes and kind == "date")):
        return None
    found_value = _date(text, place) if kind == "date" else _value(text, kind, place)
    return (*found_value, effects) if found_value else None


def _date(text: Text, place: int) -> tuple[Value, str | None] | None:
    told = [time for time in text.times if place < len(text.words) and time.end > text.words[place].start]
    if place < len(text.words) and not text.is_time[place]:  # "the train was late this morning"
        first = text.words[place]
        if first.text.isalpha() and not first.is_capitalised and not text.lists.stop.longest(text.words, place):
            single = text.lists.single
            if first.text not in single["stop_thing"] | single["to"] | single["from"] | single["articles"]:
                return None
    if not told:
        return None
    places = [number for number, word in enumerate(text.words) if told[-1].bare <= word.start < told[-1].end]
    old = (
        text.text[told[0].bare : told[0].end]
        if len(told) > 1 and text.word(places[0] - 1) in text.lists.single["to"]
        else None
    )
    return Value(places[0], places[-1] + 1), old


def _value(text: Text, kind: str, place: int) -> tuple[Value, str | None] | None:
    single, old = text.lists.single, None
    if text.word(place) in single["from"]:
        ends = [value.end for value in text.values("text", place + 1) if text.word(value.end) in single["to"]]
        behind = next(
            (n for n in range(place + 1, min(place + 6, len(text.words))) if text.word(n) in single["to"]), None
        )
        if ends or behind:
            end = ends[0] if ends else behind or place
            old, place = text.span(place + 1, end), end
    while text.word(place) in single["to"]:
        place += 1
    for each in _KINDS.get(kind, (kind,)):
        for value in text.values(each, place):
            return value, old
    return None

"""Statements of people about themselves: facts, preferences, and how certain they are.

One engine serves all languages; languages/ has a table of words for each. A clause in which the writer speaks gets a
point. It gets two for a verb that tells a lasting thing ("I live in"), for being or liking something, and for a phrase
that is a fact in any sentence ("my name is"); one for fitting nouns, times, relatives and habits. It loses two points
for a passing state, and one for the work at hand. One point makes a statement, or two where only "my" tells that it is
about the writer. Clauses that ask, request, suppose or report never do.

The confidence is a fixed judgement that grows with the points. It is not a measured probability, and none reaches 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .languages import Language
from .languages.language import Match, Token, tokens_of
from .phrases import is_and, is_filler
from .sentences import split_sentences

MAX_SENTENCE_CHARACTERS = 1000
"""A longer "sentence" is pasted text rather than a statement."""
ENOUGH_POINTS = 1

_BREAKS = frozenset(",;:—–()…")
_QUOTED = re.compile(
    r"\"[^\"]*(?:\"|$)|“[^”]*(?:”|$)|«[^»]*(?:»|$)|„[^“”]*(?:[“”]|$)"
    r"|(?<!\w)['‘](?:[^'‘’]|['’](?=\w))*['’](?!\w)"  # with a letter on both sides it is an apostrophe
)
_ASKS = re.compile(r"[?？][\"'”’)\] ]*$")
_OF_ITS_OWN = (
    *("subject", "own", "strong", "weak", "tastes", "likes", "be", "facts", "favourites", "standing", "hints"),
    *("third", "ask", "request", "suppose", "reported", "clause_words"),
)
"""A clause without a phrase of these groups goes on with the clause before: "I sleep badly, mostly four hours"."""
_TRIMMED = " ,;:—–-("


class Statement(NamedTuple):
    """A sentence or the clauses of it that state something, its type, and confidence and importance from 0 to 1."""

    content: str
    memory_type: str
    confidence: float
    importance: float


class _Clause(NamedTuple):
    """Part of a sentence: its tokens, where its phrases are, and where it begins behind words that say nothing."""

    tokens: list[Token]
    matches: list[Match]
    begins: int


class Sentence(NamedTuple):
    """A sentence of a message.

    Attributes:
        text: as written.
        unquoted: the same with blanks in place of quotations; empty if the sentence is too long to be read.
        statement: what it states, if anything.
        void: the places, begin and end, of suppositions, of what others said, and of material.
        asked: those of questions and requests, which may take something for granted: "a letter to my GP, Dr Osei".
    """

    text: str
    unquoted: str
    statement: Statement | None
    void: list[tuple[int, int]]
    asked: list[tuple[int, int]]

    def is_void(self, start: int, end: int, is_aside: bool = False) -> bool:
        """Whether the words from one place to another state nothing, or take nothing for granted."""
        return any(begins < end and start < ends for begins, ends in self.void + ([] if is_aside else self.asked))


def statements_in(text: str, language: Language) -> Iterator[Statement]:
    """The statements of a message, one for each sentence at most."""
    return (sentence.statement for sentence in sentences_in(text, language) if sentence.statement)


def sentences_in(text: str, language: Language) -> Iterator[Sentence]:
    """The sentences of a message. Text behind a request with a colon is material."""
    for sentence in split_sentences(text):
        clauses = _clauses(sentence, language)
        unquoted = _unquoted(sentence) if clauses else ""
        void = list(_void(sentence, clauses, language))
        yield Sentence(
            sentence,
            unquoted,
            _statement(sentence, clauses, language),
            [(begin, end) for begin, end, asks in void if not asks],
            [(begin, end) for begin, end, asks in void if asks],
        )
        if sentence.rstrip().endswith(":") and any(_has(clause, "request") for clause in clauses):
            return


def _void(sentence: str, clauses: list[_Clause], language: Language) -> Iterator[tuple[int, int, bool]]:
    asks = _ASKS.search(sentence) is not None
    for position, clause in enumerate(clauses):
        begin, end = clause.tokens[0].start, clause.tokens[-1].end
        if (asks and position == len(clauses) - 1) or _has(clause, "request", "ask"):
            is_about_material = sentence[end:].lstrip().startswith(":")
            places = [place for place, match in enumerate(clause.matches) if "request" in match or "ask" in match]
            if places and places[0] > 2 and is_and(clause.tokens[places[0] - 1].text, language.code):
                begin = clause.tokens[places[0]].start  # "I live in Kassel and need a hint"
            yield begin, len(sentence) if is_about_material else end, not is_about_material
        if _is_reported(clause):
            yield begin, len(sentence), False
            return
        supposed = next((place for place, match in enumerate(clause.matches) if "suppose" in match), None)
        if supposed is not None:
            yield clause.tokens[supposed].start, end, False


def _unquoted(sentence: str) -> str:
    return _QUOTED.sub(lambda match: " " * len(match[0]), sentence)


def _statement(sentence: str, clauses: list[_Clause], language: Language) -> Statement | None:
    if len(sentence) > MAX_SENTENCE_CHARACTERS:
        return None
    # The question is the last clause, unless one says by its words that it asks.
    asks = _ASKS.search(sentence) is not None and not any(_has(clause, "ask", "request") for clause in clauses)
    was_asked = False
    kept: list[_Clause] = []
    best, is_preference = 0, False
    for position, clause in enumerate(clauses):
        if _is_reported(clause):
            break
        follows = position == 0 or was_asked or sentence.endswith("?")
        was_asked = _has(clause, "request") or (follows and _has(clause, "ask"))
        if was_asked or (asks and position == len(clauses) - 1):
            if kept and best >= ENOUGH_POINTS:
                break
            kept, best = [], 0
            if _has(clause, "request") and sentence[clause.tokens[-1].end :].lstrip().startswith(":"):
                break
            continue
        kept.append(clause)
        points, likes = (0, False) if _has(clause, "suppose") else _points(clause, language)
        if points > best:
            best, is_preference = points, likes
    if best < ENOUGH_POINTS:
        return None
    whole = len(kept) == len(clauses)
    content = sentence if whole else sentence[kept[0].tokens[0].start : kept[-1].tokens[-1].end].strip(_TRIMMED)
    return Statement(
        content,
        "preference" if is_preference else "fact",
        round(min(0.9, 0.3 + 0.15 * best), 2),
        0.6 if is_preference else min(0.8, 0.4 + 0.1 * best),
    )


def _clauses(sentence: str, language: Language) -> list[_Clause]:
    if len(sentence) > MAX_SENTENCE_CHARACTERS:
        return []
    unquoted = _unquoted(sentence)
    parts: list[list[Token]] = [[]]
    tokens = tokens_of(unquoted)
    for position, token in enumerate(tokens):
        if token.text in _BREAKS or (token.text == "-" and unquoted[token.start - 1 : token.end + 1] == " - "):
            parts.append([])
            continue
        if parts[-1]:
            match = language.match(tokens, position, begins_clause=False)
            if "clause_words" in match:
                parts.append([])
        if token.text[0].isalnum():
            parts[-1].append(token)
    parts = [part for part in parts if part]
    if (
        len(parts) > 1
        and unquoted[parts[0][-1].end :].startswith(":")
        and is_filler(unquoted[: parts[0][-1].end], language.code)
    ):
        parts = parts[1:]  # "update: Hannah moved out" requests nothing
    joined: list[list[Token]] = []
    for part in parts:
        goes_on = not _has(_matched(part, language), *_OF_ITS_OWN)
        if joined and goes_on and not (part is parts[-1] and _ASKS.search(sentence)):
            joined[-1].extend(part)
        else:
            joined.append(list(part))
    return [_matched(part, language) for part in joined]


def _matched(tokens: list[Token], language: Language) -> _Clause:
    matches: list[Match] = []
    begins = 0
    for position in range(len(tokens)):
        match = language.match(tokens, position, begins_clause=position == begins)
        matches.append(match)
        if position < begins:
            match.pop("reported", None)  # "as I said", "ehrlich gesagt"
        if position == begins:
            begins = max(match.get("fillers", 0), match.get("clause_words", 0), begins)
    return _Clause(tokens, matches, begins)


def _has(clause: _Clause, *groups: str) -> bool:
    return any(group in match for match in clause.matches for group in groups)


def _is_reported(clause: _Clause) -> bool:
    """Whether the rest is reported speech: "she said", but not "as I said"."""
    return any(
        "reported" in match and not (place and "subject" in clause.matches[place - 1])
        for place, match in enumerate(clause.matches)
    )


def _points(clause: _Clause, language: Language) -> tuple[int, bool]:
    """The points of a clause, and whether it tells a preference."""
    at = _positions(clause)
    own = at("own")
    kin = [place for place in at("kin") if any(0 < place - start <= 3 for start in own)]
    life = [place for place in at("life") if place not in kin]
    verbs = {
        group: [place for place in at(group) if _is_of_the_writer(place, clause, language)]
        for group in ("strong", "weak", "tastes", "likes", "be")
    }
    liked = [place for place in verbs["likes"] if "not_liked" not in _behind(clause, place, "likes")]
    tastes = [place for place in verbs["tastes"] if "not_liked" not in _behind(clause, place, "tastes")]
    weak = [
        place
        for place in verbs["weak"]
        if "not_liked" not in _behind(clause, place, "weak") and place not in verbs["strong"]
    ]
    being = max((_being(clause, place, language) for place in verbs["be"]), default=0)
    rejected = {*verbs["likes"], *verbs["tastes"]} - {*liked, *tastes} or (verbs["be"] and not being)
    third = [place for place in at("third") if any(0 < place - start <= 5 for start in own)]
    fixed = at("facts") or at("favourites") or at("standing") or at("hints")
    owned = [place for place in life if any(0 < place - start <= 3 for start in own)]
    speaks = bool(at("subject") or _begins_in_first_person(clause, language))
    if not (fixed or any(verbs.values()) or kin or owned or third or speaks):
        return 0, False
    is_habit = bool(at("habits") or (tastes and at("negation")))
    tasted = tastes if is_habit else []
    first_taste = min([*liked, *at("favourites"), *at("standing"), *tasted], default=len(clause.tokens))
    first_fact = min([*verbs["strong"], *at("facts"), *(verbs["be"] if being else [])], default=len(clause.tokens))
    points = 2 * sum(map(bool, (verbs["strong"], liked, at("facts"), at("favourites"), at("standing"))))
    does = weak or tastes or (speaks and not verbs["strong"])
    points += being + sum(map(bool, (does, kin, life, third, is_habit, at("lasting"), at("hints"))))
    if not kin and any(clause.begins <= place <= clause.begins + 1 for place in own):
        points += 1 + (not at("tasks") and any(language.is_number(token.text) for token in clause.tokens))
    points += _is_named(clause, language, ("weak", weak), ("tastes", tastes), ("kin", kin), ("hints", at("hints")))
    points -= 2 * bool(at("passing")) + bool(at("tasks")) + 2 * bool(rejected)
    if not (speaks or any(verbs.values())):
        points -= 1
    return points, first_taste < len(clause.tokens) and first_taste <= first_fact + 1


def _positions(clause: _Clause) -> Callable[[str], list[int]]:
    def at(group: str) -> list[int]:
        return [place for place, match in enumerate(clause.matches) if group in match]

    return at


def _is_of_the_writer(place: int, clause: _Clause, language: Language) -> bool:
    """Whether the verb at a place is in the first person."""
    matches = clause.matches
    if not language.needs_subject:
        return not (place and matches[place - 1].keys() & {"articles", "own"})
    for earlier in range(place, max(place - 7, -1), -1):
        if "subject" in matches[earlier]:
            return True
        if "other" in matches[earlier]:
            return False
    # "Seit 2019 wohne ich hier", and in chats "Wohne in Bonn".
    return language.has_inversion and (
        place == clause.begins or any("subject" in match for match in matches[place + 1 : place + 4])
    )


def _begins_in_first_person(clause: _Clause, language: Language) -> bool:
    """Whether one of the first words of the clause is a verb in the first person, where verbs need no pronoun.

    A word alone is none: "Perfetto", "Buongiorno".
    """
    if not language.first_person or len(clause.tokens) < clause.begins + 2:
        return False
    for position in range(clause.begins, min(clause.begins + 3, len(clause.tokens))):
        token, match = clause.tokens[position], clause.matches[position]
        if match.keys() & {"articles", "own", "other"}:
            return False
        if len(token.text) > 3 and not match.keys() & {"adverbs", "habits", "negation", "life", "kin", "numbers"}:
            return re.search(language.first_person, token.text) is not None
    return False


def _behind(clause: _Clause, place: int, group: str) -> Match:
    """The text behind the phrase of a group that begins at a place."""
    end = clause.matches[place][group]
    return clause.matches[end] if end < len(clause.matches) else {}


def _being(clause: _Clause, place: int, language: Language) -> int:
    """The points of "I am": none before a mood, a place or nothing, one before an activity."""
    following = clause.matches[place]["be"]
    while following < len(clause.matches):
        match = clause.matches[following]
        if "moods" in match:
            return 0
        if "adverbs" not in match:
            ends = language.passing_ends
            return 1 if ends and re.search(ends, clause.tokens[following].text) else 2
        following = match["adverbs"]
    return 0


def _is_named(clause: _Clause, language: Language, *groups: tuple[str, list[int]]) -> bool:
    """Whether a name follows one of the words soon."""
    if all(token.is_capitalised or not token.text.isalpha() for token in clause.tokens):
        return False
    window = 1 if language.has_capital_nouns else 3
    return any(
        clause.tokens[position].is_capitalised and "subject" not in clause.matches[position]
        for group, places in groups
        for place in places
        for position in range(
            clause.matches[place][group], min(clause.matches[place][group] + window, len(clause.tokens))
        )
    )

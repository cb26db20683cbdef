"""Reads the facts of a sentence: who, which attribute, which value, since when, and whether it holds.

A fact is found by a phrase behind a verb ("live in {place}"), or by a noun that names an attribute (nouns.py). The
words between the subject and the verb tell whether it holds ("I live in"), has ended ("I used to live in", "I no longer
live in") or is a plan ("I'm going to live in"). So one phrase serves all persons, tenses and negations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

from .fact import Fact
from .lists import ATTRIBUTES
from .matching import Match, Text, Value
from .nouns import noun_fact
from .phrases import Tree, phrases, words_in
from .subjects import USER, People, Subject, subjects_in

_FAR = 8
"""A subject stands so many words before its verb at most."""
_DATED = frozenset(["birthday", "deadline", "meeting day", "anniversary", "day off"])
"""Attributes whose values are dates, which say nothing about when the fact begins."""


class Reader:
    """Reads sentences of one language that were said on one day; `people` is shared with other messages."""

    def __init__(self, language: str, people: People, day: date | None) -> None:
        self.lists = phrases(language)
        self.people = people
        self.day = day

    def facts(self, sentence: str, known: frozenset[str] = frozenset()) -> list[Fact]:
        """The facts of a sentence in their order; `known` has the attributes that have a value so far."""
        self.text = Text(sentence, self.lists, self.day, known)
        self.subjects = list(subjects_in(self.text, self.people))
        self.by_start = {subject.start: subject for subject in self.subjects}
        self.by_end = {subject.end: subject for subject in self.subjects}
        self.speaks = False
        self.topic: tuple[str, str] | None = None
        """The subject and attribute of a noun that was named without its value: "my number has changed, it's 555"."""
        found: list[Fact] = []
        at = 0
        while at < len(self.text.words):
            following = at + 1
            for end, fact in self._facts_at(at):
                following = max(following, end)
                named = self._named_person(fact)
                found.append(
                    self._dated(replace(named, subject=self.people.relations.get(named.subject, named.subject)))
                )
            at = following
        return found

    def _facts_at(self, at: int) -> list[tuple[int, Fact]]:
        if noun := noun_fact(self.text, at, self.by_start, self.people):
            if noun.value is None:
                self.topic = noun.subject, noun.attribute
                return []
            end, old, corrects = (noun.end, None, False) if noun.content else self._instead(noun.end)
            told = self._fact(
                noun.subject, noun.attribute, noun.status, noun.start, end, noun.value, noun.old or old, corrects
            )
            return [(end, replace(told, content=noun.content, is_aside=noun.content is not None))]
        if self.text.words[at].text in self.lists.forms and (found := self._by_verb(at)):
            return found
        return self._aside(at)

    def _aside(self, at: int) -> list[tuple[int, Fact]]:
        """What the words from one on take for granted ("as a dad of two kids"), or say to be over."""
        match = self.text.match(self.lists.aside, at) if self.text.may_be_aside(at) else None
        if match is None or match.value is None:
            return []
        status = "denied" if match.act == "ends" else "holds"
        fact = self._fact(USER, match.attribute, status, at, match.end, match.value, None, False)
        if status == "denied":
            return [(match.end, fact)]
        names = ATTRIBUTES[match.attribute]
        name = match.attribute if self.lists.language == "en" else names[self.lists.language][0]
        words = self.text.span(at, match.end)
        content = (
            f"{name[0].upper()}{name[1:]}: {words[len(name) :].strip() if words.lower().startswith(name) else words}"
        )
        return [(match.end, replace(fact, content=content, is_aside=True))]

    def _fact(
        self,
        subject: str,
        attribute: str,
        status: str,
        start: int,
        end: int,
        value: Value | None,
        old: str | None,
        corrects: bool,
    ) -> Fact:
        words = self.text.words
        at = (words[value.start].start, words[value.end - 1].end) if value else (0, 0)
        is_change = any(word.text in self.lists.single["now"] for word in words)
        is_instead = any(word.text in self.lists.single["instead"] for word in words)
        if attribute in ("profession", "employer") and self._is_beside():
            attribute += "/side"
        return Fact(
            subject,
            attribute,
            self.text.of(value),
            status,
            words[start].start,
            words[end - 1].end,
            at,
            old=old,
            corrects=corrects,
            is_change=is_change or is_instead,
            is_instead=is_instead,
        )

    def _is_beside(self) -> bool:
        """Whether the sentence speaks of a second job."""
        return any(self.lists.besides.longest(self.text.words, at) for at in range(len(self.text.words)))

    def _named_person(self, fact: Fact) -> Fact:
        """The fact; "my daughter is called Ana" makes Ana known as daughter Ana."""
        is_of_relation = fact.subject != USER and fact.subject[0].islower() and " " not in fact.subject
        if is_of_relation and fact.base == "name" and fact.value and fact.status == "holds":
            self.people.add(f"{fact.subject} {fact.value}")
        return fact

    def named(self) -> Fact | None:
        """The value of the noun that the sentence names: "my number has changed, it's 555"."""
        subject, attribute = self.topic or (USER, "")
        kind = ATTRIBUTES.get(attribute.partition("/")[0], {}).get("kind", "text")
        if kind == "text":
            return None
        for at in range(len(self.text.words)):
            if found := self.lists.mild.longest(self.text.words, at):
                for value in self.text.values("address" if kind == "number" else kind, found[0]):
                    return self._dated(self._fact(subject, attribute, "holds", 0, value.end, value, None, False))
        return None

    # Facts by verbs

    def _by_verb(self, at: int) -> list[tuple[int, Fact]]:
        # "mudamos" is "we move" and "we moved"
        past = any(time.past == time.future and self.day and time.past[0] <= self.day for time in self.text.times)
        ahead = bool(self.text.times) and not past
        best = max(
            self._candidates(at),
            key=lambda each: (each[2].fits, each[2].end, (each[1] == "planned") == ahead),
            default=None,
        )
        if best is None or (best[2].act == "ends" and best[2].value and not self.text.ends_phrase(best[2].end)):
            return []
        subject, status, match = best
        text = self.text
        if subject.name != USER and subject.name.lower() not in self.people.names and subject.name[0].isupper():
            self.people.add(subject.name)
        if subject.name != USER:
            self.people.last = subject.name
        has_words = subject.end > subject.start
        start = min(subject.start, at) if has_words else subject.start
        end, old, corrects = match.end, text.of(match.old), status == "never"
        if match.value and not old:
            end, old, corrects = self._instead(end)
            corrects = corrects or status == "never"
        attribute = match.attribute
        if attribute == "choice" and match.value and old:
            attribute = f"choice/{' or '.join(sorted([(text.of(match.value) or '').lower(), old.lower()]))}"
        fact = self._fact(
            subject.name, attribute, "denied" if status == "never" else status, start, end, match.value, old, corrects
        )
        if match.value is None and match.act != "ends":
            is_verb = ATTRIBUTES[fact.base].get("verb", False)  # "I cycle to work"
            fact = replace(fact, value=text.span(at, at + 1).lower() if is_verb else match.attribute)
        if match.act in ("gone",):
            fact = replace(fact, subject=USER, value=subject.name, status="denied")
        if not has_words:
            before = [each for each in self.subjects if each.end <= at and each.name == subject.name]
            fact = replace(fact, lead=text.span(before[-1].start, before[-1].end) if before else "")
        found = [(end, fact)]
        if (tree := self.lists.follows.get(match.attribute)) and (follows := text.match(tree, end)) and follows.value:
            more = self._fact(
                subject.name, follows.attribute, fact.status, start, follows.end, follows.value, None, False
            )
            found.append((follows.end, replace(more, lead=fact.lead)))
        return found

    def _candidates(self, at: int) -> Iterator[tuple[Subject, str, Match]]:
        text, lists = self.text, self.lists
        # "Sold my car yesterday"
        speaks = self.text.begins(at) and {form for _, form, _ in lists.forms[text.words[at].text]} <= {"past", "done"}
        self.speaks = self.speaks or speaks
        for lemma, form, first in lists.forms[text.words[at].text]:
            is_first = first or (speaks and form == "past")
            # "They made me team lead" is told, and "reach me on 555" is asked
            tree = None if self._speaks(at) else lists.without_subject.get(lemma)
            if (
                tree
                and (match := text.match(tree, at + 1))
                and (form in ("past", "done")) == (match.act in ("begins", "ends"))
                and form != "ing"
            ):
                yield Subject(at, at, USER), "denied" if match.act == "ends" else "holds", match
            if lemma in lists.verbs:
                for subject, effects, match in self._grouped(at, form, is_first, lists.verbs[lemma]):
                    status = self._status(match, lemma, form, effects)
                    if status and not (subject.name == USER and self._is_count(match)):
                        yield subject, status, match
            for kind, tree in lists.of_kind.get(lemma, ()):
                for subject, effects, match in self._grouped(at, form, is_first, tree):
                    is_of_kind = lists.kinds[kind].longest(words_in(subject.name, lists.language), 0) or any(
                        lists.kinds[kind].longest([word], 0) for word in text.words[subject.start : subject.end]
                    )
                    is_of_kind = is_of_kind or subject.name.startswith(f"{kind} ")
                    if is_of_kind and form in ("past", "done") and not effects & {"not", "maybe", "plan"}:
                        yield subject, "denied", match._replace(act="gone")

    def _is_count(self, match: Match) -> bool:
        """Whether an age would be that of a child: "we are five now"."""
        value = self.text.of(match.value) or ""
        return match.attribute == "age" and not (value.isdigit() and len(value) > 1)

    def _speaks(self, at: int) -> bool:
        """Whether a verb has the speaker for its subject, and so is no request."""
        return at in self.by_end and self.by_end[at].name == USER

    def _grouped(self, at: int, form: str, is_first: bool, tree: Tree) -> Iterator[tuple[Subject, set[str], Match]]:
        """The subject of a verb, what the words around them do, and the phrase."""
        text, lists = self.text, self.lists
        group = self._verb_group(at, is_first)
        if group and (match := text.match(tree, at + 1)):
            yield *group, match
        if not lists.verb_last:
            return
        if form in ("done", "plain"):  # "ich bin nach Bern gezogen"
            for start in range(at - 1, max(-1, at - 10), -1):
                before = self._verb_group(start, False)
                match = text.match(tree, start) if before else None
                if before and match and match.end <= at and self._is_idle(match.end, at):
                    yield *before, match._replace(end=at + 1)
        elif (following := self.by_start.get(at + 1)) and (match := text.match(tree, following.end)):
            yield following, self._effects_before(at), match  # "seit 2019 wohne ich in Bonn"

    def _is_idle(self, start: int, end: int) -> bool:
        text, lists = self.text, self.lists
        while start < end:
            found = lists.negation.longest(text.words, start) or lists.skip.longest(text.words, start)
            if not found and not text.is_time[start]:
                return False
            start = found[0] if found else start + 1
        return True

    def _effects_before(self, place: int) -> set[str]:
        """What the words before a place do, as far as they stand between subjects and verbs."""
        effects: set[str] = set()
        while place > 0:
            if self.text.is_time[place - 1]:
                place -= 1
                continue
            found = self.lists.between.longest(self.text.words, place - 1, -1)
            if not found:
                break
            place = found[0] + 1
            effects.add(found[1].removesuffix("_first"))
        return effects

    def _verb_group(self, at: int, is_first: bool) -> tuple[Subject, set[str]] | None:
        """The subject of a verb, and what the words between them do."""
        effects: set[str] = set()
        text, place = self.text, at
        while place > max(0, at - _FAR) and place not in self.by_end:
            if text.is_time[place - 1]:
                place -= 1
                continue
            found = self.lists.between.longest(text.words, place - 1, -1)
            if not found:
                break
            place = found[0] + 1
            is_first = is_first or found[1].endswith("_first")
            effects.add(found[1].removesuffix("_first"))
        if text.word(place - 1) in self.lists.single["who"]:  # "my daughter Ana, who lives in Rome"
            place -= 1 + (text.word(place - 2) == ",")
        if subject := self.by_end.get(place):
            if self.lists.verb_last:
                effects |= self._effects_before(subject.start)
            return subject, effects
        if is_first:
            return Subject(place, place, USER), effects
        single = self.lists.single
        if text.word(place - 1) in single["and"] | single["but"] | {",", ";"}:
            before = [each for each in self.subjects if each.end < place and place - each.end <= 2 * _FAR]
            before = [each for each in before if each.name == USER or each.name in self.people.relations.values()]
            if before:
                return Subject(place, place, before[-1].name), effects
            if self.speaks:  # "Cancelled Spotify, got Tidal"
                return Subject(place, place, USER), effects
        if self.lists.drops_subject and self.people.last and place == 0:
            return Subject(place, place, self.people.last), effects
        return None

    def _status(self, match: Match, lemma: str, form: str, effects: set[str]) -> str | None:
        """Whether a statement holds, has ended, is planned, is denied or was never true; None if it says nothing."""
        has = "have" in effects or ("be" in effects and form == "done")
        is_negative = match.is_denied or bool(effects & {"not", "stopped"})
        if "maybe" in effects or (form == "ing" and not effects & {"be", "stopped"}):
            return None
        if (form == "done") != has and form in ("done", "past", "present"):
            return None
        is_perfect = form == "done" and "have" in effects
        if match.act == "facts":
            return None if is_negative or "plan" in effects else "holds"
        is_past = form == "past" or "past" in effects or (form == "done" and self.lists.perfect_is_past)
        if match.act == "states":
            if "plan" in effects:
                return None if is_negative else "planned"
            if is_negative:
                return "denied" if not is_past or "stopped" in effects else None
            if is_past:
                return "ended"
            lasts = any(time.kind in ("since", "for") for time in self.text.times)
            return "holds" if not is_perfect or lasts or match.attribute in self.lists.kinds else None
        happened = is_past or is_perfect or form == "done"
        if match.act == "begins":
            if is_negative:
                return "never" if happened or "do" in effects else None
            return "holds" if happened and "plan" not in effects else "planned"
        if is_negative or "plan" in effects:
            return None
        return "denied" if happened or lemma in self.lists.single["be"] else None

    def _instead(self, end: int) -> tuple[int, str | None, bool]:
        """The old value behind a new one: "Porto, not Lyon", "Porto instead of Lyon"."""
        text = self.text
        place = end
        while text.word(place) == "," or (place < len(text.words) and self.lists.skip.longest(text.words, place)):
            place += 1
        if found := self.lists.contrast.longest(text.words, place):
            for old in text.values("list", found[0]):
                is_now = any(word.text in self.lists.single["now"] for word in text.words)
                return old.end, text.of(old), found[1] == "not" and not is_now
        return end, None, False

    # Times

    def _dated(self, fact: Fact) -> Fact:
        """The fact with the times of its sentence, except those in its value; of two of a kind nobody knows which."""
        if fact.base in _DATED:
            return fact
        near = [
            time for time in self.text.times if not (fact.at[1] and fact.at[0] <= time.bare and time.end <= fact.at[1])
        ]
        kinds = [time.kind for time in near]
        changes: dict[str, Any] = {}
        for time in near:
            if kinds.count(time.kind) > 1:
                continue
            first, last = (each.isoformat() for each in (time.future if fact.status == "planned" else time.past))
            if time.kind in ("since", "for"):
                changes |= {"valid_from": first} | ({"event_time": first} if time.kind == "since" else {})
            elif time.kind in ("until", "by"):
                changes["valid_to"] = last if fact.status == "ended" else time.future[1].isoformat()
            elif fact.status == "ended":
                changes |= {"valid_from": first, "valid_to": last}
            else:
                changes |= {"event_time": first} | ({"valid_from": first} if fact.status == "holds" else {})
        if fact.status == "holds" and self.day and changes.get("valid_from", "") > self.day.isoformat():
            changes["status"] = "planned"
        return replace(fact, **changes) if changes else fact

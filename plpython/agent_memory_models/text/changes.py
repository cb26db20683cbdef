"""What a conversation states, against what is known: what a statement replaces, ends or corrects.

Facts of one sentence come from facts.py. Here they meet those of the sentences and messages before and the known
memories of the payload: a new value replaces the old one, a denial ends it, and a correction ("no wait, almonds, not
peanuts") takes subject and attribute from the statement that it corrects.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .corrections import Corrections
from .event_times import day_of
from .fact import Fact, Stated
from .facts import Reader
from .lists import ATTRIBUTES, STATEMENTS
from .mentions import Change, Mentions
from .phrases import ANY
from .self_statements import Sentence
from .subjects import USER, People
from .values import are_equal, kind_word, names_only, one_holds_other

Memory = dict[str, Any]
_MOST_HELD = 200
"""Statements of these messages that later ones are compared with, so that reading takes time in proportion to them."""

_MOST_PENDING = 20
"""Statements that one message has named."""


class Conversation:
    """The messages of one thread, read in their order."""

    def __init__(self, known: list[Memory], attributes: dict[str, str]) -> None:
        self.values = {name: attribute["values"] for name, attribute in ATTRIBUTES.items()} | attributes
        self.people = People()
        self.memories: list[Memory] = []
        self.ends: list[Memory] = []
        self.holding = [
            Stated(
                row.get("subject") or USER,
                row.get("attribute") or "",
                row.get("value") or row["content"],
                row["content"],
                row["number"],
                row.get("said_at") or "",
            )
            for row in sorted(known, key=lambda row: row.get("said_at") or "")
        ]
        for row in known:
            if (subject := row.get("subject") or USER) != USER:
                self.people.add(subject)
        for held in self.holding:  # "Rufus died", of whom only "my dog: Rufus" is known
            is_named = held.subject == USER and held.base in ("pet", "flatmate")
            if is_named and held.value.lower() not in self.people.names:
                self.people.add(f"{held.base} {held.value}")
        self.said_at = ""  # when the sentence that is read was said
        self.corrections = Corrections()
        self.language = ""
        self.seq: int | None = None
        self.pending: list[Stated] = []
        """What the message that is read has named or ended, which "it's Tobias now" may be about."""
        self.readers: dict[tuple[str, str], Reader] = {}

    def facts(self, sentence: str, language: str, said_at: str) -> list[Fact]:
        """The facts of a sentence; those of a correction have the subject and attribute of what they correct."""
        if not sentence or language not in STATEMENTS:
            return []
        self.said_at, self.language = said_at, language
        key = (language, said_at[:10])
        if key not in self.readers:
            self.readers[key] = Reader(language, self.people, day_of(said_at))
        reader = self.readers[key]
        found = reader.facts(
            sentence,
            frozenset(name for row in self.holding if row.subject == USER for name in (row.base, row.attribute)),
        )
        if any(reader.lists.joking.longest(reader.text.words, at) for at in range(len(reader.text.words))):
            return []
        if reader.topic and (named := reader.named()):
            found.append(named)
        if not found:
            return self.corrections.read(sentence, language, self.holding, said_at)
        is_wrong = self.corrections.is_wrong or any(
            reader.lists.wrong.longest(reader.text.words, at) for at in range(len(reader.text.words))
        )
        self.corrections.is_wrong = False
        return [
            replace(fact, corrects=True)
            if is_wrong and not fact.is_change and fact.status in ("holds", "denied")
            else fact
            for fact in found
        ]

    def changes(self, sentence: Sentence, held: list[Stated], language: str, seq: int) -> list[Change]:
        """What the sentence that was read last does to statements whose words it has, but not by its facts."""
        if not sentence.unquoted or not held or language not in STATEMENTS:
            return []
        reader = self.readers[language, self.said_at[:10]]
        holding = set(map(id, self.holding))
        near = [row for row in held if row.number is not None] + [row for row in held if row.number is None][
            -_MOST_PENDING:
        ]
        rows = [row for row in near if id(row) in holding]
        self.pending = self.pending if self.seq == seq else []
        self.seq = seq
        over = {end["number"] for end in self.ends}
        self.pending += [row for row in held if row.number in over and row not in self.pending]
        del self.pending[:-_MOST_PENDING]
        return [
            change
            for change in Mentions(reader, rows, self.pending, self.values).changes()
            if not sentence.is_void(reader.text.words[change.start].start, reader.text.words[change.end - 1].end)
        ]

    def change(self, change: Change, seq: int, memory: Memory) -> bool:
        """Ends a statement, or enters the value that takes its place; False where the statement has none."""
        row = change.row
        fact = Fact(row.subject, row.attribute, change.value, "holds", old=row.value)
        if change.value:
            self.ends = [end for end in self.ends if row.number is None or end["number"] != row.number]
            self._enter(fact, seq, [row], memory)
            return True
        told = [each for each in self.memories[-_MOST_PENDING:] if each["seqs"] == [seq] and each["status"] == "holds"]
        told = [
            each
            for each in told
            if each["subject"] == row.subject and row.attribute and each["attribute"] == row.attribute
        ]
        if told and row.number is not None:
            told[-1]["replaces"].append(row.number)
            self.holding.remove(row)
        else:
            self._end([row], seq, fact)
        return False

    def say(self, memory: Memory) -> None:
        """Enters a statement without an attribute."""
        self.memories.append({**memory, "subject": USER, "status": "holds"})
        self._hold(Stated(USER, "", memory["content"], memory["content"], None, self.said_at))

    def add(self, fact: Fact, seq: int, memory: Memory) -> bool:
        """Enters a fact. False if nothing is known of what it denies, so that it is a statement like any other."""
        known = self._qualified(fact)
        if known is None:
            return False
        fact = known
        attribute = ATTRIBUTES.get(fact.base, {})
        if fact.is_aside and self.knows(fact):
            return True
        if fact.status == "denied":
            return self._deny(fact, seq, memory)
        if fact.old:
            fact = self._of_the_old_value(fact)
        elif fact.status == "holds":
            fact = self._of_what_is_named(fact)
        same = [row for row in self.holding if row.subject == fact.subject and row.attribute == fact.attribute]
        gone: list[Stated] = []
        if fact.status == "ended":
            gone = [row for row in same if are_equal(row.value, fact.value)]
            if gone:
                self._end(gone, seq, fact)
                return True
        elif fact.status == "holds":
            is_one = self.values.get(fact.base, "one") == "one"
            gone = [
                row
                for row in same
                if not are_equal(row.value, fact.value) and (is_one or one_holds_other(row.value, fact.old))
            ]
            if fact.old and not gone:
                gone = [
                    row
                    for row in self.holding
                    if row.subject == fact.subject and row.base == fact.base and one_holds_other(row.value, fact.old)
                ]
            if fact.is_change and not gone and not is_one:  # "I prefer aisle seats now"
                others = [row for row in same if not are_equal(row.value, fact.value)]
                gone = [row for row in others if kind_word(row.value) == kind_word(fact.value) != ""]
                gone = gone or (others if fact.is_instead and len(others) == 1 else [])
            gone += [
                row
                for row in self.holding
                if row.subject == fact.subject
                and row.attribute in attribute.get("opposite", ())
                and are_equal(row.value, fact.value)
            ]
        self._enter(fact, seq, gone, memory)
        return True

    def knows(self, fact: Fact) -> bool:
        """Whether the same is known of the same subject."""
        ours = [row for row in self.holding if row.subject == fact.subject and row.base == fact.base]
        return any(one_holds_other(row.value, fact.value) for row in ours)

    def _qualified(self, fact: Fact) -> Fact | None:
        """The fact, of which "my customer number" is that of Telco if only that one is known.

        "I switched to Globex" is about the only known thing that one switches; None if nobody knows which.
        """
        if fact.base == ANY:
            ours = [row for row in self.holding if row.subject == fact.subject]
            if fact.old:
                ours = [row for row in ours if are_equal(row.value, fact.old)]
            ours = [row for row in ours if fact.old or ATTRIBUTES.get(row.base, {}).get("switch")]
            if len(ours) != 1 or fact.status not in ("holds", "planned"):
                return None
            return replace(fact, attribute=ours[0].attribute, old=fact.old or ours[0].value)
        kinds = {row.attribute for row in self.holding if row.subject == fact.subject and row.base == fact.base}
        if (
            fact.attribute != fact.base and fact.attribute not in kinds
        ):  # "the grant deadline", of the grant application
            kinds = {kind for kind in kinds if kind != fact.base and one_holds_other(kind, fact.attribute)}
        elif fact.attribute in kinds:
            return fact
        return replace(fact, attribute=kinds.pop()) if len(kinds) == 1 else fact

    def _of_the_old_value(self, fact: Fact) -> Fact:
        """The fact with the attribute of the value that it replaces: "from Acme to Globex" may mean towns."""
        ours = [row for row in self.holding if row.subject == fact.subject]
        if any(row.base == fact.base and one_holds_other(row.value, fact.old) for row in ours):
            return fact
        others = [row.attribute for row in ours if are_equal(row.value, fact.old)]
        return replace(fact, attribute=others[-1]) if others else fact

    def _of_what_is_named(self, fact: Fact) -> Fact:
        """The fact with the attribute of what its sentence names: "PureFlex got dear, so I joined Ironhouse"."""
        ours = [
            row for row in self.holding if row.subject == fact.subject and ATTRIBUTES.get(row.base, {}).get("switch")
        ]
        if not ATTRIBUTES.get(fact.base, {}).get("switch") or any(row.base == fact.base for row in ours):
            return fact
        reader = self.readers[self.language, self.said_at[:10]]
        named = [row for row in Mentions(reader, ours, [], self.values).meant() if row.attribute]
        return replace(fact, attribute=named[0].attribute, old=named[0].value) if len(named) == 1 else fact

    def _enter(self, fact: Fact, seq: int, gone: list[Stated], found: Memory) -> None:
        self.memories.append(
            {
                "memory_type": "preference" if ATTRIBUTES.get(fact.base, {}).get("preference") else "fact",
                "confidence": 0.85,
                "importance": 0.6,
                **found,
                "subject": fact.subject,
                "attribute": fact.attribute or None,
                "value": fact.value if fact.attribute else None,
                "status": fact.status,
                # "My X is Y": what no list has holds one value at a time.
                **({} if fact.base in self.values or not fact.attribute else {"many": False}),
                "event_time": fact.event_time or found.get("event_time"),
                "valid_from": fact.valid_from,
                "valid_to": fact.valid_to,
                "replaces": [row.number for row in gone if row.number is not None],
                "corrects": fact.corrects and bool(gone),
                "seqs": [seq],
            }
        )
        if fact.status == "holds":
            for row in gone:
                is_ended_by_attribute = row.attribute == fact.attribute and (
                    fact.corrects or self.values.get(fact.base, "one") == "one"
                )
                if row.number is None and not is_ended_by_attribute:
                    self._unsay(row, seq, fact)
            self.holding = [row for row in self.holding if row not in gone]
            self._hold(Stated(fact.subject, fact.attribute, fact.value or "", found["content"], None, self.said_at))

    def _hold(self, row: Stated) -> None:
        self.holding.append(row)
        stated = [each for each in self.holding if each.number is None]
        if len(stated) > _MOST_HELD:
            self.holding.remove(stated[0])

    def _deny(self, fact: Fact, seq: int, memory: Memory) -> bool:
        same = [row for row in self.holding if row.subject == fact.subject and row.base == fact.base]
        if fact.attribute != fact.base:
            same = [row for row in same if row.attribute == fact.attribute]
        is_any = fact.value is None or names_only(fact.base, fact.value)
        gone = [row for row in same if one_holds_other(row.value, fact.value)]
        if fact.value and fact.base in ("partner", "pet", "flatmate"):  # what is known of Rufus has ended with him
            gone += [row for row in self.holding if f" {row.subject}".endswith(f" {fact.value}") and row not in gone]
        if is_any and self.values.get(fact.base) == "one":
            gone = same[-1:]
        if not gone and fact.value and not is_any:  # "I left Lyon" may be an employer; "I cancelled my gym membership"
            ours = [row for row in self.holding if row.subject == fact.subject]
            gone = [row for row in ours if are_equal(row.value, fact.value) or names_only(row.base, fact.value)]
        opposite = ATTRIBUTES.get(fact.base, {}).get("opposite")
        if opposite and fact.value:
            self._enter(replace(fact, attribute=opposite[0], status="holds"), seq, gone, memory)
            return True
        self._end(gone, seq, fact)
        return bool(gone)

    def _end(self, gone: list[Stated], seq: int, fact: Fact) -> None:
        for row in gone:
            if row.number is not None:
                ended = fact.valid_to or fact.event_time
                self.ends.append({"number": row.number, "seqs": [seq], "ended_at": ended, "corrects": fact.corrects})
            else:
                self._unsay(row, seq, fact)
            self.holding.remove(row)

    def _unsay(self, row: Stated, seq: int, fact: Fact) -> None:
        """A statement of these messages has ended, or was never true."""
        memory = next((each for each in reversed(self.memories) if each["content"] == row.content), None)
        if memory is None:
            return
        if fact.corrects:
            self.memories.remove(memory)
        else:
            ended = {
                "status": "ended",
                "seqs": [seq],
                "valid_from": None,
                "valid_to": fact.valid_to or fact.event_time,
                "replaces": [],
            }
            self.memories.append({**memory, **ended, "event_time": None})

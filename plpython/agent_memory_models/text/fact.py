"""What a sentence states about a subject, and what holds so far."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fact:
    """What a sentence states.

    Attributes:
        subject: whom it is about: `user`, "sister Ana".
        attribute: a name of lists/attributes.toml, with a slash and what tells two of a kind apart.
        value: in the words of the sentence; None where a fact ends whatever its value was ("I quit my job").
        status: holds, ended, planned, or denied: a fact of now is said to be none.
        start: where its words begin in the sentence.
        end: where they end.
        at: where its value stands in the sentence.
        lead: the subject, where its clause has none ("and work at Globex").
        old: the value whose place it takes.
        content: a statement in other words than those of the sentence: what a correction makes of the statement that it
            corrects, or what the sentence takes for granted.
        is_aside: whether the sentence only takes it for granted ("a letter to my GP, Dr Osei"), be it a question.
        corrects: whether what it replaces or denies was never true.
        is_change: whether the sentence says that something is so now.
        is_instead: whether it says "instead" of the only one that is known.
        event_time: an ISO date, like valid_from and valid_to.
    """

    subject: str
    attribute: str
    value: str | None
    status: str
    start: int = 0
    end: int = 0
    at: tuple[int, int] = (0, 0)
    lead: str = ""
    old: str | None = None
    content: str | None = None
    is_aside: bool = False
    corrects: bool = False
    is_change: bool = False
    is_instead: bool = False
    event_time: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None

    @property
    def base(self) -> str:
        """The name of the attribute in lists/attributes.toml."""
        return self.attribute.partition("/")[0]

    @property
    def needs_statement(self) -> bool:
        """Whether only a lasting one counts: "I like jazz", but not "I like your idea"."""
        return self.base in ("like", "dislike", "preference", "habit")


@dataclass
class Stated:
    """What holds so far: a known memory, with its number, or one that was stated in these messages."""

    subject: str
    attribute: str
    value: str
    content: str
    number: int | None
    said_at: str

    @property
    def base(self) -> str:
        """The name of the attribute in lists/attributes.toml."""
        return self.attribute.partition("/")[0]

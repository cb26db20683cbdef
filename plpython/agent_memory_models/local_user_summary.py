"""A user's profile without a model: what they said of themselves, and their most telling sentences."""

from __future__ import annotations

from typing import Any

from .local_extraction import is_statement
from .local_summary import shortened
from .sentences import split_sentences
from .statements import claim, single_values
from .words import best_sentences, frequent_words, words_of

MAX_STATEMENTS = 20
MAX_OTHER_SENTENCES = 5
MAX_TOPICS = 8
_HEADING = "What the user said of themselves (sentences quoted, nothing rewritten):"
_OTHER_HEADING = "From recent conversations:"


def summarize(payload: dict[str, Any]) -> dict[str, Any]:
    """The result of a `summarize_user` job: of statements that repeat or exclude each other the newest is kept."""
    previous = (payload.get("previous_summary") or "").partition(_OTHER_HEADING)[0]
    sentences = [sentence for line in previous.splitlines() if line != _HEADING for sentence in split_sentences(line)]
    new = [
        shortened(sentence)
        for message in payload["messages"]
        if message["role"] == "user"
        for sentence in split_sentences(message["content"])
        if not sentence.endswith("?")
    ]
    statements = _latest([*sentences, *(sentence for sentence in new if is_statement(sentence))])[-MAX_STATEMENTS:]
    others = [sentence for sentence in new if not is_statement(sentence)]
    best = best_sentences([words_of(sentence) for sentence in others], MAX_OTHER_SENTENCES)
    lines = [_HEADING, *(f"- {statement}" for statement in statements)]
    if best:
        lines += [_OTHER_HEADING, *(f"- {others[position]}" for position in best)]
    words = (word for sentence in [*sentences, *new] for word in words_of(sentence))
    return {
        "summary": "\n".join(lines),
        "metadata": {"method": "extractive", "topics": frequent_words(words, MAX_TOPICS)},
    }


def _latest(statements: list[str]) -> list[str]:
    """The statements, oldest first, without those that a later one repeats or replaces."""
    kept: list[str] = []
    seen: set[object] = set()
    for statement in reversed(statements):
        marks: set[object] = {claim(statement) or statement, *single_values(statement)}
        if not marks & seen:
            kept.append(statement)
        seen |= marks
    return kept[::-1]

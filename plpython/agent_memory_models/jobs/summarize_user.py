"""Kind `summarize_user`: the profile of a user, drawn from messages of all threads."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ..chat.parts import Parts
from ..chat.prompts import messages, previous_summary
from ..chat.question import Question
from ..payload import Payload, Result
from ..task import Task
from ..text.extracts import shortened
from ..text.languages import recognise_all
from ..text.self_statements import statements_in
from ..text.sentences import split_sentences
from ..text.statements import claim, is_lasting, single_values
from ..text.summary_layout import summary_of_text
from ..text.words import best_sentences, frequent_words, words_of

if TYPE_CHECKING:
    from pydantic import BaseModel

# How much the built-in version quotes and lists.
MAX_STATEMENTS = 20
MAX_OTHER_SENTENCES = 5
MAX_TOPICS = 8
_HEADING = "What the user said of themselves (sentences quoted, nothing rewritten):"
_OTHER_HEADING = "From recent conversations:"


async def run(task: Task) -> Result:
    """The profile and its topics, with the tokens of the profile."""
    made = await task.ask(local=_by_quotes, remote=lambda provider: provider.chat(task, QUESTION))
    return {**made, **await task.count_summary(made["summary"])}


# The built-in version


def _by_quotes(payload: Payload) -> Result:
    """Quotes what the user states of themselves, and a few of their other sentences.

    It keeps the newest of statements that repeat or exclude each other, and name, work, health and documents longest.
    """
    previous = (payload.get("previous_summary") or "").partition(_OTHER_HEADING)[0]
    sentences = [sentence for line in previous.splitlines() if line != _HEADING for sentence in split_sentences(line)]
    said = [message["content"] for message in payload["messages"] if message["role"] == "user"]
    stated: list[str] = []
    others: list[str] = []
    for text, found in zip(said, recognise_all(said), strict=True):
        ours = [statement.content for statement in statements_in(text, found.language)] if found.language else []
        stated += map(shortened, ours)
        others += [
            shortened(sentence)
            for sentence in split_sentences(text)
            if not sentence.endswith("?") and not any(statement in sentence for statement in ours)
        ]
    statements = _kept(_latest([*sentences, *stated]))
    best = best_sentences([words_of(sentence) for sentence in others], MAX_OTHER_SENTENCES)
    lines = [_HEADING, *(f"- {statement}" for statement in statements)]
    if best:
        lines += [_OTHER_HEADING, *(f"- {others[position]}" for position in best)]
    words = (word for sentence in [*sentences, *stated, *others] for word in words_of(sentence))
    return {
        "summary": "\n".join(lines),
        "metadata": {"method": "extractive", "topics": frequent_words(words, MAX_TOPICS)},
    }


def _kept(statements: list[str]) -> list[str]:
    """At most MAX_STATEMENTS in their order: what lasts, and the newest of the others."""
    if len(statements) <= MAX_STATEMENTS:
        return statements
    places = sorted(range(len(statements)), key=lambda place: (is_lasting(statements[place]), place))
    return [statements[place] for place in sorted(places[-MAX_STATEMENTS:])]


def _latest(statements: list[str]) -> list[str]:
    """The statements, oldest first, without those that a later one repeats or replaces."""
    kept: list[str] = []
    seen: set[object] = set()
    for statement in reversed(statements):
        said, values = claim(statement) or statement, single_values(statement)
        if not {said, *values} & seen:
            kept.append(statement)
        seen |= {said, *(key for key, value in values.items() if value.replaces)}
    return kept[::-1]


# The question to a chat model


@cache
def _reply_type() -> type[BaseModel]:
    from ..chat.replies import Text, reply_object

    return reply_object("UserSummary", summary=Text, topics=(list[Text], []))


QUESTION = Question(
    variables={"messages": messages, "previous_summary": previous_summary},
    reply_type=lambda _: _reply_type(),
    result=lambda _, reply: {"summary": reply.summary, "metadata": {"topics": reply.topics}},
    parts=Parts("messages", beside=("previous_summary",), continues=True),
    reply_tokens=2000,
    from_text=lambda _, text: summary_of_text(text),
)

"""The conversation that is asked about: an agent that runs forty commands, and what contexts hold of their outputs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.rows import namedtuple_row

from bench.passages.facts import Fact
from bench.passages.outputs import Output

USER, THREAD = "ana", "work"
SMALL_TALK = (
    "Thanks, that is all for today.", "What should I cook for six people tonight?", "Can you recommend a good novel?",
    "Please rephrase your last answer more politely.", "How do I say good morning in Portuguese?",
    "Let's continue tomorrow.", "Who won the world cup in 1998?", "Write a haiku about autumn.",
    "I am allergic to peanuts, please remember that.", "What is the capital of Mongolia?",
    "My daughter's birthday is in June.", "Tell me a joke.", "How many legs does a spider have?",
    "Which train goes to Basel in the morning?", "Can you explain what a monad is?", "I prefer short answers.",
    "Do I need a visa for Norway?", "Please call me Annie from now on.", "How do I get red wine out of a carpet?",
    "What is a polite way to decline an invitation?",
)  # fmt: skip
"""Nothing that any of the outputs answers."""


@dataclass(frozen=True)
class Asked:
    """What the context of a question holds."""

    held: bool
    """Whether the answer stands in it."""
    tokens: int
    """Of the whole context."""
    kept_tokens: int
    """Of the part with the passages."""
    seconds: float


def talk(connection: psycopg.Connection, outputs: Sequence[Output]) -> None:
    """Adds the conversation, message by message, each output as the tool's message."""
    for number, output in enumerate(outputs):
        call = {"id": f"call_{number}", "type": "function", "function": {
            "name": "shell", "arguments": json.dumps({"command": output.command})}}  # fmt: skip
        for message in (
            {"role": "user", "content": output.request},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": output.content,
             "metadata": {"exit_status": output.exit_status}},
            {"role": "assistant", "content": "Done. The output is kept; ask me if you need something of it."},
        ):  # fmt: skip
            connection.execute("select memory.add_messages(%s, %s, %s)", (USER, THREAD, json.dumps([message])))


def ask(
    connection: psycopg.Connection,
    question: str,
    answer: str | None,
    max_tokens: int,
    count: Callable[[str], int],
    vector: str | None = None,
) -> Asked:
    """Asks for one context."""
    started = time.perf_counter()
    with connection.cursor(row_factory=namedtuple_row) as cursor:
        parts: list[Any] = cursor.execute(
            "select * from memory.get_context(%s, %s, query => %s, max_tokens => %s, query_embedding => %s::vector)",
            (USER, THREAD, question, max_tokens, vector),
        ).fetchall()
    seconds = time.perf_counter() - started
    kept = [part for part in parts if "artifacts" in (part.metadata or {})]
    return Asked(
        held=answer is not None and any(answer in part.content for part in parts),
        tokens=sum(
            count(part.content) + count(json.dumps((part.metadata or {}).get("tool_calls", ""))) for part in parts
        ),
        kept_tokens=sum(count(part.content) for part in kept),
        seconds=seconds,
    )


def answer_of(fact: Fact) -> str:
    """The answer as a context shows it: of several lines the longest has to be there."""
    return max(fact.answer.split("\n"), key=len)

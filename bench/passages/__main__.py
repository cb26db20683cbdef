"""Measures whether contexts hold the lines that questions about long outputs are about: ``python -m bench.passages``.

An agent runs forty commands whose outputs have 3,000 tokens each, so that the thread holds their placeholders. Then a
hundred questions are asked, each about a line deep inside of one output, in the words of somebody who remembers it
roughly. A question is answered if the part of the line that answers it stands in the context.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Sequence
from statistics import mean, median
from typing import Any

import psycopg
from agent_memory import Memory

from bench.passages.conversation import SMALL_TALK, Asked, answer_of, ask, talk
from bench.passages.facts import Fact
from bench.passages.outputs import outputs
from bench.quality import stored
from bench.quality.embedding_server import Embeddings, add_options, embeddings_of, literal
from bench.quality.stored import EmbeddingModel
from bench.support.environment import describe, environment, say, write
from bench.support.markdown import table
from bench.support.tokens import token_counter
from tests.support.servers import running_server

MAX_TOKENS = 8000
Count = Callable[[str], int]


def main() -> None:
    """Runs the benchmark and writes its results to bench/results."""
    parser = argparse.ArgumentParser(prog="python -m bench.passages", description=(__doc__ or "").split(":")[0])
    add_options(parser, required=False)
    options = parser.parse_args()
    made = outputs()
    facts = [fact for output in made for fact in output.facts]
    counter, count = token_counter()
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(running_server("system", {"shared_buffers": "256MB"}))
        database = stack.enter_context(stored.database(server, "passages"))
        connection, memory = database.connection, Memory(database.connection)
        talk(connection, made)
        memory.admin.sweep()  # parses the words
        connection.execute("vacuum analyze")
        say("Asking without a model")
        memory.admin.set_policy({"context": {"expand_artifacts": False}})
        measured = {"placeholders only": _measure(connection, facts, count)}
        memory.admin.set_policy({"context": {"expand_artifacts": None}})
        measured["keyword only"] = _measure(connection, facts, count)
        if options.embeddings_url or options.embedding_python:
            say("Embedding")
            embeddings = stack.enter_context(embeddings_of(options))
            EmbeddingModel(embeddings.url, embeddings.model, embeddings.dimensions).register(memory)
            stored.embed(database)
            say("Asking with the model")
            measured[embeddings.model] = _measure(connection, facts, count, embeddings)
        results: dict[str, Any] = {
            **environment(connection),
            "token_counter": counter,
            "outputs": len(made),
            "tokens_of_outputs": round(mean(count(output.content) for output in made)),
            "measured": measured,
        }
    write("passages", results, _page(results))
    say("\n" + _overview(results))


def _measure(
    connection: psycopg.Connection, facts: Sequence[Fact], count: Count, embeddings: Embeddings | None = None
) -> dict[str, Any]:
    """All questions, and how much a context shows of outputs where the question is about something else."""

    def context(question: str, answer: str | None) -> Asked:
        vector = literal(embeddings.of([question])[0]) if embeddings else None
        return ask(connection, question, answer, MAX_TOKENS, count, vector)

    asked = [(fact, context(fact.question, answer_of(fact))) for fact in facts]
    other = [context(question, None) for question in SMALL_TALK]
    each = [of_question for _, of_question in asked]
    return {
        "tuned": _share([of_question for fact, of_question in asked if fact.is_tuned]),
        "held_out": _share([of_question for fact, of_question in asked if not fact.is_tuned]),
        "all": _share(each),
        "tokens": round(mean(one.tokens for one in each)),
        "kept_tokens": round(mean(one.kept_tokens for one in each)),
        "kept_tokens_of_small_talk": round(mean(one.kept_tokens for one in other)),
        "milliseconds": round(1000 * median(one.seconds for one in each), 1),
        "missed": [fact.question for fact, of_question in asked if not of_question.held],
    }


def _share(contexts: Sequence[Asked]) -> float:
    return round(mean(context.held for context in contexts), 3)


def _overview(results: dict[str, Any]) -> str:
    header = ["Context", "answered", "tuned on", "held out", "tokens", "of them kept texts"]
    header += ["where the question is about something else", "ms"]
    rows = []
    for name, each in results["measured"].items():
        shares = [f"{each[group]:.0%}" for group in ("all", "tuned", "held_out")]
        tokens = [f"{each[what]:,}" for what in ("tokens", "kept_tokens", "kept_tokens_of_small_talk")]
        rows.append([name, *shares, *tokens, f"{each['milliseconds']:.0f}"])
    return table(header, rows)


def _page(results: dict[str, Any]) -> str:
    """The results as a Markdown page."""
    missed = {name: each["missed"] for name, each in results["measured"].items() if name != "placeholders only"}
    parts = [
        "# Passages of kept texts in contexts",
        f"{describe(results)}; tokens by {results['token_counter']}.",
        f"A conversation in which an agent runs {results['outputs']} commands. Their outputs (logs of pip, npm, make "
        "and a server, diffs, traces and test runs, web pages, deployments, JSON and CSV, made by generators) have "
        f"{results['tokens_of_outputs']:,} tokens on average and stand as placeholders in the thread. 100 questions "
        "are about a line deep inside of one of them, in other words than the line's where a person would use others. "
        "A question counts as answered if the answering part of the line stands in the context of "
        f"{MAX_TOKENS:,} tokens. Half of the questions were tuned on; the other half has the same author. "
        "The last two columns: tokens of kept texts where 20 questions are about something else, and the median time "
        "of a context, with whatever else the machine did.",
        _overview(results),
        *(
            f"Not answered, {name}: " + (" ".join(f"“{question}”" for question in questions) or "none") + "."
            for name, questions in missed.items()
        ),
    ]
    return "\n\n".join(parts)


if __name__ == "__main__":
    main()

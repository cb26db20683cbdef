"""Measures whether contexts hold the lines that questions about long outputs are about: ``python -m bench.passages``.

An agent runs forty commands whose outputs have 3,000 tokens each, so that the thread holds their placeholders. Then a
hundred questions are asked, each about a line deep inside of one output, in the words of somebody who remembers it
roughly. A question is answered if the part of the line that answers it stands in the context.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import datetime
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

import psycopg
from agent_memory import Memory
from agent_memory.worker import Worker

from bench.passages import report
from bench.passages.conversation import SMALL_TALK, Asked, answer_of, ask, talk
from bench.passages.facts import Fact
from bench.passages.outputs import of_the_tuned_half, outputs
from bench.quality.embedding_server import Embeddings, literal, running_embedding_servers
from bench.quality.stored import EmbeddingModel
from bench.support.environment import RESULTS, announce, machine, pgvector, postgresql, say
from bench.support.tokens import token_counter
from tests.support.servers import install_agent_memory, running_server

Count = Callable[[str], int]
Embed = Callable[[str], str | None]


def main() -> None:
    """Runs the benchmark and writes its results to bench/results."""
    options = _options()
    made = outputs()
    facts = list(of_the_tuned_half(made))
    counter, count = token_counter()
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(running_server(options.server, {"shared_buffers": "256MB"}))
        install_agent_memory(server, "postgres")
        connection = stack.enter_context(psycopg.connect(server.conninfo(), autocommit=True))
        talk(connection, made)
        connection.execute("select memory.sweep()")  # parses the words
        connection.execute("vacuum analyze")
        say("Asking without a model")
        measured = {
            "placeholders only": _without(connection, lambda: _measure(connection, facts, options.max_tokens, count)),
            "keyword only": _measure(connection, facts, options.max_tokens, count),
        }
        if options.embedding_python:
            say("Embedding")
            urls = stack.enter_context(running_embedding_servers(options.embedding_python))
            embeddings = Embeddings(urls, options.embedding_model)
            vectors = embeddings.of([fact.question for fact, _ in facts] + list(SMALL_TALK))
            known = dict(zip([fact.question for fact, _ in facts] + list(SMALL_TALK), vectors, strict=True))
            EmbeddingModel(urls[0], options.embedding_model, len(vectors[0])).register(Memory(connection))
            _embed(connection, server.conninfo())
            say("Asking with the model")
            measured[options.embedding_model] = _measure(
                connection, facts, options.max_tokens, count, lambda question: literal(known[question])
            )
        versions = {"postgresql": postgresql(connection), "pgvector": pgvector(connection)}
    results: report.Results = {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        **versions,
        "token_counter": counter,
        "max_tokens": options.max_tokens,
        "outputs": len(made),
        "tokens_of_outputs": round(mean(count(output.content) for output in made)),
        "measured": measured,
    }
    announce(report.write(results, options.results))
    say("\n" + report.overview(results))


def _measure(
    connection: psycopg.Connection,
    facts: Sequence[tuple[Fact, bool]],
    max_tokens: int,
    count: Count,
    embed: Embed = lambda _: None,
) -> dict[str, Any]:
    """All questions, and how much a context shows of outputs where the question is about something else."""
    asked = [
        (is_tuned, fact, ask(connection, fact.question, answer_of(fact), max_tokens, count, embed(fact.question)))
        for fact, is_tuned in facts
    ]
    other = [ask(connection, question, None, max_tokens, count, embed(question)) for question in SMALL_TALK]
    each = [context for *_, context in asked]
    return {
        "tuned": _share([context for is_tuned, _, context in asked if is_tuned]),
        "held_out": _share([context for is_tuned, _, context in asked if not is_tuned]),
        "all": _share(each),
        "tokens": round(mean(context.tokens for context in each)),
        "most_tokens": max(context.tokens for context in each + other),
        "kept_tokens": round(mean(context.kept_tokens for context in each)),
        "kept_tokens_of_small_talk": round(mean(context.kept_tokens for context in other)),
        "milliseconds": round(1000 * median(context.seconds for context in each), 1),
        "missed": [fact.question for _, fact, context in asked if not context.held],
    }


def _share(contexts: Sequence[Asked]) -> float:
    return round(mean(context.held for context in contexts), 3)


def _without(connection: psycopg.Connection, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What is measured where contexts show placeholders only."""
    for is_on in (False, None):
        connection.execute("select memory.set_policy(%s)", [json.dumps({"context": {"expand_artifacts": is_on}})])
        if is_on is False:
            measured = measure()
    return measured


def _embed(connection: psycopg.Connection, conninfo: str) -> None:
    """Has a worker embed everything. Raises RuntimeError when embeddings do not come."""
    for _ in range(100):
        asyncio.run(Worker(conninfo, kinds=["embed", "backfill"], concurrency=2).run(once=True))
        row = connection.execute("select bool_and(done = total) from memory.backfill_status()").fetchone()
        if row and row[0]:
            return
    raise RuntimeError("not everything is embedded")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.passages", description=(__doc__ or "").split(":")[0])
    parser.add_argument("--embedding-python", type=Path, help="a Python with a small model: also ask with its help")
    parser.add_argument("--embedding-model", default="all-MiniLM-L6-v2", help="name of the model (default %(default)s)")
    parser.add_argument("--max-tokens", type=int, default=8000, help="of a context (default %(default)s)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder to write to (default bench/results)")
    parser.add_argument("--server", choices=("system", "embedded"), default="system", help="as for the tests")
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""Measures how well search finds the evidence of LoCoMo's questions: ``python -m bench.quality --help``.

Everything goes the way it goes in use: the importer stores the messages, the worker has them embedded by a real model,
memory.search() ranks them. Only the embeddings of the questions are made beforehand, once for all methods.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import datetime
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from agent_memory import Memory
from agent_memory.importer import import_file
from agent_memory.worker import Worker
from psycopg import sql

from bench.quality import evidence, mixed_lengths, report
from bench.quality.embedding_server import embed, running_embedding_server
from bench.quality.evidence import Finding, Question, Sample
from bench.support.environment import LOCOMO, RESULTS, announce, machine, pgvector, postgresql, say
from tests.support.servers import Server, install_agent_memory, running_server

TOP_K = 50
PATIENCE_SECONDS = 120
# Only what is measured: nothing expires, and no model work besides the embeddings.
POLICY = {
    "messages": {"expires_after": "never"},
    "summary": {"enabled": False},
    "compression": {"enabled": False},
    "cadence": {"fact_extraction_every_n": 0},
}


@dataclass(frozen=True)
class Method:
    """A mode of memory.search() under a policy."""

    name: str
    mode: str
    policy: dict[str, Any] = field(default_factory=dict)


METHODS = (
    Method("keyword", "keyword"),
    Method("vector", "vector"),
    Method("hybrid, score", "hybrid", {"fusion": "score"}),
    Method("hybrid, rrf", "hybrid", {"fusion": "rrf"}),
)
BEST = "hybrid, score"  # the default, which the others are compared with


@dataclass(frozen=True)
class Stored:
    """Where the turns of a user are: which message, as search calls it, holds a turn, and the tokens of messages."""

    message: dict[tuple[str, str], str]
    tokens: dict[tuple[str, str], int]


def main() -> None:
    """Runs the benchmark and writes its results to bench/results."""
    options = _options()
    started = time.monotonic()
    samples = json.loads(options.data.read_text())[: options.conversations]
    questions = evidence.questions(samples)
    with contextlib.ExitStack() as stack:
        url = options.embeddings_url or stack.enter_context(running_embedding_server(options.embedding_python))
        say(f"Embedding {len(questions):,} questions")
        vectors = embed(url, options.embedding_model, [question.text for question in questions])
        dimensions = vectors[0].count(",") + 1
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(running_server(options.server, {"shared_buffers": "256MB"}))
        measured = {}
        for name, path in _files(samples, folder):
            with _database(server, name) as connection:
                say(f"\n{name}: importing and embedding")
                stored = _load(connection, path, url, options.embedding_model, dimensions)
                measured[name] = _measure(connection, stored, questions, vectors, options.methods)
                versions = {"postgresql": postgresql(connection), "pgvector": pgvector(connection)}
    results: report.Results = {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        **versions,
        "embedding": {"model": options.embedding_model, "dimensions": dimensions},
        "conversations": len(samples),
        "top_k": TOP_K,
        "sets": measured,
    }
    say(f"\nDone in {time.monotonic() - started:.0f} s")
    announce(report.write(results, BEST, options.results))
    say("\n" + report.recall_table(results["sets"], "all"))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description=(__doc__ or "").split(":")[0])
    parser.add_argument("--data", type=Path, default=LOCOMO, help="LoCoMo's locomo10.json")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--embeddings-url", help="an OpenAI-compatible server of embeddings, up to /v1")
    source.add_argument("--embedding-python", type=Path, help="a Python with the packages of the server to start")
    parser.add_argument("--embedding-model", default="all-MiniLM-L6-v2", help="name of the model (default %(default)s)")
    parser.add_argument("--conversations", type=int, metavar="N", help="only the first N, to try it out")
    parser.add_argument("--only", nargs="+", metavar="WORD", help="only methods whose names contain one of these")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder to write to (default bench/results)")
    parser.add_argument("--server", choices=("system", "embedded"), default="system", help="as for the tests")
    options = parser.parse_args()
    options.methods = [
        method for method in METHODS if not options.only or any(word in method.name for word in options.only)
    ]
    if not options.methods:
        parser.error("no method has such a name; they are: " + "; ".join(method.name for method in METHODS))
    if not options.data.exists():
        parser.error("LoCoMo is not there: pass its locomo10.json as --data")
    return options


def _files(samples: list[Sample], folder: Path) -> Iterator[tuple[str, Path]]:
    """The sets to import: LoCoMo as it is, and the conversations of mixed lengths made of it."""
    path = folder / "locomo.json"
    path.write_text(json.dumps(samples))
    yield "LoCoMo", path
    path = folder / "mixed.jsonl"
    mixed_lengths.write(samples, path)
    yield "mixed lengths", path


@contextlib.contextmanager
def _database(server: Server, name: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    install_agent_memory(server, name)
    with psycopg.connect(server.conninfo(name), autocommit=True) as connection:
        yield connection


def _load(connection: psycopg.Connection, path: Path, url: str, model: str, dimensions: int) -> Stored:
    """Imports a file and embeds its messages. Raises RuntimeError when embeddings do not come."""
    started = time.monotonic()
    memory = Memory(connection)
    memory.set_policy(POLICY)
    settings = {"base_url": url, "dimensions": dimensions, "timeout_seconds": 600}
    memory.register_model("embedding", "embedding", "openai", model, settings)
    memory.activate_model("embedding")
    for _ in import_file(connection, path):
        pass
    _embed_messages(connection)
    while memory.sweep()["checked"]:  # extraction would have parsed them
        pass
    connection.execute("vacuum analyze")
    rows = connection.execute(
        """
        select m.user_id, m.thread_id || '/' || m.seq, m.token_count,
          coalesce(m.metadata -> 'dia_ids', jsonb_build_array(m.metadata -> 'dia_id'))
        from memory.messages as m
        """
    ).fetchall()
    say(f"  {len(rows):,} messages in {time.monotonic() - started:.0f} s")
    return Stored(
        message={(user, turn): message for user, message, _, turns in rows for turn in turns},
        tokens={(user, message): tokens for user, message, tokens, _ in rows},
    )


def _embed_messages(connection: psycopg.Connection) -> None:
    missing, patience = None, 0.0
    while True:
        row = connection.execute(
            """
            select (select count(*) from memory.messages where content <> '')
              - (select count(*) from memory.embeddings where source = 'message')
            """
        ).fetchone()
        left = row[0] if row else 0
        if left == 0:
            return
        if left != missing:
            missing, patience = left, time.monotonic() + PATIENCE_SECONDS
        elif time.monotonic() > patience:
            raise RuntimeError(f"{left} messages are not embedded")
        # The importer queues extraction too, which would only take time.
        asyncio.run(Worker(connection.info.dsn, kinds=["embed"], concurrency=2).run(once=True))
        time.sleep(0.2)


def _measure(
    connection: psycopg.Connection,
    stored: Stored,
    questions: list[Question],
    vectors: list[str],
    methods: list[Method],
) -> dict[str, Any]:
    notices: list[str] = []
    connection.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
    findings: dict[str, list[Finding]] = {}
    for method in methods:
        started = time.monotonic()
        Memory(connection).set_policy({"search": method.policy})
        findings[method.name] = [
            _ask(connection, method, stored, question, vector)
            for question, vector in zip(questions, vectors, strict=True)
        ]
        if notices:  # such as "degraded": not what is to be measured
            raise RuntimeError(f"{method.name}: {notices[0]}")
        recall = sum(each.recall(10) for each in findings[method.name]) / len(questions)
        say(f"  {method.name}: recall@10 {recall:.1%} ({time.monotonic() - started:.0f} s)")
    best = findings.get(BEST)
    conversations = {user for user, _ in stored.tokens}
    return {
        "messages": len(stored.tokens),
        "tokens_per_conversation": round(sum(stored.tokens.values()) / len(conversations)),
        "methods": {
            name: {
                "groups": evidence.summarize(each),
                "gain_of_best_at_10": {group: evidence.difference(best, each, 10, group) for group in evidence.GROUPS}
                if best is not None and each is not best
                else None,
            }
            for name, each in findings.items()
        },
    }


def _ask(connection: psycopg.Connection, method: Method, stored: Stored, question: Question, vector: str) -> Finding:
    user = question.user_id
    rows = connection.execute(
        """
        select id from memory.search(user_id => %s, query => %s, query_embedding => %s::vector, mode => %s,
          sources => '{message}', top_k => %s)
        """,
        (user, question.text, vector, method.mode, TOP_K),
        prepare=True,
    )
    messages = {stored.message[user, turn] for turn in question.evidence}
    return evidence.find(question.conversation, messages, [(found, stored.tokens[user, found]) for (found,) in rows])


if __name__ == "__main__":
    main()

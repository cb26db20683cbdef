"""Measures the calls, tokens and price of model work per 1,000 messages: ``python -m bench.cost --help``.

No model is asked and nothing leaves the machine: the worker calls the tests' model server over HTTP, which replies in
realistic sizes (replies.py) and reports the tokens of what it was sent and said. The figures are those of the ledger.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import psycopg
from agent_memory import Memory
from agent_memory.importer import import_file
from agent_memory.worker import Worker
from agent_memory_models import Models
from psycopg.rows import dict_row

from bench.cost import replies, report
from bench.quality.evidence import sessions
from bench.quality.samples import write as write_samples
from bench.support import texts
from bench.support.environment import LOCOMO, environment, new_database, say, write
from bench.support.tokens import token_counter
from tests.models_real.conversations import conversations
from tests.support.fake_model_server import Behaviour, FakeModelServer, RecordedRequest
from tests.support.model_rules import Body
from tests.support.servers import Server, running_server

MODEL = "gpt-4.1-mini"
# USD per million tokens: examples, in the range of small models.
PRICES = {"input": 0.40, "output": 1.60}
PACINGS = {"jobs run after each round": 1, "jobs run after every 10th round": 10}
"""After how many rounds the worker runs each time."""

# "At message 100" is a mean over the calls up to there, because the length of one prompt varies with its messages.
GROWTH_FROM, GROWTH_WINDOW = 100, 40
GROWTH = ("summarize_thread", "extract_memories", "reconcile_memories", "compress_thread")
"""Kinds of jobs by whose prompts growth is measured, where jobs run after each round."""
LONGEST_WAIT_SECONDS = 60


Message = dict[str, Any]
"""A message to append, as the arguments of ``add_message``."""


@dataclass(frozen=True)
class Asked:
    """A request to the model server, and how many messages had been appended before it."""

    messages: int
    request: RecordedRequest


def main() -> None:
    """Runs the conversations and writes the results to bench/results."""
    parser = argparse.ArgumentParser(prog="python -m bench.cost", description=main.__doc__)
    parser.add_argument(
        "--messages", type=int, default=1000, help="messages of the made-up conversation (default 1000)"
    )
    options = parser.parse_args()
    tokens = Tokens()
    with running_server("embedded") as server, tempfile.TemporaryDirectory() as folder:
        measured = {
            name: _measure(server, path, tokens) for name, path in _conversations(Path(folder), options.messages)
        }
        with _database(server) as connection:
            about = environment(connection)
    results = {**about, "token_counter": tokens.name, "prices_per_million": PRICES, "texts": measured}
    write("cost", results, report.markdown(results))


class Tokens:
    """Counts the tokens of requests and replies."""

    def __init__(self) -> None:
        self.name, self._count = token_counter()

    def __call__(self, text: str) -> int:
        return self._count(text)

    def instructions(self, body: Body) -> int:
        """Tokens of what every prompt of a kind has: the system message and the schema of the reply."""
        return self(body["messages"][0]["content"]) + self(json.dumps(body["response_format"], separators=(",", ":")))

    def prompt(self, body: Body) -> int:
        """Tokens of a whole request."""
        return self.instructions(body) + sum(self(message["content"]) for message in body["messages"][1:])

    def behaviour(self, request: RecordedRequest) -> Behaviour:
        """A reply in realistic size, with the usage that a provider would report."""
        return Behaviour(answer=replies.reply, body=partial(self._with_usage, request.body))

    def _with_usage(self, asked: Body, text: str) -> str:
        body = json.loads(text)
        tokens_in = self.prompt(asked)
        tokens_out = sum(self(choice["message"]["content"]) for choice in body.get("choices", []))
        body["usage"] = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
        return json.dumps(body)


def _conversations(folder: Path, messages: int) -> Iterator[tuple[str, Path]]:
    """Files to import: made-up texts in one thread, believable conversations, and LoCoMo's longest if it is there."""
    made_up = [{"user_id": "user", "messages": json.loads(texts.conversation(messages))}]
    believable = [{"user_id": "user", "thread_id": talk.name, "messages": talk.messages} for talk in conversations()]
    for name, threads in (("made-up texts", made_up), ("believable conversations", believable)):
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(thread) + "\n" for thread in threads))
        yield name, path
    if LOCOMO.exists():
        samples = json.loads(LOCOMO.read_text())
        longest = max(samples, key=lambda sample: sum(len(turns) for _, turns in sessions(sample)))
        path = folder / "locomo.jsonl"
        write_samples([longest], path)
        yield f"LoCoMo {longest['sample_id']}", path


def _measure(server: Server, path: Path, tokens: Tokens) -> dict[str, Any]:
    """The conversation of one file, at each pacing."""
    with _database(server) as connection:
        messages = _imported(connection, path)
    asked: dict[str, list[Asked]] = {}
    kinds: dict[str, dict[str, dict[str, Any]]] = {}
    for pacing, rounds in PACINGS.items():
        with FakeModelServer() as fake, _database(server) as connection:
            fake.behaviour = tokens.behaviour
            _register(connection, fake.url)
            drive = Drive(connection, fake)
            asyncio.run(drive.run(messages, rounds))
            kinds[pacing], asked[pacing] = _ledger(connection), drive.asked
            _check(kinds[pacing], drive.asked, tokens)
        price = sum(float(row["price"]) for row in kinds[pacing].values())
        say(f"{path.name}, {pacing}: {price * 1000 / len(messages):.3f} USD")
    threads = len({message["thread_id"] for message in messages})
    return {
        "messages": len(messages),
        "threads": threads,
        "tokens": sum(tokens(message["content"]) for message in messages),
        "kinds": kinds,
        "growth": _growth(next(iter(asked.values())), messages, tokens) if threads == 1 else None,
    }


@contextlib.contextmanager
def _database(server: Server) -> Iterator[psycopg.Connection]:
    """A database that is dropped at the end."""
    with new_database(server, "cost") as connection:
        yield connection
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        connection.execute("drop database cost with (force)")


def _imported(connection: psycopg.Connection, path: Path) -> list[Message]:
    """The messages of a file, as the importer understands them, thread by thread."""
    for _ in import_file(connection, path):
        pass
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(
            """
            select m.user_id, m.thread_id, m.role, m.content, m.metadata, m.created_at
            from memory.messages as m join memory.threads as t using (user_id, thread_id)
            order by t.first_at, t.thread_id, m.seq
            """
        ).fetchall()


def _register(connection: psycopg.Connection, url: str) -> None:
    admin = Memory(connection).admin
    prices = {"price_per_million_input": PRICES["input"], "price_per_million_output": PRICES["output"]}
    admin.register_model("chat", "chat", "openai", MODEL, {"base_url": url, **prices})
    admin.activate_model("chat")
    # Of sentences that are put together by chance, a few look like orders to a model.
    admin.set_policy({"trust": {"rules": False}})


class Drive:
    """An application that appends messages, a worker that keeps up, and cron that sweeps."""

    def __init__(self, connection: psycopg.Connection, fake: FakeModelServer) -> None:
        self.asked: list[Asked] = []
        self._connection = connection
        self._memory = Memory(connection)
        self._fake = fake
        self._appended = 0

    async def run(self, messages: list[Message], rounds_between: int) -> None:
        """Does all work that becomes due, to the consolidation a week later. Raises RuntimeError when a job fails."""
        async with Models(may_download=False) as models:
            await self._talk(messages, rounds_between, models)
            self._connection.execute("set session_replication_role = replica")  # no version of a memory for this
            self._connection.execute("update memory.memories set created_at = created_at - interval '8 days'")
            self._connection.execute("reset session_replication_role")
            self._memory.admin.sweep()
            await self._work(models)

    async def _talk(self, messages: list[Message], rounds_between: int, models: Models) -> None:
        rounds = 0
        for message, following in zip(messages, [*messages[1:], None], strict=True):
            self._memory.add_message(**message)
            self._appended += 1
            if message["role"] == "assistant":
                rounds += 1
                if rounds % rounds_between == 0:
                    await self._work(models)
            if following is None or following["thread_id"] != message["thread_id"]:
                # The thread ends: an hour later what is left of it is due.
                await self._work(models)
                self._connection.execute("update memory.threads set last_at = now() - interval '2 hours'")
                self._memory.admin.sweep()
                await self._work(models)

    async def _work(self, models: Models) -> None:
        """Runs jobs until none is left. A job may have to wait for another one of its thread."""
        patience = time.monotonic() + LONGEST_WAIT_SECONDS
        while True:
            # One job at a time, so that the same figures come out each time.
            counts = await Worker(self._connection.info.dsn, models=models, concurrency=1).run(once=True)
            self.asked += [Asked(self._appended, each) for each in self._fake.requests[len(self.asked) :]]
            if counts.settled != counts.completed:
                raise RuntimeError(f"the worker reports {counts}")
            if not self._connection.execute("select 1 from memory.jobs where status <> 'completed' limit 1").fetchone():
                return
            if time.monotonic() > patience:
                raise RuntimeError("jobs do not come to an end")
            await asyncio.sleep(0.5)


def _ledger(connection: psycopg.Connection) -> dict[str, dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(
            """
            select kind, sum(calls)::int as calls, sum(failed_calls)::int as failed_calls,
              sum(tokens_in)::int as tokens_in, sum(tokens_out)::int as tokens_out, sum(price)::float8 as price
            from memory.model_usage group by kind order by sum(price) desc
            """
        )
        return {row.pop("kind"): row for row in rows}


def _check(kinds: dict[str, dict[str, Any]], asked: list[Asked], tokens: Tokens) -> None:
    """Raises RuntimeError when the ledger has other calls and tokens than the model server got."""
    entered = sum(row["calls"] for row in kinds.values()), sum(row["tokens_in"] for row in kinds.values())
    sent = len(asked), sum(tokens.prompt(each.request.body) for each in asked)
    if entered != sent:
        raise RuntimeError(f"the ledger has {entered} calls and tokens, the model got {sent}")


def _growth(asked: list[Asked], messages: list[Message], tokens: Tokens) -> list[dict[str, Any]]:
    """The length of each prompt early and late in one thread."""
    last = len(messages)
    early, late = (sum(tokens(message["content"]) for message in messages[:end]) for end in (GROWTH_FROM, last))
    rows: list[dict[str, Any]] = [{"what": "all messages of the thread", "early": early, "late": late}]
    for prompt in GROWTH:
        calls = [each for each in asked if each.request.body["response_format"]["json_schema"]["name"] == prompt]
        if not calls:
            continue
        # Compression comes less often than the window is long: its first call then, and its last.
        first = [each for each in calls if GROWTH_FROM - GROWTH_WINDOW < each.messages <= GROWTH_FROM] or calls[:1]
        final = [each for each in calls if each.messages > last - GROWTH_WINDOW] or calls[-1:]
        rows.append(
            {
                "what": prompt,
                "instructions": tokens.instructions(calls[-1].request.body),
                "early_at": first[-1].messages,
                "early": round(fmean(tokens.prompt(each.request.body) for each in first)),
                "late_at": final[-1].messages,
                "late": round(fmean(tokens.prompt(each.request.body) for each in final)),
            }
        )
    return rows


if __name__ == "__main__":
    main()

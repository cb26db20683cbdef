"""Lets real chat models do the jobs of believable conversations, and says what came of it: ``make models-real``.

Without a model of yours, a small one on two kinds of servers does the jobs of 6 threads, once with the worker and once
with memory.run_jobs(). Printed are calls, failures by reason, tokens, and what was stored and refused. The command
exits with 1 if a memory or a deletion of messages has no evidence in the messages, or if a job died of size, slowness
or an outage. With AGENT_MEMORY_TEST_CHAT=http://localhost:11434/v1 (and AGENT_MEMORY_TEST_CHAT_MODEL, and a key in
AGENT_MEMORY_KEY_TEST_CHAT) that server is asked instead, and its recall and precision on the labelled facts are told.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psycopg
from agent_memory import Memory

from bench.support.environment import say
from tests.models_real.conversations import Conversation, conversations
from tests.models_real.outcome import Outcome, outcome
from tests.models_real.serving import SERVERS, ChatServer, is_installed, named_server, serving
from tests.support.servers import Server, install_agent_memory, running_server

RUNNERS = ("worker", "run_jobs")
KEY = "AGENT_MEMORY_KEY_TEST_CHAT"
MESSAGES_AT_ONCE = 12
SMALL_MODEL_READS = 12
"""Messages of each thread: a call of the small model takes half a minute on one core."""


def main() -> int:
    """Returns 1 if something harmful was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", nargs="+", choices=SERVERS, default=list(SERVERS))
    parser.add_argument("--runners", nargs="+", choices=RUNNERS, default=list(RUNNERS))
    parser.add_argument("--threads", nargs="+", help="names of files in threads/ (default: all)")
    parser.add_argument("--messages", type=int, help="at most so many of a thread (default: 12, or all for your model)")
    parser.add_argument("--attempts", type=int, default=5, help="of a failed job, each at once; the fifth is the last")
    parser.add_argument("--settings", type=json.loads, default={}, help="more settings of the model, as JSON")
    options = parser.parse_args()
    named, harm = named_server(), 0
    most = options.messages or (None if named else SMALL_MODEL_READS)
    talks = [each.first(most) for each in conversations() if not options.threads or each.name in options.threads]
    with tempfile.TemporaryDirectory() as folder, running_server("system", environment=_key()) as database:
        for name in ["the named server"] if named else options.servers:
            if named is None and not is_installed(name):
                say(f"{name}: skipped, because it is not installed (make .venv-models/.ready)")
                continue
            starting = contextlib.nullcontext(named) if named else serving(name, Path(folder, "server.log"))
            with starting as chat:
                for runner in options.runners:
                    started = time.monotonic()
                    found = _done(database, chat, runner, talks, options)
                    say(f"\n{name}, {runner} ({chat.model}, {(time.monotonic() - started) / 60:.1f} minutes)")
                    say(found.report(is_judged=named is not None))
                    harm += len(found.harm)
    return 1 if harm else 0


def _key() -> dict[str, str]:
    return {KEY: os.environ[KEY]} if KEY in os.environ else {}


def _done(
    database: Server, chat: ChatServer, runner: str, talks: Sequence[Conversation], options: argparse.Namespace
) -> Outcome:
    """Has all jobs of the conversations done in a new database, after every twelve messages and at the end."""
    with psycopg.connect(database.conninfo(), autocommit=True) as admin:
        admin.execute("drop database if exists models_real")
        admin.execute("create database models_real")
    install_agent_memory(database, "models_real")
    dsn = database.conninfo("models_real")
    with psycopg.connect(dsn, autocommit=True) as connection:
        memory = Memory(connection)
        bound = {} if named_server() else {"max_output_tokens": 1000}  # the small model seldom ends by itself
        settings = {"base_url": chat.url, **({"api_key_env": KEY} if _key() else {}), **bound, **options.settings}
        memory.admin.register_model("real", "chat", "openai", chat.model, settings)
        memory.admin.activate_model("real")
        for at in range(0, max(len(talk.messages) for talk in talks), MESSAGES_AT_ONCE):
            going_on = [talk for talk in talks if len(talk.messages) > at]
            for talk in going_on:
                memory.add_messages(talk.name, talk.name, talk.messages[at : at + MESSAGES_AT_ONCE])
                connection.execute("select memory.extract_memories(%s, %s)", (talk.name, talk.name))
            _work(connection, dsn, runner, options.attempts)
        for talk in talks:
            connection.execute("select memory.summarize_thread(%s, %s)", (talk.name, talk.name))
            connection.execute("select memory.summarize_user(%s)", (talk.name,))
            connection.execute("select memory.compress_thread(%s, %s)", (talk.name, talk.name))
        _work(connection, dsn, runner, options.attempts)
        return outcome(connection, talks)


def _work(connection: psycopg.Connection, dsn: str, runner: str, attempts: int) -> None:
    """Has the jobs done that are due; those that fail are due again at once."""
    for _ in range(attempts):
        if runner == "worker":
            command = [sys.executable, "-m", "agent_memory.cli", "worker", "--dsn", dsn, "--once"]
            subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        else:
            with psycopg.connect(dsn, autocommit=True) as session:
                session.execute("call memory.run_jobs()")
        waiting = connection.execute("update memory.jobs set run_after = now() where status = 'pending'")
        if not waiting.rowcount:
            return


if __name__ == "__main__":
    sys.exit(main())

"""Calls a database with the Python package that PYTHONPATH names, until its standard input ends.

``python caller.py DSN THREAD`` prints ``ready`` after its first calls, and at the end what came of them as JSON:
``calls`` that were answered, messages ``stored``, and ``errors`` with their SQLSTATE.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from typing import Any

import psycopg
from agent_memory import AgentMemoryError, Memory


def main(dsn: str, thread: str) -> None:
    """Call in turns what applications call most."""
    ended = threading.Event()
    threading.Thread(target=wait, args=[ended], daemon=True).start()
    told: dict[str, Any] = {"calls": 0, "stored": 0, "errors": []}
    with Memory(dsn, pool_size=1) as memory:
        number = 0
        while not ended.is_set():
            number += 1
            for call in calls(memory, f"{thread} {number % 3}", thread, number):
                answer = answered(call, told)
                told["stored"] += hasattr(answer, "seq")
            if number == 10:
                print("ready", flush=True)
    print(json.dumps(told))


def wait(ended: threading.Event) -> None:
    """Wait for the end of the standard input."""
    sys.stdin.read()
    ended.set()


def calls(memory: Memory, user: str, thread: str, number: int) -> list[Callable[[], Any]]:
    """One of each call."""
    return [
        lambda: memory.add_message(user, thread, "user", f"message {number} of the thread"),
        lambda: memory.add_memory(user, f"fact {number}"),
        lambda: memory.store_artifact(user, f"artifact {number} " * 50),
        lambda: memory.get_context(user, thread, query="message"),
        lambda: memory.get_messages(user, thread, recent_k=5),
        lambda: memory.list_threads(user),
    ]


def answered(call: Callable[[], Any], told: dict[str, Any]) -> Any:
    """Return the answer; an error is told."""
    try:
        answer = call()
    except (psycopg.Error, AgentMemoryError) as error:
        told["errors"].append([error.sqlstate, str(error)])
        return None
    told["calls"] += 1
    return answer


if __name__ == "__main__":
    main(*sys.argv[1:])

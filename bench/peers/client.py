"""One client of a compared system, in a process and an environment of its own: ``python -m bench.peers.client``.

Takes commands as lines of JSON, and answers each with one.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from typing import Any

from bench.peers import queues, savers, stores
from bench.peers.data import BIG, COUNTS, DOOMED, common_query, queries, query, sentence, texts

_MOST_DELETED = 25
"""Texts that one turn deletes; before the turn, a user who has fewer is filled again."""


class StoreClient:
    """Does operations on a store.

    Args:
        store: the store.
        number: the number of this client among those of the store.
    """

    def __init__(self, store: stores.Store, number: int) -> None:
        self._store = store
        self._own = f"writer{number}"
        self._doomed = DOOMED[number]
        self._rng = random.Random(time.time_ns())
        self._ids: dict[str, list[str]] = {}
        self.prepare = store.prepare

    def fill(self) -> None:
        """Add what all stores hold."""
        self._store.fill({user: texts(user) for user in COUNTS})

    def found(self) -> list[list[str]]:
        """What the store finds by meaning."""
        return [self._store.search_by_meaning(user, asked) for user, asked in queries()]

    def run(self, operation: str, seconds: float) -> float:
        """Do an operation for so long, and return how often a second."""
        step = self._steps()[operation]
        done, started = 0, time.perf_counter()
        while done == 0 or (operation != "bulk" and time.perf_counter() < started + seconds):
            done += step()
            if operation == "delete" and done >= _MOST_DELETED:
                break
        rate = done / (time.perf_counter() - started)
        if operation == "add":
            self._store.embed()  # the next operation is to find nothing left to do
        return rate

    def _steps(self) -> dict[str, Callable[[], int]]:
        """Each operation, which returns how many texts it was done with."""
        store, rng = self._store, self._rng

        def add_embedded() -> int:
            store.add(self._own, sentence(rng))
            store.embed()
            return 1

        def bulk() -> int:
            store.add_all(self._own, [sentence(rng) for _ in range(store.at_once)])
            return store.at_once

        def once(call: Callable[[], object]) -> int:
            call()
            return 1

        return {
            "add": lambda: once(lambda: store.add(self._own, sentence(rng))),
            "add, embedded": add_embedded,
            "bulk": bulk,
            "search": lambda: once(lambda: store.search(BIG, query(rng))),
            "search by meaning": lambda: once(lambda: store.search_by_meaning(BIG, query(rng))),
            "search again": lambda: once(lambda: store.search(BIG, common_query(rng))),
            "get": lambda: once(lambda: store.get(BIG, rng.choice(self._ids_of(BIG)))),
            "list": lambda: once(lambda: store.page(BIG)),
            "delete": lambda: once(lambda: store.delete(self._doomed, self._ids_of(self._doomed).pop())),
        }

    def warm(self, operation: str) -> None:
        """Read the ids that a turn of an operation takes, and add texts if too few are left to delete."""
        if operation == "get":
            self._ids_of(BIG)
        elif operation == "delete" and len(self._ids_of(self._doomed)) < _MOST_DELETED:
            self._store.fill({self._doomed: [sentence(self._rng) for _ in range(COUNTS[self._doomed])]})
            del self._ids[self._doomed]
            self._ids_of(self._doomed)

    def _ids_of(self, user: str) -> list[str]:
        if user not in self._ids:
            self._ids[user] = self._store.ids(user)
        return self._ids[user]


class QueueClient:
    """Works on a queue.

    Args:
        queue: the queue.
    """

    def __init__(self, queue: queues.Queue) -> None:
        self._queue = queue
        self.prepare = queue.prepare
        self.fill = queue.fill

    def warm(self, operation: str) -> None:
        """Need nothing."""

    def run(self, _operation: str, seconds: float) -> float:
        """Work for so long, and return how many jobs a second."""
        started = time.perf_counter()
        done = self._queue.work(seconds)
        return done / (time.perf_counter() - started)


class SaverClient:
    """Runs a graph and loads its states.

    Args:
        saver: the checkpointer.
        number: the number of this client among those of the checkpointer.
    """

    def __init__(self, saver: savers.Saver, number: int) -> None:
        self._saver = saver
        self._threads = f"thread {number}"
        self._turns = 0
        self.prepare = saver.prepare

    def fill(self) -> None:
        """Run the graph in 50 threads that no client takes."""
        self._threads = "earlier"
        for _ in range(50 * savers.TURNS):
            self._turn()

    def warm(self, _operation: str) -> None:
        """Run the graph once, so that there is a state to load."""
        if self._turns == 0:
            self._turn()

    def run(self, operation: str, seconds: float) -> float:
        """Do an operation for so long, and return how often a second."""
        step = self._turn if operation == "turn" else self._load
        done, started = 0, time.perf_counter()
        while time.perf_counter() < started + seconds:
            step()
            done += 1
        return done / (time.perf_counter() - started)

    def _turn(self) -> None:
        self._turns += 1
        self._saver.graph.invoke({"messages": ["Hello"]}, self._thread())

    def _load(self) -> None:
        self._saver.graph.get_state(self._thread())

    def _thread(self) -> dict[str, Any]:
        return {"configurable": {"thread_id": f"{self._threads}, {self._turns // savers.TURNS}"}}


def _made(kind: str, dsn: str, url: str, number: int) -> Any:
    """The client of a system by the name of its class."""
    if hasattr(stores, kind):
        return StoreClient(getattr(stores, kind)(dsn, url), number)
    if hasattr(queues, kind):
        return QueueClient(getattr(queues, kind)(dsn))
    return SaverClient(getattr(savers, kind)(dsn), number)


def main() -> None:
    kind, dsn, url, number = sys.argv[1:]
    answers, sys.stdout = sys.stdout, sys.stderr  # libraries print, too
    client = _made(kind, dsn, url, int(number))
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        print(json.dumps(getattr(client, name)(*arguments)), file=answers, flush=True)


if __name__ == "__main__":
    main()

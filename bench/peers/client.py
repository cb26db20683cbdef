"""One client of a compared system, in a process and an environment of its own: ``python -m bench.peers.client``.

Takes commands as lines of JSON, and answers each with one.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from functools import cached_property, partial
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

    def prepare(self) -> None:
        """Make the store in an empty database."""
        self._store.prepare()

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
        store, rng = self._store, self._rng

        def add() -> int:
            store.add(self._own, sentence(rng))
            return 1

        def add_embedded() -> int:
            add()
            store.embed()
            return 1

        def bulk() -> int:
            store.add_all(self._own, [sentence(rng) for _ in range(store.at_once)])
            return store.at_once

        def once(call: Callable[[], object]) -> int:
            call()
            return 1

        return {
            "add": add,
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

    def prepare(self) -> None:
        """Make the queue in an empty database."""
        self._queue.prepare()

    def fill(self) -> None:
        """Add jobs."""
        self._queue.fill()

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
        self._stored = 0

    def prepare(self) -> None:
        """Make the checkpointer in an empty database."""
        self._saver.prepare()

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
        step = {"turn": self._turn, "state": self._load, "put": self._put, "writes": self._put_writes}[operation]
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

    def _put(self) -> None:
        """Store the thread's newest state again as that of a further step, with new versions of two channels."""
        saver, checkpoint = self._saver.graph.checkpointer, self._newest.checkpoint
        newest = max(checkpoint["channel_versions"].values())
        new = {name: saver.get_next_version(newest, None) for name in ("messages", "steps")}
        further = {**checkpoint, "id": self._new_id(), "channel_versions": {**checkpoint["channel_versions"], **new}}
        saver.put(self._place("stored"), further, self._newest.metadata, new)

    def _put_writes(self) -> None:
        writes = [("messages", ["I prefer trains over planes. " * 7]), ("steps", 7), ("branch:to:second", None)]
        place = self._place("written", checkpoint_id=self._new_id())
        self._saver.graph.checkpointer.put_writes(place, writes, "task", "~path")

    @cached_property
    def _newest(self) -> Any:
        return self._saver.graph.checkpointer.get_tuple(self._thread())

    def _new_id(self) -> str:
        self._stored += 1
        return f"{time.time_ns():020}-{self._stored:08}"

    def _place(self, what: str, **named: str) -> dict[str, Any]:
        thread_id = f"{self._threads}, {what} {self._stored // 100}"
        return {"configurable": {"thread_id": thread_id, "checkpoint_ns": "", **named}}

    def _thread(self) -> dict[str, Any]:
        return {"configurable": {"thread_id": f"{self._threads}, {self._turns // savers.TURNS}"}}


_MAKERS: dict[str, Callable[[str, str, int], Any]] = {
    **{
        kind.__name__: partial(lambda kind, dsn, url, number: StoreClient(kind(dsn, url), number), kind)
        for kind in (stores.AgentMemory, stores.Mem0, stores.ExactMem0, stores.LangGraph, stores.ExactLangGraph)
    },
    **{
        kind.__name__: partial(lambda kind, dsn, _url, _number: QueueClient(kind(dsn)), kind)
        for kind in (queues.AgentMemoryJobs, queues.Procrastinate, queues.PgQueuer, queues.PgQueuerOneByOne)
    },
    **{
        kind.__name__: partial(lambda kind, dsn, _url, number: SaverClient(kind(dsn), number), kind)
        for kind in (savers.AgentMemoryCheckpoints, savers.LangGraphCheckpoints)
    },
}


def main() -> None:
    kind, dsn, url, number = sys.argv[1:]
    answers, sys.stdout = sys.stdout, sys.stderr  # libraries print, too
    client = _MAKERS[kind](dsn, url, int(number))
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        print(json.dumps(getattr(client, name)(*arguments)), file=answers, flush=True)


if __name__ == "__main__":
    main()

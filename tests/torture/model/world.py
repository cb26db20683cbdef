"""One database beside the model of it: each call goes to both, and any difference ends the run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import psycopg

from tests.support.sqlapi import Api, refusal
from tests.torture import audit
from tests.torture.model.memories import Memories
from tests.torture.model.messages import Conversations
from tests.torture.model.stores import Stores
from tests.torture.model.values import Clock, Policies, RefusedError

USERS = ("ana", "bob", "Zoë; drop")
MARKERS = dict(zip(USERS, ("quartz", "velvet", "saffron"), strict=True))
"""A word in each text of a user: nobody else may ever read it."""
AGENTS = ("default", "planner")
THREADS = ("t1", "t2", "t 3")
CLIENTS = 3
LIMIT, EVICTION = 1000, "importance"

# Jobs begin only when they are asked for, so that the model knows them all.
QUIET = {
    "summary": {"enabled": False},
    "compression": {"enabled": False},
    "cadence": {"fact_extraction_every_n": 0, "reconcile_every_n": 0},
    "artifacts": {"describe": False},
}


class Difference(AssertionError):  # noqa: N818  # a finding, not an error of the program
    """The database and the model disagree."""


class World:
    """The database under test by several connections, and the model."""

    def __init__(self, conninfo: str) -> None:
        self._stack = ExitStack()
        self.clients = [Api(self._open(conninfo)) for _ in range(CLIENTS)]
        self.clients[0].set_policy(settings=QUIET)
        self.clock = Clock()
        self.policies = Policies({"max_per_agent": LIMIT, "eviction": EVICTION})
        self.memories = {user_id: Memories(user_id, self.clock, self.policies) for user_id in USERS}
        self.talks = {user_id: Conversations() for user_id in USERS}
        self.stores = {user_id: Stores() for user_id in USERS}
        self._turns = itertools.count()
        self.calls = 0

    def _open(self, conninfo: str) -> psycopg.Connection[Any]:
        return self._stack.enter_context(psycopg.connect(conninfo, autocommit=True))

    def close(self) -> None:
        self._stack.close()

    @property
    def api(self) -> Api:
        """The clients in turns: no state of a session may matter."""
        return self.clients[next(self._turns) % CLIENTS]

    def call(self, function: str, **arguments: Any) -> Any:
        """What the database answers; a refusal becomes the model's kind of refusal, and must name an argument."""
        self.calls += 1
        self.clock.tick()
        try:
            return getattr(self.api, function)(**arguments)
        except psycopg.Error as error:
            if error.sqlstate is None or error.sqlstate[:2] not in ("22", "23", "40", "54", "AM", "P0"):
                raise
            refusal(error)  # has a hint
            raise RefusedError(error.sqlstate, f"{function}({arguments}): {error}") from error

    @contextmanager
    def same_refusal(self, expected: Callable[[], Any], what: str) -> Iterator[list[Any]]:
        """Runs the model first: yields what it answers, in a list; a refusal must be the database's answer too."""
        try:
            answer = [expected()]
        except RefusedError as refused:
            answer = []
            code = refused.code
        try:
            yield answer
        except RefusedError as refused:
            if answer:
                raise Difference(f"{what}: refused with {refused.code}, the model says {answer[0]!r}") from refused
            check(refused.code, code, what)
        else:
            if not answer:
                raise Difference(f"{what}: done, the model refuses with {code}")

    def both(self, expected: Callable[[], Any], function: str, **arguments: Any) -> Any:
        """Make a call whose whole answer the model knows."""
        self.clock.tick()
        what = f"{function}({arguments})"
        result = None
        with self.same_refusal(expected, what) as answer:
            result = self.call(function, **arguments)
            if answer:
                check(result, answer[0], what)
        return result

    def audit(self) -> None:
        """Compute all counters again."""
        check(audit.problems(self.clients[0].connection), [], "audit")


def check(found: Any, expected: Any, what: str) -> None:
    """Raise Difference unless both are equal."""
    if found != expected:
        raise Difference(f"{what}:\n  database {found!r}\n  model    {expected!r}")

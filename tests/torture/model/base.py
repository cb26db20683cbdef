"""What the rules share: the world, what they draw from, and many clients at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine

from tests.support.sqlapi import Api
from tests.torture.model.world import AGENTS, MARKERS, THREADS, USERS, World

users = st.sampled_from([*USERS, USERS[0], USERS[0], USERS[0]])
"""One of them more often, so that much comes together."""
agents = st.sampled_from([*AGENTS, AGENTS[0]])
threads = st.sampled_from([*THREADS, THREADS[0]])
numbers = st.integers(0, 5)
"""Of contents: so few that they are met again."""
keys = st.sampled_from(["k1", "k2", "k3"])
picks = st.integers(0, 1000)
"""Which of what there is, modulo its number."""
expiries = st.sampled_from([None, None, None, None, "future", "past"])


class Rules(RuleBasedStateMachine):
    """The world, and the user whose lists are compared after the step."""

    world: World
    touched: str | None

    def text(self, user_id: str, number: int) -> str:
        """A text with a word that only this user has, and a word by which search finds it."""
        return f"The {MARKERS[user_id]} note has word{number} in it"

    def say(self, user_id: str, thread_id: str, number: int = 0) -> None:
        """Append a message of the user."""
        content = self.text(user_id, number)
        answer = self.world.call("add_message", user_id=user_id, thread_id=thread_id, role="user", content=content)
        self.world.talks[user_id].append(
            thread_id, role="user", content=content, agent_id="default", metadata={}, token_count=answer.token_count,
            expires=None, idempotency_key=None,
        )  # fmt: skip

    def at_once(self, work: Callable[[Api], Any]) -> list[Any]:
        """Answers of all clients, asked at the same time; a refusal counts as an answer."""

        def ask(client: Api) -> Any:
            try:
                return work(client)
            except psycopg.Error as error:
                return error.sqlstate

        self.world.clock.tick()
        self.world.calls += len(self.world.clients)
        with ThreadPoolExecutor(len(self.world.clients)) as pool:
            return list(pool.map(ask, self.world.clients))


def pick(rows: list[Any], number: int) -> Any:
    """One of the rows; none if there is none."""
    return rows[number % len(rows)] if rows else None

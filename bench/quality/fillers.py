"""What a plain application would put into the same budget: the newest messages, or the nearest by vector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import psycopg

from bench.quality.context import BUDGETS, Asked, CountTokens, Filling
from bench.quality.evidence import Question
from bench.quality.stored import Database, Stored

LAST, NEAREST = "last messages", "vector top-k"
RANKED = 500


@dataclass(frozen=True)
class _Messages:
    """A user's messages, the newest first, and the tokens of each as a line with its date and speaker."""

    newest: Sequence[str]
    tokens: Mapping[str, int]


class Fillers:
    """Fills budgets from the messages of a database. A fence around them, as recalled text has it, is counted too."""

    def __init__(self, connection: psycopg.Connection, stored: Stored, count: CountTokens) -> None:
        fence = connection.execute("select memory._fenced('')").fetchone()
        self._fence = count(fence[0]) if fence else 0
        self._stored = stored
        self._users: dict[str, _Messages] = {}
        for (user,) in connection.execute("select distinct user_id from memory.messages").fetchall():
            rows = connection.execute(
                """
                select m.thread_id || '/' || m.seq, format(e'[%%s] %%s: %%s\\n',
                  to_char(m.created_at at time zone 'UTC', 'YYYY-MM-DD'), coalesce(m.metadata ->> 'name', m.role),
                  m.content)
                from memory.messages as m
                where m.user_id = %s
                order by m.created_at desc, m.thread_id desc, m.seq desc
                """,
                (user,),
            ).fetchall()
            self._users[user] = _Messages([name for name, _ in rows], {name: count(line) for name, line in rows})

    def measure(
        self, target: Database, asked: Sequence[Asked], budgets: Sequence[int] = BUDGETS
    ) -> dict[str, dict[int, list[Filling]]]:
        """The fillings of all questions for each filler and budget."""
        nearest = target.ask(lambda connection, each: _nearest(connection, *each), asked)
        newest = [self._users[question.user_id].newest for question, _ in asked]
        # A gap in the newest messages would make no sense; among the nearest a shorter one takes the place.
        ways: list[tuple[str, Sequence[Sequence[str]], bool]] = [(LAST, newest, False), (NEAREST, nearest, True)]
        return {
            name: {
                budget: [
                    self._fill(question, ranking, budget, skips)
                    for (question, _), ranking in zip(asked, rankings, strict=True)
                ]
                for budget in budgets
            }
            for name, rankings, skips in ways
        }

    def _fill(self, question: Question, ranking: Iterable[str], budget: int, skips: bool) -> Filling:
        user = question.user_id
        tokens = self._users[user].tokens
        total, chosen = self._fence, set()
        for message in ranking:
            if total + tokens[message] <= budget:
                total += tokens[message]
                chosen.add(message)
            elif not skips:
                break
        held = sum(self._stored.message[user, turn] in chosen for turn in question.evidence)
        return Filling(question.groups, len(question.evidence), held)


def _nearest(connection: psycopg.Connection, question: Question, vector: str) -> list[str]:
    rows = connection.execute(
        """
        select e.id from memory.texts as e
        where e.user_id = %s and e.source = 'message' and e.embedding is not null
        order by e.embedding <=> %s::vector::halfvec
        limit %s
        """,
        (question.user_id, vector, RANKED),
        prepare=True,
    )
    return [message for (message,) in rows]

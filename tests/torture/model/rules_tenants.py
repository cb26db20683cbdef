"""Rules of sessions that reach one user only: whatever they ask for of another user is refused."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import psycopg
from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.support.sqlapi import Api
from tests.torture.model.base import Rules, pick, picks, users
from tests.torture.model.world import TABLES, USERS, Difference, check

NOWHERE = UUID(int=4711)


class TenantRules(Rules):
    """A login role that is bound to a user, and one with the user's token. Other rules call through both, too."""

    @rule(
        user_id=users, distance=st.sampled_from([1, 2]), number=picks, has_token=st.booleans(),
        function=st.sampled_from([
            "get_messages", "get_context", "add_message", "clear_thread", "delete_thread", "list_threads", "add_memory",
            "get_memory", "update_memory", "delete_memory", "list_memories", "search", "render_memories",
            "retrieve_artifact", "list_artifacts", "delete_artifact", "list_documents", "get_job", "list_secrets",
            "set_secret", "delete_secret", "forget_memory", "export_user", "quarantine_memory", "release_memory",
            "list_quarantined", "get_thread_summary", "compress_thread",
        ]),
    )  # fmt: skip
    def ask_for_another_user(self, user_id: str, distance: int, number: int, has_token: bool, function: str) -> None:
        """Refused with 42501, also for what exists; whether the other user has it makes no difference."""
        other = USERS[(USERS.index(user_id) + distance) % len(USERS)]
        row = pick(list(self.world.memories[other].rows.values()), number)
        memory_id = row.memory_id if row else NOWHERE
        arguments: dict[str, dict[str, Any]] = {
            "get_messages": {"thread_id": "t1"}, "get_context": {"thread_id": "t1"},
            "add_message": {"thread_id": "t1", "role": "user", "content": "no"}, "clear_thread": {"thread_id": "t1"},
            "delete_thread": {"thread_id": "t1"}, "add_memory": {"content": "no"},
            "get_memory": {"memory_id": memory_id}, "update_memory": {"memory_id": memory_id, "content": "no"},
            "delete_memory": {"memory_id": memory_id}, "search": {"query": "word1", "mode": "keyword"},
            "retrieve_artifact": {"key": "k1"}, "delete_artifact": {"key": "k1"}, "get_job": {"job_id": number},
            "set_secret": {"name": "bank", "value": "no"}, "delete_secret": {"name": "bank"},
            "forget_memory": {"memory_id": memory_id}, "quarantine_memory": {"memory_id": memory_id, "reason": "no"},
            "release_memory": {"memory_id": memory_id}, "get_thread_summary": {"thread_id": "t1"},
            "compress_thread": {"thread_id": "t1"},
        }  # fmt: skip
        session = self.world.with_token(user_id) if has_token else self.world.bound(user_id)
        self.world.calls += 1
        self.world.tenant_calls += 1
        try:
            answer = getattr(session, function)(user_id=other, **arguments.get(function, {}))
        except psycopg.Error as error:
            check(error.sqlstate, "42501", f"{function} of {other} by {user_id}")
        else:
            raise Difference(f"{function} of {other} by {user_id} answers {answer!r}")
        self.touched = other

    @rule(user_id=users, has_token=st.booleans())
    def read_tables(self, user_id: str, has_token: bool) -> None:
        """Row security shows a tenant all rows of its user and none of anyone else."""
        session = self.world.with_token(user_id) if has_token else self.world.bound(user_id)
        self.world.tenant_calls += 1
        check(counts(session, ""), counts(self.world.api, "where user_id = %(user_id)s", user_id=user_id), user_id)


def counts(session: Api, condition: str, **parameters: Any) -> list[Any]:
    """How many rows of how many users a session sees in each table."""
    union = " union all ".join(
        f"select {place} as place, count(*) as count, count(distinct user_id) as users from memory.{table} {condition}"
        for place, table in enumerate(TABLES)
    )
    return [tuple(row) for row in session.query(f"{union} order by place", **parameters)]

"""Idempotency keys: a message that is sent twice is stored once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.messages.steps import ANA, add, contents
from tests.support.runners import PATIENCE
from tests.support.sqlapi import Api, refused


class TestIdempotencyKeys:
    def test_a_repetition_returns_the_stored_message(self, api: Api) -> None:
        first = add(api, idempotency_key="k")
        add(api, "between")
        assert add(api, idempotency_key="k") == first
        assert contents(api) == ["Hello", "between"]

    @pytest.mark.parametrize("other", [{"content": "Bye"}, {"role": "assistant"}])
    def test_another_message_under_the_key_is_refused(self, api: Api, other: dict[str, str]) -> None:
        add(api, idempotency_key="k")
        with refused("idempotency_key", "23505"):
            add(api, idempotency_key="k", **other)
        assert contents(api) == ["Hello"]

    @pytest.mark.feature("E16")
    @pytest.mark.parametrize(
        ("end", "batch"), [("clear", False), ("expiry", True), ("compression", False), ("direct deletion", True)]
    )
    def test_a_key_counts_when_its_message_is_gone(self, api: Api, end: str, batch: bool) -> None:
        def store(content: str = "Hello", role: str = "user") -> Any:
            if not batch:
                return add(api, content, role=role, idempotency_key="k")
            message = {"role": role, "content": content, "idempotency_key": "k"}
            [stored] = api.add_messages(**ANA, messages=[message])
            return stored

        first = store()
        ends = {
            "clear": "select memory.clear_thread('ana', 't1')",
            "expiry": "update memory.messages set expires_at = '2020-01-01'",
            "compression": "update memory.messages"
            " set is_active = false, summary_id = gen_random_uuid(), expires_at = '2020-01-01'",
            "direct deletion": "delete from memory.messages",
        }
        api.connection.execute(ends[end])
        api.sweep()
        assert api.query("select from memory.messages") == []
        assert store() == first
        with refused("idempotency_key", "23505"):
            store("Bye")
        with refused("idempotency_key", "23505"):
            store(role="assistant")
        with refused("idempotency_key", "23505"):
            api.connection.execute("""
                insert into memory.messages (user_id, thread_id, role, content, idempotency_key)
                values ('ana', 't1', 'user', 'Hello', 'k')
            """)
        assert api.query("select from memory.messages") == []
        add(api, "next")
        assert (contents(api), api.get_messages(**ANA)[0].seq) == (["next"], 1)

    def test_a_key_goes_with_its_thread(self, api: Api) -> None:
        add(api, idempotency_key="k")
        api.clear_thread(**ANA)
        api.sweep()
        api.delete_thread(**ANA)
        assert api.query("select from memory.idempotency_keys") == []
        add(api, "Something else", idempotency_key="k")
        assert contents(api) == ["Something else"]
        api.delete_thread(**ANA)
        assert api.query("select from memory.idempotency_keys") == []

    @pytest.mark.parametrize("other", [{"user_id": "bob"}, {"thread_id": "t2"}])
    def test_a_key_counts_within_its_thread(self, api: Api, other: dict[str, str]) -> None:
        add(api, idempotency_key="k")
        add(api, "Something else", idempotency_key="k", **other)
        assert contents(api, **other) == ["Something else"]

    def test_a_batch_may_mix_messages_with_and_without(self, api: Api) -> None:
        add(api, "b", idempotency_key="2")
        batch = [
            {"role": "user", "content": "a", "idempotency_key": "1"},
            {"role": "user", "content": "b", "idempotency_key": "2"},
            {"role": "user", "content": "c"},
        ]
        assert [(row.seq, row.content) for row in api.add_messages(**ANA, messages=batch)] == [
            (1, "a"), (0, "b"), (2, "c"),
        ]  # fmt: skip
        assert [row.seq for row in api.add_messages(**ANA, messages=batch)] == [1, 0, 3]
        assert contents(api) == ["b", "a", "c", "c"]

    def test_concurrent_callers_get_one_message(self, api: Api, connect: Callable[..., psycopg.Connection]) -> None:
        """The second waits for the first, whose transaction is open, and then finds its message."""
        second = Api(connect())
        results = []
        with api.connection.transaction():
            results.append(add(api, idempotency_key="k"))
            thread = threading.Thread(target=lambda: results.append(add(second, idempotency_key="k")))
            thread.start()
            thread.join(timeout=0.3)
            assert thread.is_alive()
        thread.join(timeout=PATIENCE)
        assert results == [results[0]] * 2
        assert contents(api) == ["Hello"]

"""Memories that have expired are neither read nor changed, and a sweep removes them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any
from uuid import UUID

import pytest

from tests.memories.steps import add, contents, expire
from tests.support.sqlapi import Api, refused

READERS: dict[str, Callable[[Api, UUID], Any]] = {
    "list_memories": lambda api, _: api.list_memories(user_id="ana", include_superseded=True),
    "search": lambda api, _: api.search(user_id="ana", query="tea", mode="keyword", include_superseded=True),
    "render_memories": lambda api, _: api.render_memories(user_id="ana"),
    "get_context": lambda api, _: api.get_context(user_id="ana", thread_id="t1"),
    "as_of": lambda api, _: api.list_memories(user_id="ana", as_of=datetime.now(timezone.utc)),
    "delete_memory": lambda api, memory_id: api.delete_memory(user_id="ana", memory_id=memory_id),
}


@pytest.mark.feature("B7")
@pytest.mark.parametrize("reader", READERS)
def test_an_expired_memory_is_never_returned(api: Api, reader: str) -> None:
    memory_id = add(api, "Likes tea")
    if reader != "delete_memory":
        assert READERS[reader](api, memory_id)
    expire(api, memory_id)
    assert not READERS[reader](api, memory_id)


@pytest.mark.feature("B7")
@pytest.mark.parametrize("function", ["get_memory", "update_memory", "restore_memory"])
def test_an_expired_memory_is_unknown(api: Api, function: str) -> None:
    memory_id = add(api, "Likes tea")
    expire(api, memory_id)
    with refused("memory_id", "P0002"):
        getattr(api, function)(user_id="ana", memory_id=memory_id)


@pytest.mark.feature("B6", "A2", "A16")
def test_sweep_removes_expired_rows_and_counts_them_by_kind(api: Api) -> None:
    for number in range(3):
        expire(api, add(api, f"expired {number}"))
    api.delete_memory(user_id="ana", memory_id=add(api, "deleted"))
    api.supersede_memory(user_id="ana", old_memory_id=add(api, "old"), new_memory_id=add(api, "new"), reason="newer")
    api.talk("ana", "cleared", 3)
    api.clear_thread(user_id="ana", thread_id="cleared")
    api.add_message(
        user_id="ana", thread_id="t1", role="user", content="over", expires_at=datetime(2020, 1, 1, tzinfo=timezone.utc)
    )
    api.store_artifact(user_id="ana", content="over", expires_at="2020-01-01")
    api.store_artifact(user_id="ana", content="kept", expires_at="2999-01-01")
    api.talk("ana", "t1", 2)
    api.summarize_thread(user_id="ana", thread_id="t1")
    assert api.finish_jobs() == 2  # a summary, and the words of artifacts
    api.connection.execute("update memory.jobs set finished_at = now() - interval '8 days'")
    api.connection.execute("update memory.model_calls set called_at = now() - interval '401 days'")
    counts = {
        "messages": 7,
        "memories": 4,
        "artifacts": 1,
        "checkpoints": 0,
        "jobs": 2,
        "model_calls": 2,
        "queued": 0,
        "checked": 11,
    }
    assert api.sweep() == counts
    assert api.sweep() == dict.fromkeys(counts, 0)
    assert contents(api, include_superseded=True) == ["new", "old"]
    assert len(api.get_messages(user_id="ana", thread_id="t1")) == 4

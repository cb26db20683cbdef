"""list_users counts by threads and scopes, without reading a message."""

from __future__ import annotations

import pytest

from tests.support.sqlapi import Api, refused

pytestmark = pytest.mark.feature("F5")


def test_users_come_with_their_counters_the_last_heard_of_first(api: Api) -> None:
    api.add_message(user_id="ana", thread_id="t1", role="user", content="Hi", created_at="2026-01-01")
    api.add_message(user_id="Bo", thread_id="t1", role="user", content="Hi", created_at="2026-02-01")
    api.add_message(user_id="Bo", thread_id="t2", role="user", content="Hi", created_at="2026-01-02")
    api.add_memory(user_id="ana", content="Likes tea")
    api.add_document(user_id="cleo", content="Tea is green")
    api.store_artifact(user_id="dan", content="A log")
    api.set_policy(settings={"context": {"max_memories": 5}}, user_id="eve")
    api.set_policy(settings={"context": {"max_memories": 5}})
    found = [(row.user_id, row.thread_count, row.message_count, row.memory_count) for row in api.list_users()]
    assert found == [("Bo", 2, 2, 0), ("ana", 1, 1, 1), ("cleo", 0, 0, 0), ("dan", 0, 0, 0), ("eve", 0, 0, 0)]
    assert [(row.user_id, row.total_count) for row in api.list_users(search="b")] == [("Bo", 1)]
    assert [row.user_id for row in api.list_users(row_limit=2, row_offset=1)] == ["ana", "cleo"]
    assert api.list_users(search="%") == []
    with refused("row_limit"):
        api.list_users(row_limit=0)

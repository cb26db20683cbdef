"""Names that both of two users have who become one: of threads and of artifacts."""

from __future__ import annotations

import pytest

from tests.erasure.test_merge_users import merge, texts
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F25")


def test_threads_keep_their_ids_and_a_clash_gets_a_suffix(api: Api) -> None:
    for user, said in (("ana", "Of Ana"), ("bob", "Of Bob")):
        for thread in ("both", "both-2"):
            api.add_message(user_id=user, thread_id=thread, role="user", content=said)
    api.add_message(user_id="ana", thread_id="hers", role="user", content="Hers", idempotency_key="k")
    api.add_memory(user_id="ana", content="Likes tea", thread_id="both")
    merged = merge(api)
    assert merged["threads"] == {"both": "both-3", "both-2": "both-2-2"}
    assert merged["tables"]["messages"] == 3
    assert texts(api, "bob", "both") == ["Of Bob"]
    assert texts(api, "bob", "both-3") == ["Of Ana"]
    assert texts(api, "bob", "hers") == ["Hers"]
    assert api.list_memories(user_id="bob")[0].thread_id == "both-3"
    assert api.list_threads(user_id="ana") == []
    again = {"user_id": "bob", "thread_id": "hers", "role": "user", "content": "Hers", "idempotency_key": "k"}
    assert api.add_message(**again).seq == 0
    assert api.add_message(user_id="bob", thread_id="both-3", role="user", content="Next").seq == 1


def test_a_long_name_gets_a_suffix_too(api: Api) -> None:
    for user in ("ana", "bob"):
        api.add_message(user_id=user, thread_id="é" * 255, role="user", content=user)
    assert merge(api)["threads"] == {"é" * 255: "é" * 250 + "-2"}
    assert texts(api, "bob", "é" * 250 + "-2") == ["ana"]


def test_a_new_key_stands_wherever_a_placeholder_named_the_former(api: Api) -> None:
    for user in ("ana", "bob"):
        api.store_artifact(user_id=user, content=f"A log of {user}", key="log", description="Log")
    ref = "[MemoryRef: log]"
    api.store_artifact(user_id="ana", content="A plan", key="plan", metadata={"of": ref})
    calls = {"tool_calls": [{"function": {"name": "read", "arguments": f'{{"text": "{ref} \\"é\\""}}'}}]}
    api.add_message(user_id="ana", thread_id="t", role="assistant", content="I read", metadata=calls)
    first = api.add_memory(user_id="ana", content="Has a log", embedding_text=f"Log {ref}", metadata={"of": ref})
    second = api.add_memory(user_id="ana", content=f"Reads {ref}", metadata={"of": [ref]})
    api.update_memory(user_id="ana", memory_id=second.memory_id, content="Reads a log", metadata={})
    assert merge(api)["artifacts"] == {"log": "log-2"}
    assert api.retrieve_artifact(user_id="bob", key="log-2") == "A log of ana"
    for table, column in (
        ("messages", "metadata"),
        ("memories", "embedding_text"),
        ("memories", "metadata"),
        ("memory_history", "content"),
        ("memory_history", "metadata"),
        ("artifacts", "metadata"),
    ):
        found = api.query(f"select {column}::text from memory.{table} where {column}::text like '%%MemoryRef%%'")
        assert found, (table, column)
        assert all("[MemoryRef: log-2]" in row[0] for row in found), (table, column)
    [message] = api.get_messages(user_id="bob", thread_id="t")
    [call] = message.metadata["tool_calls"]
    assert call["function"]["arguments"] == '{"text": "[MemoryRef: log-2] \\"é\\""}'
    assert api.get_memory(user_id="bob", memory_id=first.memory_id).metadata == {"of": "[MemoryRef: log-2]"}


def test_copies_name_the_thread_that_they_come_from_by_its_new_name(api: Api) -> None:
    for user in ("ana", "bob"):
        api.add_message(user_id=user, thread_id="t", role="user", content=f"Of {user}")
    api.copy_thread(user_id="ana", thread_id="t", new_thread_id="copy")
    api.add_message(user_id="ana", thread_id="other", role="user", content="Hello")
    api.copy_thread(user_id="ana", thread_id="other", new_thread_id="copy of other")
    api.set_thread(user_id="bob", thread_id="his", metadata={"copied_from": "t"})
    merge(api)
    threads = {row.thread_id: row.metadata for row in api.list_threads(user_id="bob")}
    assert threads["copy"] == {"copied_from": "t-2", "copied_upto_seq": 0}
    assert threads["copy of other"] == {"copied_from": "other", "copied_upto_seq": 0}
    assert threads["his"] == {"copied_from": "t"}

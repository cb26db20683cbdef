"""The LangGraph store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from agent_memory import AsyncMemory, Memory
from agent_memory.adapters.langgraph import AgentMemoryStore, AsyncAgentMemoryStore
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from tests.adapters.steps import run_example
from tests.support.fake_model_server import FakeModelServer
from tests.support.sqlapi import Api

pytestmark = [
    pytest.mark.feature("F15"),
    pytest.mark.filterwarnings("ignore::agent_memory.DegradedWarning"),  # no embedding model is active
]


@pytest.fixture
def store(memory: Memory) -> AgentMemoryStore:
    return AgentMemoryStore(memory, "ana")


def put_all(store: AgentMemoryStore, *namespaces: tuple[str, ...]) -> None:
    for namespace in namespaces:
        store.put(namespace, "k", {"v": 1})


class TestItems:
    def test_an_item_comes_back_as_it_was_put(self, store: AgentMemoryStore) -> None:
        value = {"text": "Ça va?", "nested": {"list": [1, 2.5, None, True, {"a": "b"}]}, "empty": {}, "none": None}
        store.put(("users", "ana"), "profile", value)
        item = store.get(("users", "ana"), "profile")
        assert item is not None
        assert (item.namespace, item.key, item.value) == (("users", "ana"), "profile", value)
        assert timedelta() <= item.updated_at - item.created_at < timedelta(minutes=1)

    def test_an_item_that_is_put_again_has_the_new_value(self, store: AgentMemoryStore, memory: Memory) -> None:
        store.put(("a",), "k", {"text": "old"})
        first = store.get(("a",), "k")
        store.put(("a",), "k", {"text": "new"})
        second = store.get(("a",), "k")
        assert first is not None
        assert second is not None
        assert second.value == {"text": "new"}
        assert second.created_at == first.created_at
        assert second.updated_at > first.updated_at
        [record] = memory.list_memories("ana")
        assert [version.content for version in memory.get_memory_history("ana", record.memory_id)] == ["old", "new"]

    def test_a_deleted_item_is_gone_and_can_be_put_again(self, store: AgentMemoryStore) -> None:
        store.put(("a",), "k", {"v": 1})
        store.delete(("a",), "k")
        store.delete(("a",), "k")
        assert store.get(("a",), "k") is None
        assert store.search(("a",)) == []
        store.put(("a",), "k", {"v": 1})
        assert store.get(("a",), "k") is not None

    def test_keys_may_be_any_text(self, store: AgentMemoryStore) -> None:
        for key in ("k" * 400, 'quoted "key"', "tab\tand\nline", "日本語", "100%"):
            store.put(("a",), key, {"v": "ä" * 150_000})
            item = store.get(("a",), key)
            assert item is not None
            assert (item.key, item.value) == (key, {"v": "ä" * 150_000})

    def test_labels_with_a_colon_are_no_path(self, store: AgentMemoryStore) -> None:
        namespaces = [("a", "b"), ("a", "b:c"), ("a:b",), ("a:b", "c"), ("a:b:c",)]
        put_all(store, *namespaces)
        assert [item.namespace for item in store.search(("a:b",))] == [("a:b", "c"), ("a:b",)]
        store.delete(("a:b",), "k")
        assert store.list_namespaces() == [*namespaces[:2], *namespaces[3:]]

    def test_the_limit_of_memories_takes_no_item(self, store: AgentMemoryStore, memory: Memory) -> None:
        memory.admin.set_policy({"memories": {"max_per_agent": 2}})
        for number in range(5):
            store.put(("a",), f"k{number}", {"v": number})
        assert len(store.search(("a",))) == 5

    def test_the_user_may_be_part_of_the_namespace(self, memory: Memory) -> None:
        store = AgentMemoryStore(memory, lambda namespace: namespace[1])
        store.put(("memories", "ana"), "k", {"v": 1})
        store.put(("memories", "ben"), "k", {"v": 2})
        assert memory.count_memories("ana") == memory.count_memories("ben") == 1
        assert [item.value for item in store.search(("memories", "ben"))] == [{"v": 2}]
        assert store.list_namespaces(prefix=("memories", "ana")) == [("memories", "ana")]

    def test_first_puts_at_once_leave_one_item(self, dsn: str) -> None:
        with Memory(dsn) as memory, ThreadPoolExecutor(8) as threads:
            store = AgentMemoryStore(memory, "ana")
            put: Callable[[int], None] = lambda number: store.put(("a",), "k", {"v": number})  # noqa: E731
            list(threads.map(put, range(24)))
            assert memory.count_memories("ana") == len(store.search(("a",))) == 1


class TestSearch:
    @pytest.fixture
    def store(self, store: AgentMemoryStore) -> AgentMemoryStore:
        for key, text, color, score in [
            ("d", "blue car", "blue", 3.5),
            ("c", "green apple", "green", 4.0),
            ("b", "red car", "red", 3),
            ("a", "red apple", "red", 4.5),
        ]:
            value = {"text": text, "color": color, "score": score, "tags": [color], "more": {"n": score, "m": 1}}
            store.put(("docs",), key, value)
        return store

    FILTERS: tuple[tuple[dict[str, Any], str], ...] = (
        ({}, "abcd"),
        ({"color": {"$eq": "red"}}, "ab"),
        ({"color": {"$ne": "red"}}, "cd"),
        ({"score": {"$gt": 3.5}}, "ac"),
        ({"score": {"$gte": 3.5, "$lt": 4.5}}, "cd"),
        ({"score": {"$lte": 3}, "color": "red"}, "b"),
        ({"color": {"$gt": 1}}, ""),
        ({"missing": {"$gt": 1}}, ""),
        ({"missing": None}, "abcd"),
        ({"tags": ["red"]}, "ab"),
        ({"tags": []}, ""),
        ({"more": {"n": {"$gt": 4}}}, "a"),
        ({"more": {"m": 1}}, "abcd"),
    )

    def test_filters(self, store: AgentMemoryStore) -> None:
        for wanted, keys in self.FILTERS:
            assert "".join(item.key for item in store.search(("docs",), filter=wanted)) == keys, wanted
        with pytest.raises(ValueError, match="regex"):
            store.search(("docs",), filter={"color": {"$regex": "r"}})

    def test_items_that_answer_the_query_come_first(self, store: AgentMemoryStore) -> None:
        found = store.search(("docs",), query="red apple", limit=3)
        assert found[0].key == "a"
        assert 1 > (found[0].score or 0) > (found[1].score or 0)
        assert store.search(("docs",), query="car", filter={"color": "red"})[0].key == "b"
        assert store.search(("docs",), query="apple", filter={"score": {"$lt": 4.5}})[0].key == "c"
        assert {item.key: item.score == 0 for item in store.search(("docs",), query="apple")} == {
            "a": False, "b": True, "c": False, "d": True,
        }  # fmt: skip

    def test_pages_join_to_the_whole(self, store: AgentMemoryStore) -> None:
        for query in (None, "apple"):
            whole = [item.key for item in store.search(("docs",), query=query)]
            pages = [store.search(("docs",), query=query, limit=1, offset=offset) for offset in range(5)]
            assert [item.key for page in pages for item in page] == whole

    def test_only_indexed_fields_are_searched(self, memory: Memory) -> None:
        store = AgentMemoryStore(memory, "ana", index=["text", "facts[*].content"])
        store.put(("a",), "k", {"text": "apple", "secret": "pear", "facts": [{"content": "plum"}]})
        store.put(("a",), "l", {"text": "quince", "note": "medlar"}, index=["note"])
        store.put(("a",), "m", {"text": "cherry"}, index=False)
        scores = {query: store.search(("a",), query=query)[0].score for query in
                  ("apple", "plum", "medlar", "pear", "quince", "cherry")}  # fmt: skip
        assert [query for query, score in scores.items() if score] == ["apple", "plum", "medlar"]


class TestNamespaces:
    def test_a_prefix_ends_at_a_label(self, store: AgentMemoryStore) -> None:
        put_all(store, ("foo",), ("foo", "child"), ("foo", "child", "deep"), ("foobar",), ("foo_",), ("f%",))
        assert {item.namespace for item in store.search(("foo",))} == {
            ("foo",), ("foo", "child"), ("foo", "child", "deep"),
        }  # fmt: skip
        assert len(store.search(())) == 6
        assert store.search(("fo",)) == []
        assert [item.namespace for item in store.search(("f%",))] == [("f%",)]

    def test_namespaces_are_listed_by_prefix_suffix_and_depth(self, store: AgentMemoryStore) -> None:
        put_all(store, ("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "d", "i"), ("a", "c", "f"), ("b", "a", "f"))
        assert store.list_namespaces(prefix=("a", "b"), max_depth=3) == [("a", "b", "c"), ("a", "b", "d")]
        assert store.list_namespaces(suffix=("f",)) == [("a", "c", "f"), ("b", "a", "f")]
        assert store.list_namespaces(prefix=("a", "*", "d")) == [("a", "b", "d", "e"), ("a", "b", "d", "i")]
        assert store.list_namespaces(prefix=("a",), suffix=("*", "f")) == [("a", "c", "f")]
        assert store.list_namespaces(limit=2, offset=1) == [("a", "b", "d", "e"), ("a", "b", "d", "i")]
        assert store.list_namespaces(prefix=("none",)) == []

    def test_a_batch_with_an_invalid_namespace_does_nothing(self, store: AgentMemoryStore) -> None:
        for op in (PutOp(("a.b",), "k", {}), GetOp(("a.b",), "k"), SearchOp(("a.b",)),
                   ListNamespacesOp((MatchCondition("prefix", ("a.b",)),))):  # fmt: skip
            with pytest.raises(InvalidNamespaceError):
                store.batch([PutOp(("valid",), "k", {}), op])
        assert store.list_namespaces() == []


class TestTimeToLive:
    def test_items_expire_and_reads_keep_them_alive(self, store: AgentMemoryStore, api: Api) -> None:
        ttl = 10

        def let_minutes_pass(minutes: int) -> None:
            api.connection.execute(
                "update memory.memories set expires_at = expires_at - %s * interval '1 minute'", [minutes]
            )

        store.put(("a",), "read", {"v": 1}, ttl=ttl)
        store.put(("a",), "searched", {"v": 2}, ttl=ttl)
        store.put(("a",), "seen", {"v": 3}, ttl=ttl)
        store.put(("a",), "kept", {"v": 4}, ttl=ttl)
        store.put(("a",), "kept", {"v": 4})
        let_minutes_pass(6)
        assert store.get(("a",), "read") is not None
        assert len(store.search(("a",), filter={"v": 2})) == 1
        assert store.get(("a",), "seen", refresh_ttl=False) is not None
        let_minutes_pass(6)
        assert {item.key for item in store.search(("a",), refresh_ttl=False)} == {"read", "searched", "kept"}
        assert store.get(("a",), "seen") is None

    def test_what_has_expired_is_in_no_answer_and_no_read_brings_it_back(
        self, store: AgentMemoryStore, api: Api
    ) -> None:
        for key in ("a", "b", "c", "expired"):
            store.put(("page",), key, {"text": "apple"}, ttl=1)
        store.put(("gone",), "k", {"text": "apple"}, ttl=1)
        api.connection.execute(
            "update memory.memories set expires_at = now() - interval '1 minute' "
            "where metadata->'langgraph'->>'key' in ('k', 'expired')"
        )
        assert store.get(("gone",), "k", refresh_ttl=True) is None
        assert store.search(("gone",), refresh_ttl=True) == []
        assert store.search(("gone",), query="apple", refresh_ttl=True) == []
        assert store.list_namespaces() == [("page",)]
        pages = [store.search(("page",), limit=2, offset=offset) for offset in (0, 2)]
        assert [[item.key for item in page] for page in pages] == [["c", "b"], ["a"]]

    @pytest.mark.parametrize("query", [None, "apple"])
    def test_a_read_renews_only_what_has_aged(self, store: AgentMemoryStore, memory: Memory, query: str | None) -> None:
        store.put(("a",), "k", {"text": "apple"}, ttl=10)
        [row] = memory.list_memories("ana")
        assert row.expires_at is not None
        store.search(("a",), query=query)
        assert memory.get_memory("ana", row.memory_id).expires_at == row.expires_at
        memory.update_memory("ana", row.memory_id, expires_at=row.expires_at - timedelta(minutes=5))
        store.search(("a",), query=query)
        renewed = memory.get_memory("ana", row.memory_id).expires_at
        assert renewed is not None
        assert renewed > row.expires_at


class TestBatches:
    OPS = (
        PutOp(("a",), "k", {"v": 1}),
        GetOp(("a",), "k"),
        SearchOp(("a",), filter={"v": 1}),
        ListNamespacesOp(),
        PutOp(("a",), "k", None),
        GetOp(("a",), "k"),
    )

    def check(self, results: list[Any]) -> None:
        assert [type(result).__name__ for result in results] == [
            "NoneType",
            "Item",
            "list",
            "list",
            "NoneType",
            "NoneType",
        ]
        assert results[1].value == results[2][0].value == {"v": 1}
        assert results[3] == [("a",)]

    def test_results_are_in_the_order_of_the_operations(self, store: AgentMemoryStore) -> None:
        self.check(store.batch(self.OPS))

    def test_with_an_asynchronous_client_they_are_awaited(self, dsn: str) -> None:
        async def use() -> None:
            async with AsyncMemory(dsn) as memory:
                store = AgentMemoryStore(memory, "ana")
                self.check(await store.abatch(self.OPS))
                await asyncio.gather(*(store.aput(("a",), f"k{number}", {"v": number}) for number in range(20)))
                assert len(await store.asearch(("a",), limit=30)) == 20
                await store.adelete(("a",), "k0")
                assert await store.aget(("a",), "k0") is None
                assert await store.alist_namespaces() == [("a",)]
                with pytest.raises(TypeError, match="Memory"):
                    store.get(("a",), "k1")

        asyncio.run(use())

    def test_calls_of_one_moment_are_a_batch_in_their_order(self, dsn: str) -> None:
        async def use() -> None:
            async with AsyncMemory(dsn) as memory:
                store = AsyncAgentMemoryStore(memory, "ana", ttl={"default_ttl": 10})
                await asyncio.gather(*(store.aput(("a",), "k", {"v": number}) for number in range(50)))
                found, namespaces, item = await asyncio.gather(
                    store.asearch(("a",)), store.alist_namespaces(), store.aget(("a",), "k")
                )
                assert item is not None
                assert found[0].value == item.value == {"v": 49}
                assert namespaces == [("a",)]
                [record] = await memory.list_memories("ana")
                assert (record.version, record.expires_at is None) == (1, False)

        asyncio.run(use())

    def test_threads_may_use_an_asynchronous_store_and_its_loop_may_not_wait(self, dsn: str) -> None:
        async def use() -> None:
            async with AsyncMemory(dsn) as memory:
                store = AsyncAgentMemoryStore(memory, "ana")
                await asyncio.to_thread(store.put, ("a",), "k", {"v": 1})
                item = await asyncio.to_thread(store.get, ("a",), "k")
                assert item is not None
                assert item.value == {"v": 1}
                with pytest.raises(asyncio.InvalidStateError):
                    store.get(("a",), "k")

        asyncio.run(use())


@pytest.mark.usefixtures("environment")
def test_the_example_remembers_across_threads(
    model: FakeModelServer, stored: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_example("langgraph_agent.py", "ana", "I prefer trains over planes.", monkeypatch=monkeypatch)
    run_example("langgraph_agent.py", "ana", "Do I prefer trains?", monkeypatch=monkeypatch)
    assert capsys.readouterr().out == "Noted.\nNoted.\n"
    assert "I prefer trains over planes." in str(model.requests[-1].body["messages"][0])
    assert stored.count_memories("ana", filter={"langgraph": {"namespace": ["said"]}}) == 2

"""The LangGraph store with embeddings by a function of its user."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from agent_memory import Memory
from agent_memory.adapters.langgraph import AgentMemoryStore
from langchain_core.embeddings import Embeddings
from langgraph.store.base import GetOp, PutOp, SearchItem, SearchOp

pytestmark = pytest.mark.feature("F15")


class Letters(Embeddings):
    """Embeds a text as the counts of its letters a, b and c, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.asked.append(texts)
        return [[float(text.count(letter)) for letter in "abc"] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@pytest.fixture
def embed() -> Letters:
    return Letters()


@pytest.fixture
def store(memory: Memory, embed: Letters) -> AgentMemoryStore:
    return AgentMemoryStore(memory, "ana", index={"dims": 3, "embed": embed, "fields": ["one", "two"]})


def scores(store: AgentMemoryStore, query: str, **options: Any) -> list[tuple[str, float | None]]:
    found = store.search(("n",), query=query, **options)
    return [(item.key, None if item.score is None else round(item.score, 3)) for item in found]


def test_the_nearest_text_of_an_item_gives_its_cosine(store: AgentMemoryStore) -> None:
    store.put(("n",), "x", {"one": "aa", "two": "bc", "three": "ccc"})
    store.put(("n",), "y", {"one": "ab", "color": "red"})
    store.put(("n",), "z", {"one": "c"}, index=["one"])
    assert scores(store, "a") == [("x", 1.0), ("y", 0.707), ("z", 0.0)]
    assert scores(store, "c", limit=1, offset=1) == [("x", 0.707)]
    assert scores(store, "a", filter={"color": "red"}) == [("y", 0.707)]
    assert scores(store, "") == [("z", None), ("y", None), ("x", None)]
    item = store.get(("n",), "x")
    assert item is not None
    assert item.value == {"one": "aa", "two": "bc", "three": "ccc"}


def test_items_without_embeddings_come_last_without_a_score(store: AgentMemoryStore) -> None:
    store.put(("n",), "old", {"one": "a"}, index=False)
    store.put(("n",), "new", {"three": "a"})
    store.put(("n",), "far", {"one": "b"})
    assert scores(store, "a") == [("far", 0.0), ("new", None), ("old", None)]


def test_a_batch_embeds_each_text_once(store: AgentMemoryStore, embed: Letters) -> None:
    store.batch([PutOp(("n",), key, {"one": key[0], "two": "b"}) for key in ("a1", "b1", "a2")])
    assert embed.asked == [["a", "b"]]
    store.batch([SearchOp(("n",), query="a"), GetOp(("n",), "a1"), SearchOp(("n",), query="a", limit=1)])
    assert embed.asked[1:] == [["a"]]


def test_embeddings_of_another_model_are_not_compared(store: AgentMemoryStore, memory: Memory) -> None:
    store.put(("n",), "x", {"one": "a"})
    other = AgentMemoryStore(memory, "ana", index={"dims": 2, "embed": lambda texts: [[1.0, 0.0] for _ in texts]})
    assert scores(other, "a") == [("x", None)]


def test_wrong_embeddings_are_refused_before_anything_is_stored(memory: Memory) -> None:
    returned: list[list[float]] = []
    store = AgentMemoryStore(memory, "ana", index={"dims": 3, "embed": lambda _: returned})
    with pytest.raises(ValueError, match="0 embeddings of 1 texts"):
        store.put(("n",), "x", {"one": "a"})
    returned.append([1.0, 0.0])
    with pytest.raises(ValueError, match=r"2 dimensions.* dims 3"):
        store.put(("n",), "x", {"one": "a"})
    assert memory.count_memories("ana") == 0


@pytest.mark.parametrize(("measure", "score"), [("cosine", 1.0), ("inner_product", 8.0), ("l2", -2.0)])
def test_the_measure_may_be_one_of_postgres_store(memory: Memory, measure: str, score: float) -> None:
    index: Any = {"dims": 3, "embed": Letters(), "fields": ["one"], "distance_type": measure}
    store = AgentMemoryStore(memory, "ana", index=index)
    store.put(("n",), "x", {"one": "aaaa"})
    assert scores(store, "aa") == [("x", score)]
    with pytest.raises(ValueError, match="hamming"):
        AgentMemoryStore(memory, "ana", index=index | {"distance_type": "hamming"})


def test_an_asynchronous_function_embeds_in_asynchronous_calls(memory: Memory) -> None:
    async def embed(texts: Sequence[str]) -> list[list[float]]:
        return [[float(text.count("a")), 1.0] for text in texts]

    async def use() -> list[SearchItem]:
        store = AgentMemoryStore(memory, "ana", index={"dims": 2, "embed": embed})
        await store.aput(("n",), "x", {"v": "aaaaaaaaa"})
        await store.aput(("n",), "y", {"v": "b"})
        return await store.asearch(("n",), query="aaaaaaaaa")

    assert [item.key for item in asyncio.run(use())] == ["x", "y"]

"""The memories that are compared, each behind the same few methods and through its own client.

``prepare`` makes a store in an empty database, and ``fill`` adds the texts of many users in whichever way is quick.
``add_all`` adds ``at_once`` texts in the way that the library has for that; after it, and after ``embed``, all are
found by meaning. ``search`` returns the ten best texts in the library's usual mode, ``search_by_meaning`` the nearest.
Imports stand inside of the classes: each runs in an environment that has no other.
"""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from bench.peers.data import DIMENSIONS


class AgentMemory:
    """This project: a text is stored at once, and a job embeds it."""

    at_once = 1000

    def __init__(self, dsn: str, embeddings: str) -> None:
        from agent_memory import Memory

        self._memory = Memory(dsn)
        self._embeddings = embeddings

    def prepare(self) -> None:
        settings = {"base_url": self._embeddings, "dimensions": DIMENSIONS}
        self._memory.admin.register_model("instant", "embedding", "openai", "instant", settings)
        self._memory.admin.activate_model("instant")
        # The others keep every text.
        self._memory.admin.set_policy({"memories": {"max_per_agent": 1_000_000}})

    def fill(self, texts: Mapping[str, Sequence[str]]) -> None:
        for user, of in texts.items():
            self.add_all(user, of)

    def add(self, user: str, text: str) -> None:
        self._memory.add_memory(user, text)

    def add_all(self, user: str, texts: Sequence[str]) -> None:
        with self._memory.buffer() as buffer:
            for text in texts:
                buffer.add_memory(user, text)
            buffer.push()
        self.embed()

    def embed(self) -> None:
        self._memory.run_jobs(10_000, 60)

    def search(self, user: str, query: str) -> list[str]:
        return [found.content for found in self._memory.search(user, query, sources=["memory"])]

    def search_by_meaning(self, user: str, query: str) -> list[str]:
        return [found.content for found in self._memory.search(user, query, mode="vector", sources=["memory"])]

    def ids(self, user: str) -> list[str]:
        return [str(each.memory_id) for each in self._memory.list_memories(user, row_limit=1000)]

    def get(self, user: str, id: str) -> object:
        return self._memory.get_memory(user, id)

    def page(self, user: str) -> object:
        return self._memory.list_memories(user, row_limit=50)

    def delete(self, user: str, id: str) -> None:
        self._memory.delete_memory(user, id)


class Mem0:
    """mem0 on pgvector, with its model calls for facts switched off: it embeds and inserts texts one by one."""

    at_once = 100
    is_approximate = True

    def __init__(self, dsn: str, embeddings: str) -> None:
        os.environ |= {"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none"}
        from mem0 import Memory

        store = {"connection_string": dsn, "collection_name": "texts", "embedding_model_dims": DIMENSIONS}
        embedder = {"model": "instant", "openai_base_url": embeddings, "embedding_dims": DIMENSIONS}
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "pgvector", "config": store | {"hnsw": self.is_approximate}},
                "embedder": {"provider": "openai", "config": embedder},
                "llm": {"provider": "openai", "config": {"openai_base_url": embeddings}},
                "history_db_path": os.path.join(tempfile.mkdtemp(), "history.db"),  # noqa: PTH118
            }
        )

    def prepare(self) -> None:
        # Its first text makes the table, and is the pattern of those that "fill" stores.
        self._memory.add("An example", user_id="example", infer=False)

    def fill(self, texts: Mapping[str, Sequence[str]]) -> None:
        table = self._memory.vector_store
        [[example]] = table.list(top_k=1)
        for user, of in texts.items():
            payloads = [
                example.payload | {"data": text, "text_lemmatized": text, "user_id": user, "hash": str(uuid.uuid4())}
                for text in of
            ]
            table.insert(self._memory.embedding_model.embed_batch(of), payloads, [str(uuid.uuid4()) for _ in of])

    def add(self, user: str, text: str) -> None:
        self._memory.add(text, user_id=user, infer=False)

    def add_all(self, user: str, texts: Sequence[str]) -> None:
        self._memory.add([{"role": "user", "content": text} for text in texts], user_id=user, infer=False)

    def embed(self) -> None:
        """Everything is embedded before it is stored."""

    def search(self, user: str, query: str) -> list[str]:
        # Its own threshold would leave out texts that are among the nearest.
        found = self._memory.search(query, filters={"user_id": user}, top_k=10, threshold=0.0)
        return [each["memory"] for each in found["results"]]

    search_by_meaning = search

    def ids(self, user: str) -> list[str]:
        return [each["id"] for each in self._memory.get_all(filters={"user_id": user}, top_k=1000)["results"]]

    def get(self, user: str, id: str) -> object:  # noqa: ARG002
        return self._memory.get(id)

    def page(self, user: str) -> object:
        return self._memory.get_all(filters={"user_id": user}, top_k=50)

    def delete(self, user: str, id: str) -> None:  # noqa: ARG002
        self._memory.delete(id)


class ExactMem0(Mem0):
    """mem0 without its index, so that it compares all texts of a user."""

    is_approximate = False


class LangGraph:
    """LangGraph's PostgresStore."""

    at_once = 1000
    index = "hnsw"

    def __init__(self, dsn: str, embeddings: str) -> None:
        from langgraph.store.base import PutOp
        from langgraph.store.postgres import PostgresStore
        from openai import OpenAI

        client = OpenAI(base_url=embeddings, api_key="none")

        def embed(texts: Sequence[str]) -> list[list[float]]:
            answer = client.embeddings.create(input=list(texts), model="instant", dimensions=DIMENSIONS)
            return [each.embedding for each in answer.data]

        index: Any = {
            "dims": DIMENSIONS,
            "embed": embed,
            "fields": ["text"],
            "ann_index_config": {"kind": self.index},
        }
        self._put = PutOp
        self._context = PostgresStore.from_conn_string(dsn, index=index)
        self._store = self._context.__enter__()

    def prepare(self) -> None:
        self._store.setup()

    def fill(self, texts: Mapping[str, Sequence[str]]) -> None:
        for user, of in texts.items():
            self.add_all(user, of)

    def add(self, user: str, text: str) -> None:
        self._store.put((user,), str(uuid.uuid4()), {"text": text})

    def add_all(self, user: str, texts: Sequence[str]) -> None:
        self._store.batch([self._put((user,), str(uuid.uuid4()), {"text": text}) for text in texts])

    def embed(self) -> None:
        """Everything is embedded before it is stored."""

    def search(self, user: str, query: str) -> list[str]:
        return [found.value["text"] for found in self._store.search((user,), query=query, limit=10)]

    search_by_meaning = search

    def ids(self, user: str) -> list[str]:
        return [found.key for found in self._store.search((user,), limit=1000)]

    def get(self, user: str, id: str) -> object:
        return self._store.get((user,), id)

    def page(self, user: str) -> object:
        return self._store.search((user,), limit=50)

    def delete(self, user: str, id: str) -> None:
        self._store.delete((user,), id)


class ExactLangGraph(LangGraph):
    """LangGraph's store without an index."""

    index = "flat"


Store = AgentMemory | Mem0 | LangGraph

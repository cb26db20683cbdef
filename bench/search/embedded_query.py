"""The time that a search takes longer when the database embeds the query, with a model server that answers at once."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Sequence
from statistics import median
from urllib.parse import urlsplit

import psycopg
from agent_memory import Memory

from bench.search.storing import MODEL
from tests.support.fake_model_server import FakeModelServer

WARM_UP = 10
_SEARCH = """
select * from memory.search(user_id => %s, query => %s, mode => %s, sources => '{memory}', top_k => 10)
"""


def measure(
    connection: psycopg.Connection, queries: Sequence[tuple[str, str]], dimensions: int, calls: int
) -> dict[str, dict[str, float]]:
    """Median milliseconds by mode, in turns: with the embedding of a query kept, and with one that is asked for.

    Also what asking takes a client that does nothing else, and what the database adds to that.
    """
    with FakeModelServer(dimensions=dimensions) as model:
        settings = {"base_url": model.url, "dimensions": dimensions}
        Memory(connection).admin.register_model(MODEL, "embedding", "openai", "text-embedding-3-small", settings)
        asking = http.client.HTTPConnection(urlsplit(model.url).netloc)

        def ask(_: str, query: str, number: int) -> None:
            body = json.dumps({"model": "m", "input": [f"{query} {number}"], "dimensions": dimensions})
            asking.request("POST", "/v1/embeddings", body, {"Content-Type": "application/json"})
            asking.getresponse().read()

        def search(mode: str, is_new: bool) -> Callable[[str, str, int], None]:
            def call(user: str, query: str, number: int) -> None:
                text = f"{query} {number} {mode}" if is_new else query
                connection.execute(_SEARCH, (user, text, mode), prepare=True)

            return call

        variants: dict[tuple[str, str], Callable[[str, str, int], None]] = {("", "server"): ask}
        for mode in ("vector", "hybrid"):
            variants |= {(mode, "kept"): search(mode, False), (mode, "new"): search(mode, True)}
            for user, query in queries:
                search(mode, False)(user, query, 0)
        times: dict[tuple[str, str], list[float]] = {name: [] for name in variants}
        for number in range(-WARM_UP, calls):
            for name, call in variants.items():
                started = time.perf_counter()
                call(*queries[number % len(queries)], number)
                if number >= 0:
                    times[name].append((time.perf_counter() - started) * 1000)
    medians = {name: median(each) for name, each in times.items()}
    server = medians["", "server"]
    return {
        mode: {
            "kept": round(medians[mode, "kept"], 2),
            "new": round(medians[mode, "new"], 2),
            "server": round(server, 2),
            "added": round(medians[mode, "new"] - medians[mode, "kept"] - server, 2),
        }
        for mode in ("vector", "hybrid")
    }

"""The time that a search takes longer when the database embeds the query, with a model server that answers at once."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Sequence
from itertools import count
from statistics import median
from urllib.parse import urlsplit

import psycopg
from agent_memory import Memory

from bench.search.storing import MODEL
from bench.support.times import in_turns
from tests.support.fake_model_server import FakeModelServer

MODES = ("vector", "hybrid")
Asked = tuple[str, str]
"""A user and a query."""
_SEARCH = """
select * from memory.search(user_id => %s, query => %s, mode => %s, sources => '{memory}', top_k => 10)
"""


def measure(
    connection: psycopg.Connection, queries: Sequence[Asked], dimensions: int, calls: int
) -> dict[str, dict[str, float]]:
    """Median milliseconds by mode, in turns: with the embedding of a query kept, and with one that is asked for.

    Also what asking takes a client that does nothing else, and what the database adds to that.
    """
    numbers = count()
    with FakeModelServer(dimensions=dimensions) as model:
        settings = {"base_url": model.url, "dimensions": dimensions}
        Memory(connection).admin.register_model(MODEL, "embedding", "openai", "text-embedding-3-small", settings)
        asking = http.client.HTTPConnection(urlsplit(model.url).netloc)

        def ask(asked: Asked) -> None:
            body = json.dumps({"model": "m", "input": [f"{asked[1]} {next(numbers)}"], "dimensions": dimensions})
            asking.request("POST", "/v1/embeddings", body, {"Content-Type": "application/json"})
            asking.getresponse().read()

        def search(mode: str, is_new: bool) -> Callable[[Asked], None]:
            def call(asked: Asked) -> None:
                text = f"{asked[1]} {next(numbers)}" if is_new else asked[1]
                connection.execute(_SEARCH, (asked[0], text, mode), prepare=True)

            return call

        for asked in queries:
            search(MODES[0], False)(asked)
        variants: dict[str, Callable[[Asked], None]] = {"server": ask}
        for mode in MODES:
            variants |= {f"{mode}, kept": search(mode, False), f"{mode}, new": search(mode, True)}
        medians = {name: median(taken) for name, taken in in_turns(variants, queries, calls).items()}
    figures = {}
    for mode in MODES:
        kept, new, server = medians[f"{mode}, kept"], medians[f"{mode}, new"], medians["server"]
        spent = {"kept": kept, "new": new, "server": server, "added": new - kept - server}
        figures[mode] = {name: round(each, 2) for name, each in spent.items()}
    return figures

"""The comparison with other libraries: what its page says of its figures, and that all stores hold the same texts."""

from __future__ import annotations

from typing import Any

import pytest

from bench.peers import report
from bench.peers.client import StoreClient


class Recorder:
    """A store that keeps what it was asked for."""

    at_once = 7

    def __init__(self) -> None:
        self.asked: list[str] = []

    def ids(self, user: str) -> list[str]:
        return [f"{user} {number}" for number in range(50)]

    def __getattr__(self, name: str) -> Any:
        return lambda *_: self.asked.append(name)


def results(recall: float) -> report.Results:
    """Two stores, of which the other takes half as long for a search."""
    names = ["agent_memory", "other"]
    rates = {"1": {"agent_memory": [100.0, 200.0], "other": [200.0, 400.0]}}
    return {
        "date": "2026-11-27",
        "machine": {"cores": 2, "memory_gb": 24, "system": "Linux"},
        "postgresql": "15.20",
        "pgvector": "0.8.0",
        "load": 0.5,
        "packages": {"other": "1.0"},
        "options": {"seconds": 1, "rounds": 2, "clients": [1]},
        "systems": {"memories": names, "queues": names, "checkpoints": names},
        "rates": {"search": rates, "get": rates, "jobs": rates, "turn": rates},
        "recall": {"agent_memory": {"big": 1.0, "small": 1.0}, "other": {"big": recall, "small": 1.0}},
    }


def test_a_search_that_finds_wrong_texts_is_not_just_fast() -> None:
    lines = report.tables(results(recall=0.42)).splitlines()
    assert "| search with a new query, as the library usually does | 1 | 150 | 300 (0.50), 42% right |" in lines
    assert "| get a text by its id | 1 | 150 | 300 (0.50) |" in lines
    assert "| of the nearest 10 texts of a user with 1,000, found | 1 | 100% | 42% |" in lines


@pytest.mark.parametrize("operation", report.MEMORY_OPERATIONS)
def test_each_operation_asks_the_store_for_what_its_name_says(operation: str) -> None:
    store: Any = Recorder()
    client = StoreClient(store, number=1)
    client.warm(operation)
    assert client.run(operation, 0) > 0
    expected = {
        "add": ["add", "embed"],
        "add, embedded": ["add", "embed"],
        "bulk": ["add_all"],
        "search": ["search"],
        "search by meaning": ["search_by_meaning"],
        "search again": ["search"],
        "get": ["get"],
        "list": ["page"],
        "delete": ["delete"],
    }
    assert store.asked == expected[operation]

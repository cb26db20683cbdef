"""The comparison with other libraries: what its page says of its figures, and that all stores hold the same texts."""

from __future__ import annotations

from bench.peers import report


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

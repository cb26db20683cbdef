"""The comparison with other libraries: what its page says of its figures, and that all stores hold the same texts."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.peers import report, stores
from bench.peers.__main__ import STORES
from bench.peers.client import StoreClient
from bench.peers.data import COUNTS, texts
from tests.support.servers import ROOT


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


def test_a_search_that_finds_the_right_texts_needs_no_remark() -> None:
    assert "right" not in report.tables(results(recall=1.0))


def test_the_page_has_all_tables_and_the_chart(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    written = report.write(results(recall=0.42), tmp_path)
    assert [path.name for path in written] == ["2026-11-27-peers.json", "peers.md", "peers.svg"]
    page = (tmp_path / "peers.md").read_text()
    assert page.index("## Memories") < page.index("42% right") < page.index("## Queues") < page.index("claim and")
    assert (
        page.index("claim and")
        < page.index("## Checkpoints")
        < page.index("| a turn of a graph of two nodes | 1 | 150 ")
    )
    assert "than other" in (tmp_path / "peers.svg").read_text()


def test_all_processes_make_the_same_texts() -> None:
    code = "from bench.peers.data import texts; print(texts('small00'))"
    elsewhere = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "7"},
        check=True,
        capture_output=True,
        text=True,
    )
    said = [text for user in COUNTS for text in texts(user)]
    assert ast.literal_eval(elsewhere.stdout) == texts("small00")
    assert len(set(said)) == len(said)  # ours and mem0 store the same text once


@pytest.mark.parametrize("operation", report.MEMORY_OPERATIONS)
def test_each_operation_asks_the_store_for_what_its_name_says(operation: str) -> None:
    store = Recorder()
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


def test_every_store_has_what_operations_call() -> None:
    asked = {name for name in vars(stores.Store) if not name.startswith("_")}
    for system in STORES:
        assert asked <= set(dir(getattr(stores, system.kind))), system.name

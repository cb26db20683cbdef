"""Each query of docs/monitoring.md about watching, sizes and the audit runs, and alerts name metrics that there are."""

from __future__ import annotations

import re
from typing import Any

import yaml  # type: ignore[import-untyped]

from tests.support.servers import ROOT
from tests.support.sqlapi import Api

PAGE = (ROOT / "docs" / "monitoring.md").read_text()
WATCHING = PAGE[PAGE.index("## Queries for monitoring") :]
QUERIES = [
    line.partition(";")[0]
    for block in re.findall(r"```sql\n(.*?)```", WATCHING, re.DOTALL)
    for line in block.splitlines()
]


def test_the_queries_of_the_page_run(api: Api) -> None:
    for query in QUERIES:
        assert api.query(query) is not None


def test_the_page_names_every_check_of_the_doctor(api: Api) -> None:
    table = PAGE[PAGE.index("## What the doctor finds") : PAGE.index("## Queries for monitoring")]
    informative = {"version", "in-database runner", "embedding model", "token counts"}
    assert {row.check_name for row in api.doctor()} - informative == set(re.findall(r"`([a-z ]+)`", table)) - {
        "ok",
        "detail",
        "sweep",
    }


def test_alerts_name_metrics_that_the_server_shows() -> None:
    rules = yaml.safe_load((ROOT / "docker" / "prometheus" / "alerts.yaml").read_text())["groups"][0]["rules"]
    code = (ROOT / "python_client" / "agent_memory" / "server" / "metrics.py").read_text()
    assert len(rules) == len({rule["alert"] for rule in rules}) > 4
    for rule in rules:
        assert named(rule) != set()
        for metric in named(rule):
            model = metric.removeprefix("agent_memory_model_").removesuffix("_total")
            assert metric.removesuffix("_count") in code or f'"{model}"' in code, metric
        assert rule["annotations"].keys() == {"summary", "command"}


def named(rule: dict[str, Any]) -> set[str]:
    return set(re.findall(r"agent_memory_\w+", rule["expr"]))

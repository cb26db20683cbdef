"""HTTP, MCP, the page and the commands: any node's connection string leads to all of them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from agent_memory import partition_of
from agent_memory.page.rendering import address
from psycopg.types.json import Jsonb

from tests.cli.conftest import run
from tests.cluster.databases import PARTITIONS, Databases
from tests.http.steps import Serving, problem, token, with_keys
from tests.support.runners import wait_until
from tests.support.servers import Run

pytestmark = pytest.mark.feature("F14")

__all__ = ["run"]  # the fixture
HALVES = "aaaabbbb"
USERS = [f"grüße {number}" for number in range(8)]
AT_ONCE = 10.0
"""Seconds on a busy machine; a pool waits for 30."""


@pytest.fixture
def databases(databases: Databases) -> Databases:
    databases.begin("ab", HALVES)
    return databases


@pytest.fixture
def dsn(databases: Databases) -> str:
    return databases.dsn["a"]


@pytest.fixture
def served(databases: Databases) -> Iterator[Serving]:
    with with_keys(databases.dsn["a"], with_mcp=True) as serving:
        yield serving


def users_of(node: str) -> list[str]:
    return [user for user in USERS if HALVES[partition_of(user, PARTITIONS)] == node]


def add(serving: Serving, user: str, text: str = "Hello") -> httpx.Response:
    """Store a message with the user's own token."""
    with serving.client(token(user)) as client:
        return client.post("/v1/add_message", json={"thread_id": "t", "role": "user", "content": text})


def remember(serving: Serving, user: str) -> Any:
    """Call the tool add_memory over MCP, and return its result."""
    call = {"name": "add_memory", "arguments": {"content": "Likes tea"}}
    said = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    with serving.client(token(user), Accept="application/json, text/event-stream") as client:
        return client.post("/mcp", json=said).json()["result"]


def shown(admin: httpx.Client, view: str, **values: str) -> str:
    response = admin.get(address(view, **values))
    assert response.status_code == 200, response.text
    return response.text


def test_each_caller_is_led_to_the_node(databases: Databases, served: Serving) -> None:
    for user in USERS:
        assert add(served, user).status_code == 200
        assert not remember(served, user).get("isError")
    assert databases.rows("a") == {user: ["Hello"] for user in users_of("a")} != {}
    assert databases.rows("b") == {user: ["Hello"] for user in users_of("b")} != {}
    with served.client() as admin:
        for user in USERS:
            assert "Hello" in shown(admin, "thread", user=user, thread="t")
            assert admin.post("/v1/extract_memories", json={"user_id": user, "thread_id": "t"}).status_code == 200
        assert all(user in shown(admin, "users") for user in USERS)
        shown(admin, "work")
        assert set(admin.post("/v1/status", json={}).json()["nodes"]) == {"a", "b"}
        figures = admin.get("/metrics").text
        assert 'agent_memory_node_up{node="b"} 1.0' in figures
        jobs = sum(float(line.split()[-1]) for line in figures.splitlines() if line.startswith("agent_memory_jobs{"))
        queued = [databases.api(name) for name in "ab"]
        total = 0
        for opened in queued:
            with opened as api:
                total += api.value("select count(*) from memory.jobs where status <> 'completed'")
        assert jobs >= total > 0
        claimed = admin.post("/v1/claim_jobs", json={"worker": "w", "max_jobs": 50})
        assert {HALVES[partition_of(job["user_id"], PARTITIONS)] for job in claimed.json()} == {"a", "b"}


def test_a_node_that_is_away_concerns_its_users_only(databases: Databases, served: Serving) -> None:
    """Also the node that the server was told of."""
    gone = "a"
    for user in USERS:
        add(served, user)
    databases.dsn["a"], admin_dsn = databases.dsn["c"], databases.dsn["a"]
    names = {"a": admin_dsn, "b": databases.dsn["b"]}
    databases.dsn |= {"gone": names[gone]}
    databases.set_away("gone", True)
    try:
        user = users_of(gone)[0]
        wait_until(lambda: add(served, user).json().get("sqlstate") == "08001")
        begun = time.monotonic()
        assert f'node "{gone}"' in problem(add(served, user), 503)["detail"]
        assert remember(served, user)["isError"]
        assert time.monotonic() - begun < AT_ONCE
        for other in users_of("ab".replace(gone, "")):
            assert add(served, other).status_code == 200
        with served.client() as admin:
            assert admin.get("/healthz").status_code == 200
            assert f'agent_memory_node_up{{node="{gone}"}} 0.0' in admin.get("/metrics").text
            broken = [each["detail"] for each in admin.post("/v1/status", json={}).json()["problems"]]
            assert any(f'node "{gone}"' in detail for detail in broken)
    finally:
        databases.set_away("gone", False)
    wait_until(lambda: add(served, user).status_code == 200)


def test_the_commands(databases: Databases, run: Run, tmp_path: Path) -> None:
    here, there = users_of("a")[0], users_of("b")[0]
    file = tmp_path / "talk.jsonl"
    lines = [{"user_id": user, "thread_id": "t", "role": "user", "content": f"I am {user}"} for user in (here, there)]
    file.write_text("\n".join(map(json.dumps, lines)))
    assert "of 2 users" in run("import", file).stdout
    assert f"I am {here}" in run("messages", here, "t").stdout
    assert f"I am {there}" in run("messages", there, "t").stdout
    assert run("memories", "add", there, "Likes tea").returncode == 0
    assert "Likes tea" in run("search", there, "tea").stdout
    assert run("artifacts", "store", there, file, "--key", "talk").returncode == 0
    assert len(run("export", there).stdout.splitlines()) == 2
    listed = run("users", "list").stdout
    assert here in listed
    assert there in listed
    jobs = [json.loads(line) for line in run("jobs", "list", "--json").stdout.splitlines()]
    assert {job["user_id"] for job in jobs} == {here, there}
    assert {job["total_count"] for job in jobs} == {len(jobs)}
    assert len(run("jobs", "list", "--limit", "1", "--offset", "1", "--json").stdout.splitlines()) == 1
    assert run("policy", "set", "context.max_memories", "3").returncode == 0
    assert run("worker", "--once").returncode == 0
    for name in "ab":
        with databases.api(name) as api:
            assert api.get_policy()["context"]["max_memories"] == 3
            assert api.value("select count(*) from memory.jobs where kind = 'extract_memories'")
            assert not api.value("select count(*) from memory.jobs where status = 'pending' and run_after < now()")
    for command in (["status"], ["doctor"], ["sweep"], ["models", "list"], ["prompt", "show", "answer"]):
        outcome = run(*command)
        assert outcome.returncode in (0, 1 if command[0] in ("status", "doctor", "prompt") else 0), outcome.stderr
    for name in "ab":
        with databases.api(name) as api:
            api.connection.execute(
                "update memory.cluster_map set nodes = jsonb_set(nodes, '{b,dsn}', %s)",
                [Jsonb("host=127.0.0.1 port=1 dbname=x")],
            )
    assert run("messages", here, "t").returncode == 0
    assert 'node "b"' in run("messages", there, "t").stderr
    assert 'node "b"' in run("status").stdout
    swept = run("sweep")
    assert (swept.returncode, 'node "b"' in swept.stderr) == (1, True)
    assert "rows" in swept.stdout

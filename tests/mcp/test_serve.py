"""MCP beside the other endpoints of ``agent-memory serve``, behind the same keys and tokens."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import httpx2
import pytest
from agent_memory import Memory
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.http.steps import KEY, Serving, problem, token, with_keys
from tests.mcp.steps import over_http
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("C11", "B14")

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def beside(shared_api: Api) -> Iterator[Serving]:
    """A server with keys; the extra mcp is installed, so it serves MCP without being asked."""
    with with_keys(shared_api.connection.info.dsn, with_mcp=True) as serving:
        yield serving


def mcp_url(serving: Serving) -> str:
    """Where MCP is."""
    return f"{serving.url}/mcp"


def test_twenty_users_at_once_read_their_own_only(beside: Serving, shared_api: Api) -> None:
    users = [f"{number:02}-" for number in range(20)]

    async def work(user: str) -> tuple[str, list[str], str]:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token(user)}"}, timeout=300) as http_client,
            Client(streamable_http_client(mcp_url(beside), http_client=http_client)) as client,
        ):
            for number in range(2):
                added = await client.call_tool("add_memory", {"content": f"{user} likes tea of kind {number}."})
                assert not added.is_error, added
            found: Any = await client.call_tool("search", {"query": "tea", "limit": 50})
            refused: Any = await client.call_tool("list_memories", {"user_id": users[0]})
            assert found.structured_content["note"].startswith("Only words were compared")
            return user, [hit["content"] for hit in found.structured_content["results"]], refused.content[0].text

    async def everybody() -> list[tuple[str, list[str], str]]:
        return await asyncio.gather(*map(work, users))

    for user, found, refused in asyncio.run(everybody()):
        assert sorted(found) == [f"{user} likes tea of kind {number}." for number in range(2)]
        assert "user_id is fixed" in refused
    memory = Memory(shared_api.connection)
    assert {memory.count_memories(user) for user in users} == {2}


def test_the_administrator_names_a_user_in_the_url_or_a_header(beside: Serving) -> None:
    with over_http(f"{mcp_url(beside)}?user_id=zoë", KEY) as host:
        host.call("add_memory", content="Zoë likes tea.")
    in_header = httpx.Headers({**ACCEPT, "Agent-Memory-User": "zoë"}, encoding="utf-8")
    call = CALL | {"method": "tools/call", "params": {"name": "list_memories", "arguments": {}}}
    with beside.client(KEY) as admin:
        answer = admin.post("/mcp", json=call, headers=in_header).json()
        assert answer["result"]["structuredContent"]["total_count"] == 1
        assert "?user_id=" in problem(admin.post("/mcp", json=call, headers=ACCEPT), 403, "user_id")["hint"]
        problem(admin.post("/mcp", json=call, params={"user_id": "bob"}, headers=in_header), 422, "user_id")
    with beside.client(token("ana")) as ana:
        problem(ana.post("/mcp", json=call, headers=in_header), 403, "user_id")
        problem(ana.post("/mcp", json=call, params={"user_id": "bob"}, headers=ACCEPT), 403, "user_id")


def test_requests_are_checked_as_those_of_the_other_endpoints(beside: Serving) -> None:
    with beside.client(None, **ACCEPT) as nobody:
        challenge = nobody.post("/mcp", json=CALL)
        problem(challenge, 401)
        assert challenge.headers["www-authenticate"] == "Bearer"  # no authorization server is named
        assert nobody.get("/.well-known/oauth-protected-resource").status_code == 401
    with beside.client(token("ana"), **ACCEPT) as ana:
        assert ana.post("/mcp", json=CALL).status_code == 200
        problem(ana.get("/mcp"), 405)
        json_body = {"Content-Type": "application/json"}
        problem(ana.post("/mcp", content=b"x" * (33 << 20), headers=json_body), 413)
        unstated = (b"x" * (1 << 20) for _ in range(33))
        assert ana.post("/mcp", content=unstated, headers=json_body).status_code == 413
    with beside.client() as admin:
        assert 'endpoint="/mcp",method="POST",status="200"' in admin.get("/metrics").text


def test_without_keys_the_caller_names_the_user(dsn: str) -> None:
    with Serving(dsn, with_mcp=True) as serving:
        assert serving.process.stdout is not None
        assert serving.process.stdout.readline() == f"MCP is at {serving.url}/mcp.\n"
        with over_http(f"{serving.url}/mcp?user_id=ana", serving.token) as host:
            host.call("add_memory", content="Ana likes tea.")
        with serving.client(None, **ACCEPT) as stranger:
            problem(stranger.post("/mcp?user_id=ana", json=CALL), 401)
        with serving.client(serving.token, **ACCEPT) as local:
            problem(local.post("/mcp?user_id=ana", json=CALL, headers={"Origin": "https://evil.example"}), 403)
            problem(local.post("/mcp?user_id=ana", json=CALL, headers={"Host": "evil.example"}), 403)
            problem(local.post("/mcp", json=CALL), 403, "user_id")
        assert serving.stop() == 0
        assert not [line for line in serving.errors if "Traceback" in line]


def test_without_the_extra_the_server_serves_all_else(dsn: str) -> None:
    """A search that does not find the package stands in for an environment without the extra."""
    hide = (
        "import sys, importlib.util as u\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name in ('mcp', 'mcp_types') else find(name, *rest)\n"
        "from agent_memory.cli import app\n"
        "import agent_memory.server.serve as s\n"
        "s.serve = lambda *given, may_edit, with_mcp: print(with_mcp)\n"
        "app(['serve'])\n"
    )
    environment = {**os.environ, "AGENT_MEMORY_DSN": dsn}
    done = subprocess.run([sys.executable, "-c", hide], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == "False\n"

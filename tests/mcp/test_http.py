"""The server over streamable HTTP: whose memory a token reaches, and who is turned away."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from agent_memory import AsyncMemory, Memory
from agent_memory.mcp.errors import Errors
from agent_memory.mcp.run import http_app
from agent_memory.server.settings import Settings
from starlette.testclient import TestClient

from tests.http.steps import KEY, problem, token
from tests.mcp.steps import McpServing, over_http
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("C11")

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_token_reaches_its_user_only(served: McpServing, shared_api: Api, mode: str) -> None:
    memory = Memory(shared_api.connection)
    users = [f"{mode}-{number}" for number in range(6)]

    def work(user: str) -> tuple[Any, ...]:
        with over_http(served.url, token(user), mode=mode) as host:
            for number in range(5):
                host.call("add_memory", content=f"{user} has the number {number}.")
            host.call("store_memory", content=f"the text of {user}")
            uri = host.resources()[0].uri
            found = host.call("search", query="number", limit=50)["results"]
            refused = host.refused("list_memories", user_id=users[0])
            return [hit["content"] for hit in found], host.read(uri)[0].text, refused

    with ThreadPoolExecutor(len(users)) as pool:
        answers = list(pool.map(work, users))
    for user, (found, text, refused) in zip(users, answers, strict=True):
        assert sorted(found) == [f"{user} has the number {number}." for number in range(5)]
        assert text == f"the text of {user}"
        assert "user_id is fixed" in refused
        assert memory.count_memories(user) == 5


def test_the_administrator_names_a_user_in_the_url(served: McpServing, newcomer: str) -> None:
    with over_http(f"{served.url}?user_id={newcomer}", KEY) as host:
        host.call("add_memory", content="The newcomer likes tea.")
    with over_http(served.url, token(newcomer)) as host:
        assert host.call("list_memories")["total_count"] == 1
    with served.client(KEY, **ACCEPT) as admin:
        said = problem(admin.post(served.url, json=CALL), 403, "user_id")
        assert "?user_id=" in said["hint"]


def test_who_has_no_valid_token_is_turned_away(served: McpServing) -> None:
    for wrong in (None, "wrong", token("ana", "another secret of thirty-two bytes"), token("ana", exp=1), token(None)):
        with served.client(wrong, **ACCEPT) as client:
            assert problem(client.post(served.url, json=CALL), 401)["hint"].startswith("Send the header Authorization")
    with served.client(token("ana"), **ACCEPT) as ana:
        problem(ana.post(served.url, params={"user_id": "bob"}, json=CALL), 403, "user_id")
        assert ana.post(served.url, json=CALL).status_code == 200
        assert (
            ana.post(served.url, content=b"x" * (33 << 20), headers={"Content-Type": "application/json"}).status_code
            == 413
        )
        assert ana.post(served.url, content=b"{", headers={"Content-Type": "application/json"}).status_code == 400
        assert "database" not in served.announced
    assert "callers need a key or a token" in served.announced


def test_errors_of_the_operator_are_not_told_over_http(served: McpServing, shared_api: Api, newcomer: str) -> None:
    with over_http(served.url, token(newcomer)) as host:
        shared_api.connection.execute("alter function memory.list_threads rename to _hidden")
        try:
            refused = host.refused("list_threads")
        finally:
            shared_api.connection.execute("alter function memory._hidden rename to list_threads")
        assert refused.startswith("Error: the memory does not serve at the moment\nHint: ")
        assert host.call("list_threads")["threads"] == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:3002", "Origin": "http://localhost:3002"}, 200),
        ({"Host": "evil.example"}, 403),  # a page lets its own name resolve to 127.0.0.1
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Content-Type": "text/plain"}, 400),  # what a form can send without asking
    ],
)
def test_without_keys_only_programs_of_this_machine_are_served(dsn: str, headers: dict[str, str], status: int) -> None:
    settings = Settings()
    app = http_app(AsyncMemory(dsn), Errors(dsn, to_operator=False), "ana", None, settings)
    bearer = {"Authorization": f"Bearer {settings.token}"}
    with TestClient(app, base_url="http://127.0.0.1:3002") as client:
        assert client.post("/mcp", json=CALL, headers=ACCEPT).status_code == 401
        assert client.post("/mcp", json=CALL, headers=ACCEPT | bearer | headers).status_code == status


def test_a_server_for_one_user_serves_no_token_of_another(dsn: str) -> None:
    settings = Settings(api_key=KEY, jwt_secret="a secret of thirty-two bytes or more")
    app = http_app(AsyncMemory(dsn), Errors(dsn, to_operator=False), "ana", None, settings)
    with TestClient(app, base_url="https://memory.example") as client:
        for bearer, status in ((token("ana"), 200), (KEY, 200), (token("bob"), 403)):
            headers = ACCEPT | {"Authorization": f"Bearer {bearer}"}
            assert client.post("/mcp", json=CALL, headers=headers).status_code == status
        headers = ACCEPT | {"Authorization": f"Bearer {KEY}"}
        assert client.post("/mcp?user_id=bob", json=CALL, headers=headers).status_code == 403


def test_the_server_ends_in_an_orderly_way(dsn: str) -> None:
    with McpServing(dsn, "--user", "ana", "--agent", "helper") as serving:
        bearer = serving.announced.split()[-1].rstrip(")")
        assert httpx.post(serving.url, json=CALL).status_code == 401
        with over_http(serving.url, bearer) as host:
            added = host.call("add_memory", content="Ana likes tea.")
        assert serving.stop() == 0
        assert not [line for line in serving.errors if "Traceback" in line]
    with Memory(dsn) as memory:
        assert memory.get_memory("ana", added["memory_id"]).agent_id == "helper"

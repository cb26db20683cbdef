"""The server over streamable HTTP: whose memory a token reaches, and who is turned away."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from agent_memory import Memory

from tests.http.steps import KEY, SECRET, problem, token
from tests.mcp.steps import McpServing, over_http
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("C11")

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def served(shared_api: Api) -> Iterator[McpServing]:
    """A server that knows the key of the administrator and the secret of tokens."""
    serving = McpServing(shared_api.connection.info.dsn, AGENT_MEMORY_API_KEY=KEY, AGENT_MEMORY_JWT_SECRET=SECRET)
    with serving:
        yield serving


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_token_reaches_its_user_only(served: McpServing, shared_api: Api, mode: str) -> None:
    users = [f"{mode}-{number}" for number in range(4)]

    def work(user: str) -> tuple[Any, ...]:
        with over_http(served.url, token(user), mode=mode) as host:
            host.call("add_memory", content=f"The number of {user} is 7.")
            host.call("store_memory", content=f"the text of {user}")
            found = host.call("search", query="number", sources=["memory"])["results"]
            [resource] = host.resources()
            return found, host.read(resource.uri)[0].text, host.refused("list_memories", user_id=users[0])

    with ThreadPoolExecutor(len(users)) as pool:
        answers = list(pool.map(work, users))
    for user, (found, text, refused) in zip(users, answers, strict=True):
        assert [hit["content"] for hit in found] == [f"The number of {user} is 7."]
        assert text == f"the text of {user}"
        assert "user_id is fixed" in refused
    memory = Memory(shared_api.connection)
    assert [memory.count_memories(user) for user in users] == [1] * len(users)


def test_the_administrator_names_a_user_in_the_url(served: McpServing) -> None:
    with over_http(f"{served.url}?user_id=newcomer", KEY) as host:
        host.call("add_memory", content="The newcomer likes tea.")
    with over_http(served.url, token("newcomer")) as host:
        assert host.call("list_memories")["total_count"] == 1
    with served.client(KEY, **ACCEPT) as admin:
        assert "?user_id=" in problem(admin.post(served.url, json=CALL), 403, "user_id")["hint"]


def test_who_has_no_valid_token_is_turned_away(served: McpServing) -> None:
    for wrong in (None, token("ana", "another secret of thirty-two bytes"), token(None)):
        with served.client(wrong, **ACCEPT) as client:
            assert problem(client.post(served.url, json=CALL), 401)["hint"].startswith("Send the header Authorization")
    with served.client(token("ana"), **ACCEPT) as ana:
        problem(ana.post(served.url, params={"user_id": "bob"}, json=CALL), 403, "user_id")
        json_body = {"Content-Type": "application/json"}
        problem(ana.post(served.url, content=b"x" * (33 << 20), headers=json_body), 413)
        assert ana.post(served.url, content=b"{", headers=json_body).status_code == 400
        problem(ana.get(served.url), 405)
    assert "callers need a key or a token" in served.announced


def test_errors_of_the_operator_are_not_told(served: McpServing, shared_api: Api) -> None:
    with over_http(served.url, token("hidden")) as host:
        shared_api.connection.execute("alter function memory.list_threads rename to _hidden")
        try:
            refused = host.refused("list_threads")
            error = host.error("list_resources")
        finally:
            shared_api.connection.execute("alter function memory._hidden rename to list_threads")
        assert refused.startswith("Error: the memory does not serve at the moment\nHint: ")
        assert str(error).startswith("the memory does not serve at the moment")


def test_a_server_for_one_user_serves_this_machine_and_ends_in_an_orderly_way(dsn: str) -> None:
    with McpServing(dsn, "--user", "ana", "--agent", "helper") as serving:
        bearer = serving.announced.split()[-1].rstrip(")")
        assert httpx.post(serving.url, json=CALL).status_code == 401
        with over_http(serving.url, bearer) as host:
            added = host.call("add_memory", content="Ana likes tea.")
        with serving.client(bearer, **ACCEPT) as local:
            said = problem(local.post(f"{serving.url}?user_id=bob", json=CALL), 403)
            assert said["detail"] == "this server is for another user"
            # A page may let its own name resolve to 127.0.0.1, or send a form.
            for foreign in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
                problem(local.post(serving.url, json=CALL, headers=foreign), 403)
            form = {"Content-Type": "text/plain"}
            assert local.post(serving.url, content=b"{}", headers=form).status_code == 400
        assert serving.stop() == 0
        assert not [line for line in serving.errors if "Traceback" in line]
    with Memory(dsn) as memory:
        assert memory.get_memory("ana", added["memory_id"]).agent_id == "helper"

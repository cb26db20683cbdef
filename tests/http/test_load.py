"""Five hundred requests at a time of fifty users: nobody reads another's, and nothing fails."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import cycle, islice
from typing import Any

import httpx
import pytest

from tests.http.steps import Serving, token, with_keys

USERS = 50
IN_FLIGHT = 500
ROUNDS = 4


@pytest.fixture
def serving(dsn: str) -> Iterator[Serving]:
    with with_keys(dsn) as started:
        yield started


def calls(user: str) -> Iterator[tuple[str, str, Any]]:
    """Writes and reads of a user, without end; everything stored names its user."""
    for number in cycle(range(20)):
        yield "POST", "/v1/add_memory", {"content": f"{user} likes tea of kind {number}", "tags": [user]}
        yield "POST", "/v1/search", {"query": "tea", "mode": "keyword", "top_k": 50}
        yield "POST", "/v1/add_message", {"thread_id": "t", "role": "user", "content": f"{user} says {number}"}
        yield "POST", "/v1/get_context", {"thread_id": "t", "query": "tea"}
        yield "GET", "/api/v1/agents/default/memories?limit=50", None
        yield "POST", "/v1/load_user", {}
        yield "POST", "/v1/list_memories", {"user_id": user}


@pytest.mark.nightly
@pytest.mark.feature("B14")
def test_no_answer_of_another_user_and_none_that_fails(serving: Serving) -> None:
    answers = asyncio.run(everybody(serving.url))
    assert len(answers) == IN_FLIGHT * ROUNDS
    assert {status for _, status, _ in answers} == {200}
    names = [f"user-{number:02}-" for number in range(USERS)]
    for user, _, text in answers:
        strangers = [name for name in names if name in text and name != user]
        assert not strangers, (user, text)
    seen = {user for user, _, text in answers if json.loads(text) and user in text}
    assert seen == set(names)


async def everybody(url: str) -> list[tuple[str, int, str]]:
    """Begin all callers at once, those of a user on connections of their own."""
    context = ssl.create_default_context()
    async with AsyncExitStack() as stack:
        clients = [httpx.AsyncClient(base_url=url, verify=context, timeout=300) for _ in range(USERS)]
        for client in clients:
            await stack.enter_async_context(client)
        callers = (one(clients[number % USERS], number % USERS) for number in range(IN_FLIGHT))
        return [answer for each in await asyncio.gather(*callers) for answer in each]


async def one(client: httpx.AsyncClient, number: int) -> list[tuple[str, int, str]]:
    user = f"user-{number:02}-"
    headers = {"Authorization": f"Bearer {token(user)}"}
    answers = []
    for method, path, body in islice(calls(user), ROUNDS):
        for _ in range(10):
            response = await client.request(method, path, json=body, headers=headers)
            if response.status_code != 503 or "couldn't get a connection" not in response.text:
                break  # else the requests before have had all connections for thirty seconds: the machine is busy
        answers.append((user, response.status_code, response.text))
    return answers

"""Messages without a text, and with pictures, over HTTP."""

from __future__ import annotations

import base64
import random

import httpx
import pytest

PHOTO = base64.b64encode(b"\x89PNG\r\n\x1a\n" + random.Random(3).randbytes(3_000_000)).decode()
MONDAY = {"thread_id": "monday"}
pytestmark = pytest.mark.feature("B14")


def read(client: httpx.Client) -> list[dict[str, object]]:
    answer = client.post("/v1/get_messages", json=MONDAY)
    assert answer.status_code == 200, answer.text
    return answer.json()  # type: ignore[no-any-return]


def test_messages_without_a_text_are_stored(newcomer: httpx.Client) -> None:
    for content in ("", None):
        said = {**MONDAY, "role": "assistant", "content": content}
        answer = newcomer.post("/v1/add_message", json=said)
        assert answer.status_code == 200, answer.text
    messages = [
        {"role": "tool", "content": "", "tool_call_id": "c1"},
        {"role": "assistant", "content": None},
        {"role": "user", "content": []},
    ]
    assert newcomer.post("/v1/add_messages", json={**MONDAY, "messages": messages}).status_code == 200
    assert [message["content"] for message in read(newcomer)] == [""] * 5


def test_a_photo_of_3_mb_comes_back(newcomer: httpx.Client) -> None:
    parts = [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PHOTO}"}}]
    said = {**MONDAY, "messages": [{"role": "user", "content": parts}]}
    assert newcomer.post("/v1/add_messages", json=said).status_code == 200
    [message] = read(newcomer)
    assert (message["metadata"], message["token_count"]) == ({"content": parts}, 1105)

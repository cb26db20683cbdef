"""The error that is stored with a job repeats nothing that a user said."""

from __future__ import annotations

import json
import re

import pytest
from agent_memory_models import ModelError, reason_to_keep

from tests.model_package.openai.steps import chat, completion
from tests.support.fake_model_server import Behaviour, FakeModelServer
from tests.support.model_payloads import Json, extraction, run, users

# What is kept of an error
SAID = "Allergic to penicillin"
"""What a user said, which no error may repeat."""


@pytest.mark.feature("F20")
@pytest.mark.parametrize(
    ("behaviour", "kept"),
    [
        (
            Behaviour(
                status=400,
                body=json.dumps({"error": {"message": SAID, "type": "invalid_request_error", "code": "too_long"}}),
            ),
            "the server answered 400 (invalid_request_error, too_long)",
        ),
        (Behaviour(status=400, body=json.dumps({"error": {"type": SAID, "code": SAID}})), "the server answered 400"),
        (
            Behaviour(status=400, body=json.dumps({"error": {"type": "x" * 65, "code": 7}})),
            "the server answered 400 (7)",
        ),
        (Behaviour(status=500, body=SAID), "the server answered 500"),
        (completion(refusal=SAID), "the model refused to answer"),
        (Behaviour(body=SAID), "not a chat completion"),
        (Behaviour(raw=f"HTTP/1.1 200 {SAID}\r\n{SAID}\r\n\r\n"), "no reply from 127.0.0.1: RemoteProtocolError"),
    ],
)
def test_no_error_shows_what_a_user_said(fake: FakeModelServer, behaviour: Behaviour, kept: str) -> None:
    fake.behaviour = behaviour
    calls: list[Json] = []
    with pytest.raises(ModelError) as caught:
        run("extract_memories", extraction(users(SAID), chat(fake)), calls)
    assert kept in str(caught.value)
    assert {call["error"] for call in calls} == {str(caught.value)}
    assert "penicillin" not in str(caught.value)


@pytest.mark.feature("F20")
def test_an_unexpected_error_is_kept_by_type_and_place() -> None:
    calls: list[Json] = []
    payload = {**extraction(users("a")), "messages": [{"seq": SAID, "role": "user", "content": {SAID: 1}}]}
    with pytest.raises((AttributeError, KeyError, TypeError)) as caught:
        run("extract_memories", payload, calls)
    assert re.fullmatch(r"\w+Error at agent_memory_models\.[\w.]+:\d+", reason_to_keep(caught.value))

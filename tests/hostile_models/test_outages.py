"""A server that is away for an evening, or small and slow: both runners wait for it, and no job dies."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest

from tests.hostile_models.steps import JOBS, LEDGER, HostileServer, memories, use, work_again
from tests.support.fake_model_server import Behaviour, RecordedRequest
from tests.support.runners import Runner
from tests.support.sqlapi import Api


@pytest.fixture
def away() -> Iterator[str]:
    """The address of a server that is switched off."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


@pytest.mark.feature("F6", "A14")
def test_an_outage_kills_no_job(api: Api, fake: HostileServer, runner: Runner, away: str) -> None:
    use(api, fake, base_url=away, max_concurrency=None)
    for number in range(5):
        api.add_message(user_id="ana", thread_id=f"t{number}", role="user", content=f"I like boat {number}.")
        api.extract_memories(user_id="ana", thread_id=f"t{number}")
    for _ in range(7):  # more attempts than a job has
        work_again(api, runner)
        assert api.sweep()["queued"] == 0
    jobs = api.query(JOBS)
    assert [(job.status, job.attempts) for job in jobs] == [("pending", 0)] * 5
    failed = api.query(LEDGER)
    assert 1 <= len(failed) <= 7  # one look each time at most, and not one for each job
    assert all(call.error.startswith("no reply from 127.0.0.1") for call in failed)

    use(api, fake)
    work_again(api, runner)
    assert {job.status for job in api.query(JOBS)} == {"completed"}
    assert memories(api) == [f"I like boat {number}." for number in range(5)]


@pytest.mark.feature("F6", "A14")
def test_a_small_window_is_found_and_everything_is_read(api: Api, fake: HostileServer, runner: Runner) -> None:
    """The server says nothing of its window, and refuses what is longer."""

    def behaviour(request: RecordedRequest) -> Behaviour:
        tokens = sum(len(message["content"]) // 4 for message in request.body["messages"])
        if tokens + request.body["max_tokens"] > 4096:
            message = "This model's maximum context length is 4096 tokens."
            return Behaviour(status=400, body=json.dumps({"error": {"message": message, "type": "invalid_request"}}))
        return Behaviour()

    fake.behaviour = behaviour
    said = [f"I like boat {number:02}" + " which goes up and down the river" * 20 for number in range(40)]
    for content in said:
        api.add_message(user_id="ana", thread_id="boats", role="user", content=content)
    api.extract_memories(user_id="ana", thread_id="boats")
    for _ in range(8):
        work_again(api, runner)
    assert {job.status for job in api.query(JOBS)} == {"completed"}
    assert memories(api) == said
    assert api.value("select context_tokens from memory.models where name = 'fake'") == 4096
    assert [call.error is None for call in api.query(LEDGER)].count(False) == 1

"""Calls that fail and embeddings that are wrong: nothing is lost, and the job says why."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from email.utils import formatdate
from typing import Any

import pytest

from tests.hostile_models.steps import JOBS, LEDGER, SECRET, HostileServer, bystanders, memories, use, work, work_again
from tests.support.fake_model_server import (
    DROPPED,
    HANGING,
    HUGE,
    SERVER_ERROR,
    TRUNCATED_JSON,
    WRONG_SCHEMA,
    Behaviour,
    RecordedRequest,
)
from tests.support.model_rules import by_rule, count_tokens, rows_of
from tests.support.runners import Runner
from tests.support.sqlapi import Api


@dataclass(frozen=True)
class Case:
    """A call that fails, and how the job and the ledger must show the failure."""

    behaviour: Behaviour
    reason: str
    attempts: int = 1
    """Counted after it."""
    is_paid: bool = False


FAILURES = {
    "hanging": Case(HANGING, "no answer from the model within 3 s"),
    "dripping": Case(Behaviour(drip_seconds=0.05), "no answer from the model within 3 s"),
    "rate limit": Case(Behaviour(status=429, retry_after="3600"), "the server answered", attempts=0),
    "rate limit until": Case(Behaviour(status=429), "the server answered", attempts=0),
    "500": Case(SERVER_ERROR, "the server answered"),
    "not the protocol": Case(Behaviour(body="<html>busy</html>"), "the reply is not a chat completion"),
    "dropped": Case(DROPPED, "no reply from 127.0.0.1"),
    "huge": Case(HUGE, "the reply is larger than 8 MiB"),
    "truncated": Case(TRUNCATED_JSON, "the reply is invalid: JSON", is_paid=True),
    "cut off": Case(
        Behaviour(finish_reason="length", answer='{"memories": [{"seqs": [0'), "the reply was cut off", is_paid=True
    ),
    "wrong schema": Case(WRONG_SCHEMA, "the reply is invalid: memories: Field required", is_paid=True),
    "NUL": Case(
        Behaviour(answer=lambda body: by_rule(body).replace("memories", r"memories\u0000")),
        "the reply is invalid",
        is_paid=True,
    ),
}
ENDLESS = ("hanging", "dripping")
ODD_REPLIES = {
    "slow": Behaviour(delay_seconds=1),
    "thinks": Behaviour(answer=lambda body: f'<think>Is it {{"memories": 1}}?</think>\n{by_rule(body)}'),
    "counts in riddles": Behaviour(body=lambda body: re.sub(r'_tokens": \d+', '_tokens": true', body)),
}


@pytest.mark.feature("F6", "F7", "A14")
def test_failed_calls_lose_nothing(api: Api, fake: HostileServer, runner: Runner) -> None:
    """Cases run at the same time, each about a thread of its own that has the case's name."""

    def behaviour(request: RecordedRequest) -> Behaviour:
        name = thread_of(request)
        if name == "rate limit until":  # an hour from now, not from when the tests of this run were collected
            return replace(FAILURES[name].behaviour, retry_after=formatdate(time.time() + 3600, usegmt=True))
        return FAILURES[name].behaviour if name in FAILURES else ODD_REPLIES[name]

    def ask(*names: str, **settings: Any) -> None:
        use(api, fake, **settings)
        for name in names:
            api.add_message(user_id="ana", thread_id=name, role="user", content=f"question of {name}")
            api.extract_memories(user_id="ana", thread_id=name)
        messages = {name: api.get_messages(user_id="ana", thread_id=name) for name in names if name in FAILURES}
        others = bystanders(api)
        work(runner)
        # Nobody needs the model to go on.
        assert {name: api.get_messages(user_id="ana", thread_id=name) for name in messages} == messages
        assert bystanders(api) == others

    # A server that has answered once: another is asked for its reply in one way after the other.
    use(api, fake)
    api.extract_memories(user_id="ana", thread_id="t")
    work(runner)
    api.connection.execute("delete from memory.jobs; delete from memory.model_calls")
    api.connection.execute("delete from memory.memories where user_id = 'ana'")
    fake.requests.clear()
    fake.behaviour = behaviour
    ask(*(name for name in (*FAILURES, *ODD_REPLIES) if name not in ENDLESS))
    ask(*ENDLESS, timeout_seconds=3)  # apart, because ten megabytes may take longer on a busy machine
    use(api, fake)

    for name, case in FAILURES.items():
        [job] = api.query(JOB_OF_THREAD, thread_id=name)
        assert (job.status, job.attempts) == ("pending", case.attempts), name
        if case.attempts:
            assert case.reason in job.error, name
        else:
            assert 3000 < job.waits <= 3600, name
        [call] = api.query(CALLS_OF_THREAD, thread_id=name)
        assert case.reason in call.error, name
        if name in ENDLESS:  # what was sent is counted here
            assert (call.tokens_in > 100, call.tokens_out) == (True, None), name
        else:
            assert (call.tokens_in, call.tokens_out) == (
                tokens_of(fake, name, call) if case.is_paid else (None, None)
            ), name
    for name in ODD_REPLIES:
        [job] = api.query(JOB_OF_THREAD, thread_id=name)
        assert (job.status, job.attempts, job.error) == ("completed", 1, None), name
        [call] = api.query(CALLS_OF_THREAD, thread_id=name)
        assert call.error is None, name
        if name == "counts in riddles":  # then they are counted here
            assert call.tokens_in > 100, name
            assert call.tokens_out > 10, name
        else:
            assert (call.tokens_in, call.tokens_out) == tokens_of(fake, name, call), name
    assert len(fake.requests) == len(FAILURES) + len(ODD_REPLIES)

    assert memories(api) == sorted(f"question of {name}" for name in ODD_REPLIES)
    assert [hit.content for hit in api.search(user_id="bob", query="Remember")] == [f"Remember {SECRET}."]

    others = bystanders(api)
    fake.behaviour = Behaviour()
    work_again(api, runner)
    assert {(job.status, job.error) for job in api.query(JOBS)} == {("completed", None)}
    assert memories(api) == sorted(f"question of {name}" for name in (*FAILURES, *ODD_REPLIES))
    assert len(api.query(LEDGER)) == len(fake.requests) == 2 * len(FAILURES) + len(ODD_REPLIES)
    assert bystanders(api) == others


JOB_OF_THREAD = """
select status, attempts, error, extract(epoch from run_after - now())::float8 as waits
from memory.jobs where user_id = 'ana' and scope = %(thread_id)s
"""
CALLS_OF_THREAD = """
select c.tokens_in, c.tokens_out, c.error from memory.model_calls as c join memory.jobs as j using (user_id, job_id)
where j.user_id = 'ana' and j.scope = %(thread_id)s
"""


def thread_of(request: RecordedRequest) -> str:
    [message] = rows_of(f"\n{request.user}", "conversation")
    return str(message["content"]).removeprefix("question of ")


def tokens_of(fake: HostileServer, name: str, call: Any) -> tuple[int, int]:
    """What the server says the one request about a thread took; it does not keep what it replied."""
    [request] = [request for request in fake.requests if thread_of(request) == name]
    assert call.tokens_out > 0
    return sum(count_tokens(message["content"]) for message in request.body["messages"]), call.tokens_out

"""What memory.status() says of an installation, and the command that helps with each problem."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.protocol import ANA
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("E17")


def problems(api: Api) -> dict[str, dict[str, Any]]:
    return {problem["name"]: problem for problem in api.status()["problems"]}


def test_a_fresh_installation_has_nothing_broken(api: Api) -> None:
    state = api.status()
    assert state["version"] == api.version()
    assert state["queue"] == {
        "pending": 0,
        "due": 0,
        "oldest_due_seconds": None,
        "running": 0,
        "last_error": None,
        "dead": 0,
        "workers": [],
    }
    assert [(model["kind"], model["provider"]) for model in state["models"]] == [("chat", "local")]
    [(name, problem)] = problems(api).items()
    assert (name, problem["is_broken"]) == ("embedding model", False)
    assert problem["help"].startswith("Run: agent-memory models local")


def test_due_jobs_without_a_worker_are_broken_and_a_worker_is_known_by_its_jobs(api: Api) -> None:
    api.talk(**ANA, rounds=3)
    api.extract_memories(**ANA)
    assert "worker" not in problems(api)
    api.query("update memory.jobs set run_after = run_after - interval '5 minutes' returning 1")
    queue = api.status()["queue"]
    assert (queue["due"], queue["workers"]) == (1, [])
    assert 300 <= queue["oldest_due_seconds"] < 400
    assert problems(api)["worker"]["is_broken"]
    assert problems(api)["worker"]["help"].startswith("Run: agent-memory worker")

    api.claim_jobs(worker="w1")
    assert "worker" not in problems(api)
    assert [worker["worker"] for worker in api.status()["queue"]["workers"]] == ["w1"]


def test_dead_jobs_and_errors_come_with_what_helps(api: Api) -> None:
    api.talk(**ANA, rounds=3)
    api.extract_memories(**ANA)
    [job] = api.claim_jobs(worker="w1")
    claimed = {"user_id": "ana", "job_id": job.job_id, "lease_token": job.lease_token}
    api.fail_job(**claimed, error="no API key: the environment variable X is not set", retry_after="1 hour")
    assert "X is not set" in problems(api)["failing jobs"]["detail"]
    api.query("update memory.jobs set status = 'dead', finished_at = now() returning 1")
    assert "failing jobs" not in problems(api)
    assert "memory.retry_job" in problems(api)["dead jobs"]["help"]
    assert api.status()["queue"]["dead"] == 1


def test_what_is_embedded_is_counted_and_estimated_beyond_20000_rows(api: Api) -> None:
    api.register_model(name="m", kind="embedding", provider="openai", model="m", settings={"dimensions": 3})
    api.activate_model(name="m")
    api.add_memory(user_id="ana", content="Likes tea")
    embedded = {"model": "m", "done": 0, "total": 1, "is_estimate": False}
    assert api.status()["embedded"] == embedded
    assert not problems(api)["embeddings"]["is_broken"]
    api.add_message(user_id="bo", thread_id="t1", role="user", content="Hello")
    api.query("delete from memory.jobs returning 1")
    api.connection.execute("set local session_replication_role = replica")  # triggers would take half a minute
    api.query(
        "insert into memory.messages select (jsonb_populate_record(m, jsonb_build_object('seq', n))).*"
        " from memory.messages as m, generate_series(1, 30000) as n returning 1"
    )
    api.connection.execute("set local session_replication_role = default")
    with api.at_most(cpu_seconds=1):
        embedded = api.status()["embedded"]
    assert embedded["is_estimate"]
    assert embedded["done"] == 0
    assert embedded["total"] >= 20001


def soon(api: Api, messages: int = 9, **arguments: Any) -> None:
    """Say something that will expire in 23 hours."""
    said = [{"role": "user", "content": "Hello"}] * messages
    api.add_messages(**{**ANA, **arguments}, messages=said)
    api.query(
        "update memory.messages set created_at = now() - interval '6 days', expires_at = now() + interval '23 hours'"
        " where expires_at > now() returning 1"
    )


def unread(api: Api) -> str:
    detail: str
    [(ok, detail)] = api.query("select ok, detail from memory.doctor() where check_name = 'unread messages'")
    assert ok == ("unread messages" not in problems(api))
    return detail


@pytest.mark.feature("A2")
def test_messages_that_will_expire_unread_are_counted_with_what_helps(api: Api) -> None:
    api.set_policy(settings={"summary": {"enabled": False}})
    assert unread(api) == "none expires within a day"
    soon(api)
    api.add_message(user_id="ana", thread_id="later", role="user", content="Hello")
    assert api.status()["expiring"] == {"unread": 9, "wanted": 9, "is_estimate": False}
    assert "9 messages expire within a day" in unread(api)
    assert 'run "select memory.sweep()" every night' in unread(api)
    assert problems(api)["unread messages"]["is_broken"]
    api.query("update memory.messages set created_at = now() returning 1")  # as young as that, a sweep may wait
    assert api.status()["expiring"]["unread"] == 0
    api.query("update memory.messages set created_at = now() - interval '6 days' where thread_id = 't1' returning 1")
    api.sweep()
    assert 'run "agent-memory worker"' in unread(api)
    api.deactivate_model(name="local")
    assert "activate_model" in unread(api)
    api.activate_model(name="local")
    api.finish_jobs()
    assert api.status()["expiring"]["unread"] == 0
    assert unread(api) == "none expires within a day"


@pytest.mark.feature("A2")
def test_messages_that_nobody_wants_read_are_counted_and_no_problem(api: Api) -> None:
    api.set_policy(settings={"cadence": {"fact_extraction_every_n": 0}}, user_id="ana")
    soon(api)
    assert api.status()["expiring"] == {"unread": 9, "wanted": 0, "is_estimate": False}
    assert unread(api) == "9 messages expire within a day, which the policy has nothing extracted from"


@pytest.mark.usefixtures("db")
@pytest.mark.feature("A2")
def test_as_many_messages_are_counted_as_can_be_counted_quickly(api: Api) -> None:
    api.set_policy(settings={"summary": {"enabled": False}, "compression": {"enabled": False}})
    for number in range(5):
        soon(api, 5000, thread_id=f"t{number}")
    assert api.status()["expiring"] == {"unread": 20000, "wanted": 20000, "is_estimate": True}
    assert unread(api).startswith("at least 20000 messages")
    assert api.entries_read(lambda: api.value("select memory._expiring_unread()")) < 100_000


NO_MODEL = "update memory.models set is_active = false where kind = 'embedding'"
MODEL = """
select memory.register_model('m', 'embedding', 'openai', 'm', '{"dimensions": 3}');
select memory.activate_model('m')"""
WAITING = "insert into memory.jobs (user_id, kind, scope, run_after) values ('ana', 'embed', '', now() - interval '%s')"
WORKED_ON = """
insert into memory.jobs (user_id, kind, scope, status, worker, finished_at, result)
values ('bo', 'embed', '', 'completed', 'w1', now(), '{}')"""


@pytest.mark.parametrize(
    ("state", "line", "problem"),
    [
        (NO_MODEL, "embedding model", "embedding model"),
        (f"{MODEL}; select memory.add_memory('ana', 'Likes tea')", "embedding model", "embeddings"),
        (WAITING % "2 minutes", "queue", "worker"),
        (f"{WAITING % '11 minutes'}; {WORKED_ON}", "queue", "worker"),
        (
            f"{WAITING % '0'}; update memory.jobs set attempts = 1, error = 'the server answered 500'",
            "queue",
            "failing jobs",
        ),
        (
            "insert into memory.model_calls (user_id, call_id, kind, model, error, called_at)"
            " values ('ana', gen_random_uuid(), 'extract_memories', 'local', 'Error code: 401', now())",
            "models",
            "chat model",
        ),
    ],
)
def test_the_doctor_and_the_status_say_the_same_of_a_state(api: Api, state: str, line: str, problem: str) -> None:
    api.connection.execute(state.encode())
    found = problems(api)[problem]
    [check] = [row for row in api.doctor() if row.check_name == line]
    assert check.ok is not found["is_broken"]
    assert ("degraded: " in check.detail) is not found["is_broken"]
    assert found["detail"] in check.detail
    assert found["help"] in check.detail

"""An artifact that a message became lives as long as something names it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.artifacts.offload.steps import keys, say
from tests.support.sqlapi import Api


def expire(api: Api) -> None:
    api.connection.execute("update memory.messages set expires_at = '2020-01-01'")


def clear(api: Api) -> None:
    api.clear_thread(user_id="ana", thread_id="t1")


def edit(api: Api) -> None:
    api.connection.execute("update memory.messages set content = 'done'")


def delete(api: Api) -> None:
    api.connection.execute("delete from memory.messages")


@pytest.mark.feature("C2")
@pytest.mark.parametrize("end", [expire, clear, edit, delete])
def test_an_artifact_goes_when_its_message_goes(api: Api, end: Callable[[Api], None]) -> None:
    say(api)
    api.store_artifact(user_id="ana", content="kept", key="mine", thread_id="t1")
    assert (api.sweep()["artifacts"], keys(api)) == (0, ["mine", "npm-install"])
    end(api)
    assert keys(api) == ["mine", "npm-install"]
    assert (api.sweep()["artifacts"], keys(api)) == (1, ["mine"])
    assert api.query("select count(*) from memory.artifact_parts")[0].count == 1


NAMING = {
    "a memory": lambda api: api.add_memory(user_id="ana", content="The install is in [MemoryRef: npm-install]"),
    "a document": lambda api: api.add_document(user_id="ana", content="Log: [MemoryRef: npm-install - x - 3 tokens]."),
    "a summary": lambda api: api.query(
        "insert into memory.summaries (summary_id, user_id, thread_id, kind, summary, start_seq, end_seq, status)"
        " values (gen_random_uuid(), 'ana', 't9', 'rolling', 'Ran it: (MemoryRef: npm-install - x - 3 tokens]', 0, 3,"
        " 'completed')"
        " returning 1"
    ),
}


@pytest.mark.feature("C2")
@pytest.mark.parametrize("name", NAMING)
def test_a_text_that_names_it_keeps_an_artifact(api: Api, name: str) -> None:
    say(api)
    say(api, metadata={"command": "ls"})
    NAMING[name](api)
    delete(api)
    assert (api.sweep()["artifacts"], keys(api)) == (1, ["npm-install"])
    api.connection.execute(
        "delete from memory.summaries; delete from memory.memories; delete from memory.documents;"
        "update memory.artifacts set check_at = now()"
    )
    assert (api.sweep()["artifacts"], keys(api)) == (1, [])


@pytest.mark.feature("C2")
@pytest.mark.parametrize(
    ("ref", "is_quarantined"),
    [("[MemoryRef: npm-install]", True), ("[MemoryRef: npm-install - npm install - 9 tokens]", False)],
)
def test_a_further_message_that_names_it_keeps_an_artifact(api: Api, ref: str, is_quarantined: bool) -> None:
    """In either form, in another thread, and while it is in quarantine, from which it may return."""
    other = {"user_id": "ana", "thread_id": "t2"}
    say(api)
    say(api, metadata={"command": "ls"})
    api.add_message(**other, role="user", content=f"See {ref}.")
    if is_quarantined:
        api.quarantine_source(user_id="ana", source="message", id="t2/0", reason="looks planted")
    api.connection.execute("delete from memory.messages where thread_id = 't1'")
    assert (api.sweep()["artifacts"], keys(api)) == (1, ["npm-install"])
    api.delete_thread(**other)
    api.connection.execute("update memory.artifacts set check_at = now()")
    assert (api.sweep()["artifacts"], keys(api)) == (1, [])


@pytest.mark.feature("C2")
def test_another_users_text_keeps_nothing(api: Api) -> None:
    say(api)
    api.add_memory(user_id="bob", content="[MemoryRef: npm-install]")
    delete(api)
    assert (api.sweep()["artifacts"], keys(api)) == (1, [])


@pytest.mark.feature("C2")
def test_nothing_goes_while_a_job_of_the_user_runs(api: Api) -> None:
    say(api)
    for number in range(3):
        say(api, f"Hello {number}", "user", metadata={})
    job_id = api.extract_memories(user_id="ana", thread_id="t1")
    api.claim_jobs(worker="test", kinds=["extract_memories"])
    assert api.get_job(user_id="ana", job_id=job_id).status == "running"
    delete(api)
    assert (api.sweep()["artifacts"], keys(api)) == (0, ["npm-install"])

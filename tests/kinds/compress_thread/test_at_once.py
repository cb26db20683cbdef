"""Compression beside writers and readers of the thread."""

from __future__ import annotations

import time
from collections.abc import Callable

import psycopg
import pytest

from tests.support.protocol import ANA, age, claim, complete, lease, make_due, nothing_to_do
from tests.support.sqlapi import Api
from tests.support.summaries import active, asked, compress, compressing, only, seqs, sources, write


@pytest.mark.feature("A7", "D10")
def test_a_result_is_not_lost_when_a_writer_holds_the_thread(
    db: psycopg.Connection, connect: Callable[..., psycopg.Connection]
) -> None:
    api, writer = Api(db), Api(connect())
    compressing(api)
    write(api, *[10] * 10)
    job = claim(api)
    with writer.connection.transaction():
        write(writer, 10)
        started = time.monotonic()
        with pytest.raises(psycopg.errors.LockNotAvailable):
            complete(api, job, summary="They talked.")
        assert time.monotonic() - started > 1.9  # and not for ever: the writer holds the thread until after that
    complete(api, job, summary="They talked.")
    assert active(api) == [6, 7, 8, 9, 10]


@pytest.mark.feature("D10")
def test_a_claim_does_not_wait_for_a_writer(db: psycopg.Connection, connect: Callable[..., psycopg.Connection]) -> None:
    api, writer = Api(db), Api(connect())
    only(api, cadence={"thread_summary_every_n": 10})
    write(api, *[10] * 10)
    complete(api, claim(api), summary="All of it.")
    api.compress_thread(**ANA)
    db.execute("set lock_timeout = '5s'")
    with writer.connection.transaction():
        write(writer, 10)
        assert nothing_to_do(api)
    assert active(api) == list(range(11))
    make_due(api)
    api.set_policy(settings={"compression": {"recent_messages_to_keep": 4}})
    assert nothing_to_do(api)
    assert active(api) == [7, 8, 9, 10]


@pytest.mark.feature("A16", "E16")
def test_a_sweep_removes_compressed_messages_when_they_expire_and_keeps_the_summary(api: Api) -> None:
    compressing(api)
    write(api, *[10] * 8)
    compress(api)
    complete(api, asked(api, "extract_memories"), memories=[])
    age(api, 8, "messages", "updated_at")
    assert api.sweep()["messages"] == 0
    assert seqs(api.get_messages(**ANA, include_inactive=True)) == list(range(8))
    api.connection.execute("update memory.messages set expires_at = '2020-01-01' where not is_active")
    assert api.sweep()["messages"] == 4
    assert seqs(api.get_messages(**ANA, include_inactive=True)) == active(api) == [4, 5, 6, 7]
    assert sources(api) == ["thread_summary"] + ["message"] * 4
    write(api, *[10] * 2)
    assert seqs(asked(api, "compress_thread").payload["messages"]) == [4, 5]


@pytest.mark.feature("A7", "A11", "E16")
@pytest.mark.parametrize("kind", ["extract_memories", "summarize_user", "summarize_thread", "compress_thread"])
def test_compressed_messages_are_read_by_jobs_that_had_not_read_them_until_they_are_cleared(
    api: Api, kind: str
) -> None:
    compressing(api)
    api.talk(**ANA, rounds=4)
    compress(api)
    if kind != "compress_thread":
        job = asked(api, kind)
        assert seqs(job.payload["messages"]) == list(range(8))
        api.release_job(**lease(job))
        make_due(api)
    assert api.clear_thread(**ANA) == 4
    api.talk(**ANA, rounds=3)
    payload = asked(api, kind).payload
    assert seqs(payload["messages"] + payload.get("recent_messages", [])) == list(range(8, 14))
    assert payload.get("previous_summary") is None

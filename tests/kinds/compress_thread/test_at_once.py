"""Compression beside writers and readers of the thread, and results that are refused."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.support.protocol import ANA, age, claim, complete, lease, make_due, nothing_to_do, open_jobs
from tests.support.sqlapi import Api, refused
from tests.support.summaries import (
    COMPRESSION,
    active,
    asked,
    compress,
    compressing,
    only,
    seqs,
    sources,
    summaries,
    write,
)


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


TALKED = {"summary": "They talked."}


COUNTER = {**TALKED, "token_counter": "o200k_base"}


BAD_RESULTS: list[dict[str, Any]] = [
    {},
    {"summary": " "},
    {"summary": 5},
    {"summary": "x" * 300_000},
    {**TALKED, "metadata": []},
    {**TALKED, "generation_time_ms": -1},
    {**TALKED, "token_counts": {"0": 1}},
    *({**COUNTER, "token_counts": counts} for counts in ([1], {"0": "1"}, {"0": 1.5}, {"0": -1}, {"0": 10**400})),
    *({**COUNTER, "token_counts": {seq: 1}} for seq in ("-1", "9" * 30, "1; drop")),
    {"skipped": "below", "token_counts": {"0": None}, "token_counter": "o200k_base"},
]


@pytest.mark.feature("A7")
def test_a_bad_result_changes_nothing(api: Api) -> None:
    compressing(api, archive_conversations=True)
    write(api, *[10] * 10)
    job = claim(api)
    before = api.state()
    for result in BAD_RESULTS:
        with refused("result"):
            api.complete_job(**lease(job), result=result)
    assert api.state() == before


@pytest.mark.feature("A7", "D11")
@pytest.mark.parametrize("function", ["clear_thread", "delete_thread"])
def test_a_thread_that_goes_while_it_is_compressed_stays_gone(api: Api, function: str) -> None:
    compressing(api, archive_conversations=True)
    write(api, *[10] * 10)
    job = claim(api)
    getattr(api, function)(**ANA)
    write(api, *[1] * 3)
    with refused("lease_token", "AM001"):
        complete(api, job, summary="They talked.")
    assert len(active(api)) == 3
    assert (summaries(api), api.list_documents(user_id="ana"), open_jobs(api)) == ([], [], [])


@pytest.mark.feature("A7", "D5")
@pytest.mark.parametrize("kinds", [("summarize_thread", "compress_thread"), ("compress_thread", "summarize_thread")])
def test_two_kinds_of_jobs_never_continue_one_summary_at_once(api: Api, kinds: tuple[str, str]) -> None:
    only(api, cadence={"thread_summary_every_n": 100}, compression=COMPRESSION)
    api.talk(**ANA, rounds=5)
    api.compress_thread(**ANA)
    api.summarize_thread(**ANA)
    first = claim(api, kinds[0])
    assert nothing_to_do(api)
    assert api.query("select attempts, error from memory.jobs where status = 'pending'") == [
        (0, "another job is summarising this thread")
    ]
    complete(api, first, summary="First.")
    make_due(api)
    for job in api.claim_jobs(worker="test"):
        assert (job.kind, job.payload["previous_summary"]) == (kinds[1], "First.")
        complete(api, job, summary="Second.")
    assert active(api) == [6, 7, 8, 9]
    assert summaries(api)[-1] == ("thread", 0, 9, "completed")


@pytest.mark.feature("A5", "D10")
def test_counting_does_not_wait_for_a_writer(
    db: psycopg.Connection, connect: Callable[..., psycopg.Connection]
) -> None:
    api, writer = Api(db), Api(connect())
    counts: dict[str, Any] = {"token_counts": {"0": 3}, "token_counter": "o200k_base"}
    only(api)
    write(api, 10)
    db.execute("set lock_timeout = '1s'")
    job = asked(api, "summarize_thread")
    with writer.connection.transaction():
        write(writer, 10)
        complete(api, job, summary="They talked.", **counts)
    assert [message.token_count for message in api.get_messages(**ANA)] == [10, 10]
    complete(api, asked(api, "extract_memories"), memories=[], **counts)
    assert [message.token_count for message in api.get_messages(**ANA)] == [3, 10]
    assert active(api) == [0, 1]

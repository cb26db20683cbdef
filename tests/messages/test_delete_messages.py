"""Messages that are deleted by numbers or filters."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from agent_memory import Memory

from tests.messages.steps import ANA, add, contents
from tests.support.protocol import claim, lease
from tests.support.sqlapi import Api, refused
from tests.support.summaries import compress, compressing, each_round, write

pytestmark = pytest.mark.feature("F25")


def delete(api: Api, **arguments: Any) -> dict[str, Any]:
    deleted: dict[str, Any] = api.delete_messages(**{"user_id": "ana", **arguments})
    return deleted


def test_numbers_name_what_goes(api: Api) -> None:
    api.talk(**ANA, rounds=3)
    assert delete(api, thread_id="t1", seqs="{4,1,1,99,-1}") == {
        "count": 2,
        "sample": ["t1/1", "t1/4"],
        "dry_run": False,
    }
    assert contents(api) == ["question 0", "question 1", "answer 1", "answer 2"]
    assert delete(api, thread_id="t1", seqs="{1,4}")["count"] == 0
    assert add(api).seq == 6


def test_a_thread_alone_is_a_condition(api: Api) -> None:
    api.talk(**ANA, rounds=2)
    add(api, "Other", thread_id="t2")
    add(api, "Foreign", user_id="bob")
    assert delete(api, thread_id="t1", dry_run=True)["count"] == 4
    assert delete(api, thread_id="t1")["count"] == 4
    assert contents(api) == []
    assert contents(api, thread_id="t2") == ["Other"]
    assert contents(api, user_id="bob") == ["Foreign"]
    assert delete(api, thread_id="no such thread")["count"] == 0
    assert delete(api, thread_id="t2", seqs=[])["count"] == 0
    assert contents(api, thread_id="t2") == ["Other"]


@pytest.mark.parametrize(
    "condition",
    [
        {"roles": ["agent"]},
        {"filter": {"k": 1}},
        {"created_before": "2020-01-01"},
        {"roles": ["user"], "filter": {"k": 1}},
    ],
)
def test_filters_are_those_of_the_list(api: Api, condition: dict[str, Any]) -> None:
    for thread in ("t1", "t2"):
        add(api, "Old", thread_id=thread, created_at="2019-01-01")
        add(api, "Tool", thread_id=thread, role="tool")
        add(api, "Answer", thread_id=thread, role="assistant", metadata={"k": 1})
        add(api, "Filtered", thread_id=thread, metadata={"k": 1, "l": 2})
    chosen = [
        f"{thread}/{row.seq}"
        for thread in ("t1", "t2")
        for row in api.get_messages(user_id="ana", thread_id=thread, **condition)
    ]
    would = delete(api, **condition, dry_run=True)
    assert would == {"count": len(chosen), "sample": chosen, "dry_run": True}
    assert delete(api, **condition) == {**would, "dry_run": False}
    for thread in ("t1", "t2"):
        assert api.get_messages(user_id="ana", thread_id=thread, **condition) == []
        [row] = api.query("select message_count from memory.threads where thread_id = %(t)s", t=thread)
        assert row.message_count == 4 - len(chosen) // 2


@pytest.mark.parametrize("condition", [{}, {"filter": {}}])
def test_without_a_condition_it_is_refused(api: Api, condition: dict[str, Any]) -> None:
    add(api)
    with refused("seqs"):
        delete(api, **condition)
    with refused("thread_id"):
        delete(api, seqs="{0}")
    assert contents(api) == ["Hello"]


def test_writers_meanwhile_lose_nothing(dsn: str) -> None:
    with Memory(dsn) as memory, ThreadPoolExecutor(4) as workers:

        def write(place: int) -> int | None:
            seq: int | None = memory.add_message(
                "ana", f"t{place % 3}", "user", f"Kept {place}", metadata={"keep": True}
            ).seq
            return seq

        def remove(place: int) -> int:
            memory.add_message("ana", f"t{place % 3}", "tool", f"Gone {place}")
            count: int = memory.delete_messages("ana", roles=["tool"])["count"]
            return count

        written, removed = workers.map(write, range(60)), workers.map(remove, range(60))
        assert len(list(written)) == 60
        assert sum(removed) == 60
        assert sum(thread.message_count for thread in memory.list_threads("ana")) == 60


@pytest.mark.feature("A11")
def test_one_message_is_hidden_alone_and_counted_out(api: Api) -> None:
    api.talk(**ANA, rounds=2)
    add(api, "Hello", user_id="bob")
    assert api.delete_message(**ANA, seq=1) is True
    assert contents(api) == ["question 0", "question 1", "answer 1"]
    assert api.list_threads(user_id="ana")[0].message_count == 3
    for seq in (1, 4, -1, 2**62):
        assert api.delete_message(**ANA, seq=seq) is False
    assert contents(api, user_id="bob") == ["Hello"]
    assert api.search(user_id="ana", query="answer 0", mode="keyword", sources=["message"], top_k=1)[0].id != "t1/1"
    assert add(api).seq == 4


@pytest.mark.feature("A11")
def test_one_message_takes_along_the_summaries_that_cover_it_and_leaves_earlier_ones(api: Api) -> None:
    each_round(api)
    api.talk(**ANA, rounds=3)
    api.finish_jobs(summary="Early news.")
    api.talk(**ANA, rounds=1)
    api.finish_jobs(summary="Late news.")
    [summary] = api.get_thread_summary(**ANA)
    assert api.delete_message(**ANA, seq=summary.end_seq) is True
    [earlier] = api.get_thread_summary(**ANA)
    assert earlier.end_seq < summary.end_seq


@pytest.mark.feature("A11")
def test_a_job_that_reads_a_message_begins_again_without_it(api: Api) -> None:
    each_round(api)
    api.talk(**ANA, rounds=3)
    job = claim(api, "summarize_thread")
    api.delete_message(**ANA, seq=5)
    with refused("lease_token", "AM001"):
        api.complete_job(**lease(job), result={"points": []})
    assert "answer 2" not in str(claim(api, "summarize_thread").payload)


@pytest.mark.feature("A11")
def test_a_message_that_compression_put_away_can_be_deleted(api: Api) -> None:
    compressing(api)
    write(api, *[20] * 10)
    compress(api)
    assert api.delete_message(**ANA, seq=9) is True
    assert len(api.get_thread_summary(**ANA)) == 1  # which does not cover it
    assert [api.delete_message(**ANA, seq=2) for _ in range(2)] == [True, False]
    assert api.get_thread_summary(**ANA) == []
    assert delete(api, thread_id="t1")["count"] == 8

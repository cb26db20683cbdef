"""Messages that are deleted by numbers or filters."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
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


@pytest.mark.parametrize(
    "condition",
    [
        {"roles": ["tool"]},
        {"roles": ["agent"]},
        {"roles": []},
        {"filter": {"k": 1}},
        {"created_before": "2020-01-01"},
        {"created_after": "2020-01-01"},
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


def test_an_empty_list_deletes_nothing(api: Api) -> None:
    add(api)
    assert delete(api, thread_id="t1", seqs=[]) == {"count": 0, "sample": [], "dry_run": False}


def test_summaries_that_cover_one_go_and_others_stay(api: Api) -> None:
    each_round(api)
    for thread in ("t1", "t2"):
        api.talk("ana", thread, rounds=3)
    api.finish_jobs(summary="News.")
    assert len(api.get_thread_summary(user_id="ana", thread_id="t2")) == 1
    delete(api, thread_id="t1", roles=["user"])
    assert api.get_thread_summary(user_id="ana", thread_id="t1") == []
    assert len(api.get_thread_summary(user_id="ana", thread_id="t2")) == 1


def test_compressed_messages_go_as_well(api: Api) -> None:
    compressing(api)
    write(api, *[20] * 10)
    compress(api)
    assert delete(api, thread_id="t1")["count"] == 10
    assert api.search(user_id="ana", query="word", mode="keyword", sources=["message"]) == []


def test_a_job_that_reads_one_begins_again(api: Api) -> None:
    each_round(api)
    api.talk(**ANA, rounds=3)
    job = claim(api, "summarize_thread")
    delete(api, roles=["assistant"])
    with pytest.raises(psycopg.Error) as lost:
        api.complete_job(**lease(job), result={"points": []})
    assert lost.value.sqlstate == "AM001"


def test_a_sweep_removes_them(api: Api) -> None:
    api.talk(**ANA, rounds=2)
    delete(api, roles=["user"])
    assert api.sweep()["messages"] == 2


def test_two_that_delete_the_same_delete_each_message_once(dsn: str) -> None:
    with Memory(dsn) as memory, ThreadPoolExecutor(4) as workers:
        for thread in range(5):
            memory.add_messages("ana", f"t{thread}", [{"role": "user", "content": str(place)} for place in range(50)])
        deleted = list(workers.map(lambda _: memory.delete_messages("ana", roles=["user"])["count"], range(4)))
        assert sum(deleted) == 250
        assert [thread.message_count for thread in memory.list_threads("ana")] == [0] * 5


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

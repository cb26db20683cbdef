"""Threads that are copied to go on in another way."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from agent_memory import Memory
from agent_memory.errors import ConflictError

from tests.messages.steps import ANA, add, contents
from tests.support.protocol import claim, complete, nothing_to_do
from tests.support.runners import PATIENCE
from tests.support.sessions import Sessions
from tests.support.sqlapi import Api, refused
from tests.support.summaries import compress, compressing, each_round, write

pytestmark = pytest.mark.feature("F25")
COPY = {"user_id": "ana", "thread_id": "copy"}


def copy(api: Api, **arguments: Any) -> int:
    copied: int = api.copy_thread(**{**ANA, "new_thread_id": "copy", **arguments})
    return copied


def test_messages_keep_numbers_times_and_all_else(api: Api) -> None:
    add(api, "One", metadata={"k": 1}, agent_id="b", created_at="2026-01-01")
    add(api, "Two", role="assistant", expires_at="2100-01-01")
    add(api, "Three", role="tool")
    assert copy(api) == 3
    assert api.get_messages(**COPY) == api.get_messages(**ANA)
    [origin], [thread] = api.get_thread(**ANA), api.get_thread(**COPY)
    counters = ("message_count", "active_tokens", "first_at", "last_at")
    assert [getattr(thread, name) for name in counters] == [getattr(origin, name) for name in counters]
    assert (thread.title, thread.metadata) == (None, {"copied_from": "t1", "copied_upto_seq": 2})
    assert add(api, "Four", thread_id="copy").seq == 3
    assert contents(api) == ["One", "Two", "Three"]


def test_title_and_metadata_come_along_and_idempotency_keys_stay_behind(api: Api) -> None:
    add(api, "One", idempotency_key="k")
    api.set_thread(**ANA, title="Trip", metadata={"k": 1})
    copy(api)
    [thread] = api.get_thread(**COPY)
    assert (thread.title, thread.metadata) == ("Trip", {"k": 1, "copied_from": "t1", "copied_upto_seq": 0})
    assert add(api, "One", thread_id="copy", idempotency_key="k").seq == 1


def test_upto_seq_is_inclusive_and_gaps_are_kept(api: Api) -> None:
    api.talk(**ANA, rounds=3)
    api.delete_message(**ANA, seq=1)
    assert copy(api, upto_seq=3) == 3
    assert [row.seq for row in api.get_messages(**COPY)] == [0, 2, 3]
    assert add(api, thread_id="copy").seq == 4
    assert copy(api, new_thread_id="all", upto_seq=2**63 - 1) == 5
    assert add(api, thread_id="all").seq == 6
    assert copy(api, new_thread_id="first", upto_seq=0) == 1


def test_what_is_refused(api: Api) -> None:
    with refused("thread_id", "P0002"):
        copy(api)
    add(api)
    add(api, user_id="bob")
    with refused("thread_id", "P0002"):
        copy(api, thread_id="t2")
    with refused("new_thread_id", "23505"):
        copy(api, new_thread_id="t1")
    api.set_thread(**COPY, title="Taken")
    with refused("new_thread_id", "23505"):
        copy(api)
    assert api.get_thread(**COPY)[0].message_count == 0


def test_search_and_recall_find_the_copy_when_the_origin_is_gone(api: Api) -> None:
    add(api, "The dentist is Dr Okafor")
    api.sweep()
    copy(api)
    api.delete_thread(**ANA)
    [hit] = api.search(user_id="ana", query="dentist Okafor", mode="keyword", sources=["message"])
    assert hit.id == "copy/0"
    context = api.get_context(user_id="ana", thread_id="other", query="who is the dentist Okafor?")
    assert "Okafor" in str(context)


def test_artifacts_go_on_in_the_copy_when_the_origin_is_deleted(api: Api) -> None:
    kept = add(api, "line of a log\n" * 800, role="tool")
    assert kept.memory_ref
    copy(api)
    key = api.list_artifacts(user_id="ana")[0].key
    api.delete_thread(**ANA)
    api.sweep()
    assert "line of a log" in api.retrieve_artifact(user_id="ana", key=key)
    api.delete_thread(**COPY)
    assert api.list_artifacts(user_id="ana") == []


def test_embeddings_are_copied_and_nobody_pays_for_them_again(api: Api) -> None:
    api.register_model(name="m", kind="embedding", provider="openai", model="m")
    api.activate_model(name="m")
    api.set_policy(settings={"search": {"embed_messages": True}})
    add(api, "Likes tea")
    api.finish_jobs()
    copy(api)
    rows = api.query(
        "select id, embedding::text, code::text from memory.texts"
        " where model is not null and source = 'message' order by id"
    )
    assert [row.id for row in rows] == ["copy/0", "t1/0"]
    assert rows[0][1:] == rows[1][1:]
    assert nothing_to_do(api, "embed")
    add(api, "Likes coffee")
    copy(api, new_thread_id="copy2")
    api.finish_jobs()
    assert api.value("select count(*) from memory.texts where model is not null and id in ('copy2/0', 'copy2/1')") == 2


@pytest.mark.feature("E13")
def test_no_memory_is_extracted_a_second_time(api: Api) -> None:
    api.set_policy(settings={"cadence": {"fact_extraction_every_n": 2}})
    api.talk(**ANA, rounds=2)
    copy(api)
    [job] = api.claim_jobs(worker="test", kinds="{extract_memories}", max_jobs=10)
    assert job.payload["messages"][-1]["seq"] == 3
    complete(api, job, memories=[])
    api.talk(user_id="ana", thread_id="copy", rounds=1)
    [job] = api.claim_jobs(worker="test", kinds="{extract_memories}", max_jobs=10)
    assert [message["seq"] for message in job.payload["messages"]] == [4, 5]


def test_summaries_are_copied_that_cover_copied_messages_only(api: Api) -> None:
    each_round(api)
    api.talk(**ANA, rounds=3)
    api.finish_jobs(summary="Early news.")
    [early] = api.get_thread_summary(**ANA)
    api.talk(**ANA, rounds=1)
    api.finish_jobs(summary="Late news.")
    [late] = api.get_thread_summary(**ANA)
    assert late.base_summary_id == early.summary_id
    copy(api, upto_seq=early.end_seq)
    [copied] = api.get_thread_summary(**COPY)
    assert (copied.summary, copied.end_seq) == ("Early news.", early.end_seq)
    assert copied.summary_id != early.summary_id
    copy(api, new_thread_id="all")
    [copied] = api.get_thread_summary(user_id="ana", thread_id="all")
    assert copied.summary == "Late news."
    assert copied.base_summary_id not in (None, early.summary_id)
    api.delete_thread(**ANA)
    assert len(api.get_thread_summary(**COPY)) == 1


def test_compressed_messages_stay_compressed_or_come_back(api: Api) -> None:
    compressing(api)
    write(api, *[20] * 10)
    compress(api)
    [summary] = api.get_thread_summary(**ANA)
    active = [row.seq for row in api.get_messages(**ANA)]
    assert copy(api) == 10
    assert [row.seq for row in api.get_messages(**COPY)] == active
    assert copy(api, new_thread_id="early", upto_seq=summary.end_seq - 1) == summary.end_seq
    early = [row.seq for row in api.get_messages(user_id="ana", thread_id="early")]
    assert early == list(range(summary.end_seq))
    for thread in ("copy", "early"):
        [row] = api.query(
            "select t.message_count = count(m.seq) and t.active_tokens = sum(m.token_count) as exact"
            " from memory.threads as t join memory.messages as m using (user_id, thread_id)"
            " where t.thread_id = %(t)s and m.is_active group by t.message_count, t.active_tokens",
            t=thread,
        )
        assert row.exact


def test_a_quarantined_message_is_copied_as_such_and_released_apart(api: Api) -> None:
    add(api, "Planted")
    api.quarantine_source(user_id="ana", source="message", id="t1/0", reason="planted")
    copy(api)
    assert "Planted" not in str(api.get_messages(**COPY))
    api.release_source(user_id="ana", source="message", id="copy/0")
    assert contents(api, thread_id="copy") == ["Planted"]


@pytest.mark.feature("F5")
@pytest.mark.parametrize("change", ["deleted", "quarantined", "middle"])
def test_a_source_is_forgotten_in_copies_of_copies_when_the_origin_has_lost_it(api: Api, change: str) -> None:
    add(api, "We moved house, the new one is at the fjord in Bergen")
    add(api, "Hello")
    api.extract_memories(**ANA)
    complete(
        api,
        claim(api, "extract_memories"),
        memories=[{"content": "We moved house to Bergen", "memory_type": "fact", "seqs": [0]}],
    )
    [row] = api.list_memories(user_id="ana")
    copy(api)
    copy(api, thread_id="copy", new_thread_id="again")
    if change == "deleted":
        api.delete_message(**ANA, seq=0)
        api.sweep()
    elif change == "quarantined":
        api.connection.execute("update memory.messages set content = 'Held back' where (thread_id, seq) = ('t1', 0)")
    else:
        api.set_thread(**COPY, metadata={"k": 1})
    api.forget_memory(user_id="ana", memory_id=row.memory_id)
    assert contents(api) == contents(api, thread_id="copy") == contents(api, thread_id="again") == ["Hello"]


@pytest.mark.feature("F5")
def test_what_a_copy_goes_on_with_is_not_forgotten(api: Api) -> None:
    add(api, "Of a thread that had the name before")
    copy(api, new_thread_id="early")
    api.delete_thread(**ANA)
    add(api, "Hello")
    copy(api)
    add(api, "Of the copy", thread_id="copy")
    add(api, "We moved house, the new one is at the fjord in Bergen")
    api.extract_memories(**ANA)
    complete(
        api,
        claim(api, "extract_memories"),
        memories=[{"content": "We moved house to Bergen", "memory_type": "fact", "seqs": [0, 1]}],
    )
    [row] = api.list_memories(user_id="ana")
    copy(api, new_thread_id="other")
    api.set_thread(user_id="ana", thread_id="other", metadata={"copied_from": "t1"})
    api.forget_memory(user_id="ana", memory_id=row.memory_id)
    assert contents(api) == contents(api, thread_id="other") == []
    assert contents(api, thread_id="copy") == ["Of the copy"]
    assert contents(api, thread_id="early") == ["Of a thread that had the name before"]


def test_of_many_that_copy_to_one_thread_one_does(dsn: str) -> None:
    with Memory(dsn) as memory, ThreadPoolExecutor(4) as workers:
        memory.add_messages("ana", "t1", [{"role": "user", "content": str(place)} for place in range(50)])

        def attempt(place: int) -> int:
            memory.add_message("ana", "t1", "user", f"more {place}")
            try:
                return memory.copy_thread("ana", "t1", "copy")
            except ConflictError:
                return 0

        copied = [count for count in workers.map(attempt, range(8)) if count]
        assert len(copied) == 1
        assert len(memory.get_messages("ana", "copy")) == copied[0]
        assert len(memory.get_messages("ana", "t1")) == 58


def test_the_thread_is_copied_that_began_anew_while_the_copy_waited(sessions: Sessions) -> None:
    api = sessions.api
    api.add_message(**ANA, role="user", content="Of before")
    with api.connection.transaction():
        api.delete_thread(**ANA)
        api.add_message(**ANA, role="user", content="Of now")
        call = sessions.start("copy_thread", **ANA, new_thread_id="u")
    assert call.result(PATIENCE) == 1
    assert contents(api, thread_id="u") == ["Of now"]


def test_copies_in_both_directions_do_not_deadlock(dsn: str) -> None:
    with Memory(dsn) as memory, ThreadPoolExecutor(4) as workers:
        for thread in ("a", "z"):
            memory.add_messages("ana", thread, [{"role": "user", "content": str(place)} for place in range(20)])

        def attempt(place: int) -> int:
            source = "az"[place % 2]
            memory.add_message("ana", source, "user", "more")
            return memory.copy_thread("ana", source, f"{'mn'[place % 2]}{place}")

        assert all(count > 20 for count in workers.map(attempt, range(20)))

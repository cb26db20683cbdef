"""Titles, metadata and search of threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from agent_memory import Memory

from tests.messages.steps import ANA, MAY, add
from tests.support.sqlapi import Api, refused

pytestmark = pytest.mark.feature("F25")


def found(api: Api, **arguments: Any) -> list[str]:
    return [row.thread_id for row in api.list_threads(**{"user_id": "ana", **arguments})]


def test_a_thread_has_a_title_and_metadata_which_null_leaves_and_empty_clears(api: Api) -> None:
    add(api)
    assert (api.get_thread(**ANA)[0].title, api.get_thread(**ANA)[0].metadata) == (None, {})
    api.set_thread(**ANA, title="Trip", metadata={"k": 1})
    api.set_thread(**ANA, title="Trip to Oslo")
    api.set_thread(**ANA)
    [thread] = api.get_thread(**ANA)
    assert (thread.title, thread.metadata, thread.message_count) == ("Trip to Oslo", {"k": 1}, 1)
    assert api.list_threads(user_id="ana") == [thread]
    api.set_thread(**ANA, title="", metadata={})
    assert (api.get_thread(**ANA)[0].title, api.get_thread(**ANA)[0].metadata) == (None, {})


def test_an_unknown_thread_is_not_found_and_titles_are_of_their_user(api: Api) -> None:
    add(api, user_id="bob")
    with refused("thread_id", "P0002"):
        api.get_thread(**ANA)
    api.set_thread(**ANA, title="Of Ana")
    assert api.get_thread(user_id="bob", thread_id="t1")[0].title is None


def test_sizes_are_limited(api: Api) -> None:
    api.set_thread(**ANA, title="é" * 1000)
    with refused("title", "54000"):
        api.set_thread(**ANA, title="é" * 1001)
    with refused("metadata", "54000"):
        api.set_thread(**ANA, metadata={"k": [f"{number}" for number in range(200_000)]})
    with refused("search", "54000"):
        api.list_threads(user_id="ana", search="a" * 1001)


@pytest.mark.parametrize("swept", [False, True])
def test_words_are_found_in_titles_and_messages(api: Api, swept: bool) -> None:
    add(api, "I was running in the park with Ødegård", thread_id="park", created_at="2026-01-01")
    add(api, "The weather is fine", thread_id="weather", created_at="2026-01-02")
    add(api, "東京旅行", thread_id="tokyo", created_at="2026-01-03")
    add(api, "running water", thread_id="foreign", user_id="bob")
    api.set_thread(user_id="ana", thread_id="weather", title="Parks of Oslo")
    if swept:
        api.sweep()
    assert found(api, search="park") == ["weather", "park"]
    assert found(api, search="RUNS park") == ["park"]
    assert found(api, search="ødegård") == ["park"]
    assert found(api, search="oslo weather") == []  # not in one text
    assert found(api, search="京旅") == ["tokyo"]
    assert found(api, search="京行") == []
    assert found(api, search="nowhere") == []
    assert found(api, search="the") == []
    assert found(api, search="arks of") == ["weather"]  # a part of a title
    assert [row.total_count for row in api.list_threads(user_id="ana", search="park", row_limit=1)] == [2]
    assert found(api, search=" ") == found(api)


def test_deleted_expired_and_quarantined_messages_are_not_found(api: Api) -> None:
    for place, thread in enumerate(("cleared", "quarantined", "kept")):
        add(api, "A zebra crossing", thread_id=thread, created_at=f"2026-01-0{place + 1}")
    api.clear_thread(user_id="ana", thread_id="cleared")
    api.quarantine_source(user_id="ana", source="message", id="quarantined/0", reason="planted")
    assert found(api, search="zebra") == ["kept"]


def test_threads_are_chosen_by_metadata_and_time(api: Api) -> None:
    for day in (1, 2, 3):
        add(api, thread_id=f"t{day}", created_at=MAY.replace(day=day))
        api.set_thread(user_id="ana", thread_id=f"t{day}", metadata={"day": day, "tags": ["x"]})
    api.set_thread(user_id="ana", thread_id="empty", metadata={"tags": ["x", "y"]})
    assert found(api) == ["t3", "t2", "t1", "empty"]
    assert found(api, filter={"tags": ["x"]}) == ["t3", "t2", "t1", "empty"]
    assert found(api, filter={"tags": ["x"], "day": 2}) == ["t2"]
    assert found(api, filter={"day": "2"}) == []
    assert found(api, active_after=MAY.replace(day=2)) == ["t3"]
    assert found(api, active_before=MAY.replace(day=2)) == ["t1"]
    assert found(api, active_after=MAY.replace(day=1), active_before=MAY.replace(day=3)) == ["t2"]
    assert found(api, filter={"tags": ["x"]}, row_limit=2, row_offset=1) == ["t2", "t1"]


@pytest.mark.feature("F5")
def test_a_forgotten_statement_leaves_titles_and_metadata(api: Api) -> None:
    memory_id = api.add_memory(user_id="ana", content="Lives in Smallstreet in Bergen").memory_id
    api.set_thread(
        **ANA, title="Lives in Smallstreet in Bergen, she says", metadata={"k": "Lives in Smallstreet in Bergen"}
    )
    api.forget_memory(user_id="ana", memory_id=memory_id)
    assert (api.get_thread(**ANA)[0].title, api.get_thread(**ANA)[0].metadata) == ("[forgotten]", {"k": "[forgotten]"})


def test_those_who_set_and_those_who_write_wait_for_each_other_and_lose_nothing(dsn: str) -> None:
    with Memory(dsn) as memory, ThreadPoolExecutor(4) as workers:

        def write(place: int) -> None:
            memory.add_message("ana", "t1", "user", str(place))
            memory.set_thread("ana", "t1", metadata={"place": place})

        list(workers.map(write, range(40)))
        thread = memory.get_thread("ana", "t1")
        assert thread.message_count == 40
        assert thread.metadata["place"] in range(40)


def test_a_change_of_metadata_may_expect_what_is_there(api: Api) -> None:
    api.set_thread(**ANA, metadata={"n": 1}, expected_metadata={})
    api.set_thread(**ANA, metadata={"n": 2}, expected_metadata={"n": 1})
    for thread_id, expected in ((ANA["thread_id"], {"n": 1}), (ANA["thread_id"], {}), ("none", {"n": 2})):
        with refused("expected_metadata", "40001"):
            api.set_thread(**{**ANA, "thread_id": thread_id}, metadata={"n": 3}, expected_metadata=expected)
    assert api.get_thread(**ANA)[0].metadata == {"n": 2}
    api.add_message(user_id="ana", thread_id="plain", role="user", content="Hi")  # a thread that never had metadata
    api.set_thread(user_id="ana", thread_id="plain", metadata={"n": 1}, expected_metadata={})

"""Messages of a user with very many that neither a job nor a sweep has parsed: a search reads the newest of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.search.messages.steps import TARGET, ids, parse, say, search
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("E4", "F1")

READ = 3000
"""So many unparsed messages enter a search."""


@pytest.fixture
def api(full: Api) -> Api:
    full.set_policy(settings={"cadence": {"fact_extraction_every_n": 0}, "summary": {"enabled": False}})
    full.set_policy(settings={"compression": {"enabled": False}})
    full.notices.clear()
    return full


def leave_unparsed(api: Api, messages: int, thread_id: str = "new", **arguments: Any) -> None:
    said = [{"role": "user", "content": f"moss {number}"} for number in range(messages)]
    api.add_messages(user_id="ana", thread_id=thread_id, messages=said, **{"agent_id": "usual", **arguments})


def left_out(api: Api) -> list[str]:
    heard = [notice for notice in api.notices if "not parsed yet" in notice]
    api.notices.clear()
    return heard


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_what_a_search_reads_does_not_grow_with_what_is_unparsed(api: Api, mode: str) -> None:
    vector = TARGET if mode == "hybrid" else None
    leave_unparsed(api, 3500)
    first = api.entries_read(lambda: ids(api, "fern", vector, mode=mode))
    leave_unparsed(api, 3500)
    assert api.entries_read(lambda: ids(api, "fern", vector, mode=mode)) < 1.1 * first


def test_the_newest_are_found_by_their_words_and_a_notice_says_that_others_are_not(api: Api) -> None:
    old = say(api, "The theorbo is here", "new", created_at="2026-11-01")
    leave_unparsed(api, READ)
    new = say(api, "A theorbo at last", "t1")
    assert ids(api, "theorbo", mode="keyword") == [new]
    assert left_out(api) == [
        "degraded: 3000 or more texts are not parsed yet; not all of them are found by their words"
    ]
    parse(api)
    api.notices.clear()
    assert set(ids(api, "theorbo", mode="keyword")) == {old, new}
    assert left_out(api) == []


def test_the_newest_of_all_threads_are_read(api: Api) -> None:
    for number in range(2):
        leave_unparsed(api, READ, f"old {number}")
    new = [say(api, "A theorbo", f"thread {number}") for number in range(20)]
    assert set(ids(api, "theorbo", mode="keyword", top_k=20)) == set(new)


@pytest.mark.parametrize(("messages", "parsed", "query"), [(2001, 0, "unicorn topic"), (2500, 50, "topic 4321")])
def test_scores_stay_between_0_and_1_when_few_messages_are_parsed(
    api: Api, messages: int, parsed: int, query: str
) -> None:
    said = [{"role": "user", "content": f"topic {number}"} for number in range(messages)]
    said[-1]["content"] = "unicorn topic"
    eve = {"user_id": "eve", "thread_id": "t0", "agent_id": "usual"}
    if parsed:
        api.add_messages(**eve, messages=said[:parsed])
        parse(api)
    api.add_messages(**eve, messages=said[parsed:])
    for arguments in ({"mode": "keyword"}, {"vector": TARGET}, {"agent_id": "usual"}, {"mode": "keyword", "top_k": 50}):
        found = search(api, query, user_id="eve", **arguments)
        assert found
        assert all(0 < result.score <= 1 for result in found)
    assert "unicorn topic" in str(api.get_context(user_id="eve", thread_id="t0", query="unicorn"))

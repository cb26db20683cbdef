"""Of very many messages of a user, a search ranks a few; it finds what ranking all of them finds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.search.messages.steps import TARGET, draw_near, fill, ids, parse, rewrite, say, search
from tests.support.sqlapi import Api


@pytest.mark.feature("E4", "F1")
def test_a_unique_word_among_thousands_of_messages_is_found(api: Api) -> None:
    api.set_policy(settings={"search": {"preselect_above": 2000}})
    fill(api, "ana", threads=4, messages=2000)
    rewrite(api, "t3/777", "The theorbo is here")
    for mode, vector, most in (("hybrid", TARGET, 26_000), ("keyword", None, 8_000)):
        found: list[str] = []

        def search_once(mode: str = mode, vector: Any = vector, found: list[str] = found) -> None:
            found.extend(ids(api, "where is the theorbo", vector, mode=mode))

        read = api.entries_read(search_once)
        assert found[0] == "t3/777"
        assert read < most  # a code is two entries; ranking all would read 32,000


@pytest.mark.feature("E4", "F1")
@pytest.mark.parametrize("mode", ["hybrid", "vector"])
def test_the_nearest_message_is_found(full: Api, mode: str) -> None:
    draw_near(full, "t5/124")
    results = search(full, "zither", TARGET, mode=mode)
    assert results[0].id == "t5/124"
    assert results == search(full, "zither", TARGET, mode=mode)


FILTERS: list[dict[str, Any]] = [
    {},
    {"agent_id": "rare"},
    {"thread_id": "t6"},
    {"filter": {"topic": "topic 33"}},
    {"filter": {"parity": 1.0}},
    {"created_before": "2026-02-01 00:00+00", "created_after": "2026-01-01 00:02+00"},
    {"as_of": "2026-01-01 00:00:30+00"},
    {"agent_id": "usual", "exclude_thread_id": "t0", "filter": {"parity": 0}},
]


@pytest.mark.parametrize(
    ("mode", "filters"),
    [*(("hybrid", filters) for filters in FILTERS), ("vector", FILTERS[-1]), ("keyword", FILTERS[-1])],
)
def test_filters_bind_before_anything_is_chosen(full: Api, mode: str, filters: dict[str, Any]) -> None:
    """The best ten are nearly those of ranking all messages, and there are as many."""
    vector = None if mode == "keyword" else [1.0, -1.0] * 32
    asked = {"mode": mode, "top_k": 10, **filters}
    chosen = ids(full, "salt and moss", vector, **asked)
    full.set_policy(settings={"search": {"preselect_above": 10**6}})
    ranked = ids(full, "salt and moss", vector, **asked)
    assert len(chosen) == len(ranked) > 0
    # Made-up texts of eight words are many with one score, of which any may be among the first.
    assert len(set(chosen) & set(ranked)) >= (len(ranked) if mode == "vector" else len(ranked) / 5)


def test_filters_follow_what_plain_sql_changes(full: Api) -> None:
    change = "update memory.messages set {} where user_id = 'ana' and thread_id = 't3' and seq = 3 returning 1"
    full.query(change.format("agent_id = 'moved', created_at = '2031-01-01', metadata = '{\"topic\": 7}'"))
    draw_near(full, "t3/3")
    for filters in ({"agent_id": "moved"}, {"created_after": "2030-01-01"}, {"filter": {"topic": 7.0}}):
        assert ids(full, None, TARGET, mode="vector", **filters) == ["t3/3"], filters
    full.query(change.format("agent_id = 'again'"))
    assert ids(full, None, TARGET, mode="vector", agent_id="again") == ["t3/3"]
    assert ids(full, None, TARGET, mode="vector", agent_id="moved") == []


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_new_messages_are_found_before_they_are_parsed(full: Api, mode: str) -> None:
    new = [say(full, "The theorbo is here", "t1"), say(full, "A theorbo at last", "new thread")]
    vector = TARGET if mode == "hybrid" else None
    assert set(ids(full, "theorbo", vector, mode=mode, top_k=2)) == set(new)
    assert ids(full, "theorbo", vector, mode=mode, top_k=1, thread_id="new thread") == new[1:]
    assert ids(full, "theorbo", vector, mode=mode, top_k=1, filter={"some": "thing"}) == []
    parse(full)
    assert set(ids(full, "theorbo", vector, mode=mode, top_k=2)) == set(new)


@pytest.mark.parametrize(
    ("mode", "gone"),
    [("hybrid", "cleared"), ("vector", "expired"), ("keyword", "deleted"), ("hybrid", "of another user")],
)
def test_what_may_not_be_found_is_never_found(full: Api, mode: str, gone: str) -> None:
    for seq in range(60):
        rewrite(full, f"t7/{seq}", "theorbo")
        draw_near(full, f"t7/{seq}")
    vector = None if mode == "keyword" else TARGET
    asked = {"mode": mode, "top_k": 30}
    assert all(each.startswith("t7/") for each in ids(full, "theorbo tea", vector, **asked))
    if gone == "cleared":
        full.clear_thread(user_id="ana", thread_id="t7")
    elif gone == "expired":
        full.query("update memory.messages set expires_at = now() - interval '1 s' where thread_id = 't7' returning 1")
    elif gone == "deleted":
        full.delete_thread(user_id="ana", thread_id="t7")
    else:
        fill(full, "cyd", threads=2, messages=200)
    found = ids(full, "theorbo tea", vector, **asked, user_id="cyd" if gone == "of another user" else "ana")
    assert len(found) == 30
    assert gone == "of another user" or not any(each.startswith("t7/") for each in found)
    if gone == "of another user":
        assert all(
            "theorbo" not in result.content for result in search(full, "theorbo tea", vector, **asked, user_id="cyd")
        )


def test_a_thread_whose_name_begins_like_another_is_another(full: Api) -> None:
    message = say(full, "The theorbo is here", "t0/1", near=True)
    for vector, mode in ((TARGET, "hybrid"), (TARGET, "vector")):
        assert ids(full, "theorbo", vector, mode=mode, top_k=1, thread_id="t0") != [message]
        assert ids(full, "theorbo", vector, mode=mode, top_k=1, exclude_thread_id="t0") == [message]
        assert ids(full, "theorbo", vector, mode=mode, top_k=1, thread_id="t0/1") == [message]

"""The work of a search grows with the rows of its user alone."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from tests.search.vector.steps import remember, search
from tests.support.search_plans import fill, plan_of_ranking, reads
from tests.support.search_world import SOURCES, embed
from tests.support.sqlapi import Api


@pytest.mark.feature("E4")
@pytest.mark.parametrize("rows", [1, 2000])
@pytest.mark.parametrize("analyzed", [False, True])
def test_the_work_grows_with_the_rows_of_the_user_alone(fresh: Api, rows: int, analyzed: bool) -> None:
    """With and without statistics, no step may compare each row with each, or read rows of other users."""
    fill(fresh, "ana", rows)
    fill(fresh, "bob", 3000)
    if analyzed:
        fresh.connection.execute("analyze")
    fresh.connection.execute("set parallel_setup_cost = 0")  # to start workers takes longer than most searches
    for mode in ("hybrid", "vector", "keyword"):
        steps = plan_of_ranking(fresh, mode=mode, sources=SOURCES)
        # A message counts its words for itself and the two before and after.
        assert max(step["seen"] for step in steps) <= 5 * (2 * rows) + 100, mode
        assert not [step for step in steps if step["Node Type"] in ("Merge Join", "Gather")], mode
        # Each text once, and of the messages the entries of an index, to know whether there are very many.
        assert sum(step["seen"] for step in reads(steps, "texts")) <= 3 * rows, mode


def test_a_fresh_table_is_read_once_for_each_thing_to_know(fresh: Api) -> None:
    """Entries of a table and of its index: the embedding, and the row for each arm and for the count."""
    fill(fresh, "ana", 1000)
    for mode in ("hybrid", "vector", "keyword"):
        ask = functools.partial(search, fresh, "tea", [1, 0, 0], mode=mode, sources=SOURCES)
        assert fresh.entries_read(ask) < 10 * 2000


def test_other_users_do_not_make_a_search_dearer(fresh: Api) -> None:
    fill(fresh, "ana", 100)
    ask = functools.partial(search, fresh, "green tea", [1, 0, 0], sources=SOURCES)
    ask()
    before, answer = fresh.entries_read(ask), ask()
    for number in range(10):
        fill(fresh, f"user {number}", 200)
    assert fresh.entries_read(ask) <= before + 20
    assert ask() == answer


def test_other_users_do_not_make_a_context_dearer(fresh: Api) -> None:
    """The same holds for a block of memories, with and without statistics."""
    remember(fresh, "Likes green tea", [1, 0, 0])
    target = "[1,0,0]"
    asks = [
        functools.partial(fresh.render_memories, user_id="ana", query="green tea", query_embedding=target),
        functools.partial(fresh.get_context, user_id="ana", thread_id="t1", query="green tea", query_embedding=target),
    ]
    for ask in asks:
        ask()
    before = [fresh.entries_read(ask) for ask in asks]
    fill(fresh, "bob", 10_000)
    fresh.connection.execute("analyze")
    fresh.connection.execute("discard plans")
    for ask, entries in zip(asks, before, strict=True):
        assert fresh.entries_read(ask) <= entries + 20


def test_ten_thousand_messages_are_searched(fresh: Api) -> None:
    fill(fresh, "ana", 10_000)
    while fresh.sweep()["checked"]:
        pass
    fresh.query(
        "update memory.messages set content = 'The theorbo is here' where user_id = 'ana' and seq = 5000 returning 1"
    )
    embed(fresh, "t1/5000", [0, 1, 0], source="message")
    arguments: dict[str, Any] = {"sources": ["message"], "top_k": 1000}
    for mode in ("hybrid", "keyword"):
        results = search(fresh, "where is the theorbo", [0, 1, 0], mode=mode, **arguments)
        assert (results[0].id, results[0].content) == ("t1/5000", "The theorbo is here")
    everything = search(fresh, " ".join(["green tea", *map(str, range(300))]), [0, 1, 0], explain=True, **arguments)
    assert len(everything) == 1000
    explained = [result.details["keyword"]["terms"].keys() for result in everything if result.id != "t1/5000"]
    assert all(words >= {"green", "tea"} for words in explained)


def test_explaining_a_thousand_results_does_not_read_all_matches_for_each(fresh: Api) -> None:
    fill(fresh, "ana", 1500)
    steps = plan_of_ranking(fresh, sources=SOURCES, explain=True, top_k=1000)
    assert max(step["seen"] for step in steps) <= 5 * (2 * 1500)

"""The work of a search grows with the rows of its user alone."""

from __future__ import annotations

import functools

import pytest

from tests.search.vector.steps import search
from tests.support.search_plans import fill, plan_of_ranking, reads
from tests.support.search_world import SOURCES
from tests.support.sqlapi import Api


@pytest.mark.feature("E4")
@pytest.mark.parametrize(("rows", "analyzed"), [(1, True), (1000, False)])
def test_the_work_grows_with_the_rows_of_the_user_alone(fresh: Api, rows: int, analyzed: bool) -> None:
    """With and without statistics, no step may compare each row with each, or read rows of other users."""
    fill(fresh, "ana", rows)
    fill(fresh, "bob", 2000)
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


def test_explaining_a_thousand_results_does_not_read_all_matches_for_each(fresh: Api) -> None:
    fill(fresh, "ana", 1100)
    steps = plan_of_ranking(fresh, sources=SOURCES, explain=True, top_k=1000)
    assert max(step["seen"] for step in steps) <= 5 * (2 * 1100)

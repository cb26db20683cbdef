"""The work of a search among memories alone grows with the memories of its user alone."""

from __future__ import annotations

import pytest

from tests.search.memories_alone.steps import ALONE, MODES
from tests.support.search_plans import fill, plans_of_search, reads
from tests.support.sqlapi import Api


@pytest.mark.feature("E4")
@pytest.mark.parametrize("rows", [1, 2000])
@pytest.mark.parametrize("analyzed", [False, True])
def test_the_work_grows_with_the_memories_of_the_user_alone(fresh: Api, rows: int, analyzed: bool) -> None:
    """This holds with and without statistics, and no embedding is compared twice."""
    fill(fresh, "ana", rows)
    fill(fresh, "bob", 3000)
    if analyzed:
        fresh.connection.execute("analyze")
    for mode in MODES:
        # Documents and summaries are looked for, but there are none.
        plans = plans_of_search(fresh, mode=mode, sources=["memory", "document", "summary"])
        assert max(step["seen"] for steps in plans for step in steps) <= 2 * rows + 100, mode
        assert not [step for steps in plans for step in steps if step["Node Type"] == "Merge Join"], mode
        embeddings = [step for steps in plans for step in reads(steps, "embeddings")]
        assert sum(step["seen"] for step in embeddings) == (0 if mode == "keyword" else rows), mode


@pytest.mark.parametrize("explain", [False, True])
def test_words_are_read_from_an_index_alone(fresh: Api, explain: bool) -> None:
    fill(fresh, "ana", 1000)
    fresh.connection.execute("checkpoint")  # a commit that is not on disk yet is not known to be one
    fresh.connection.execute("vacuum analyze memory.memories")
    plans = plans_of_search(fresh, **ALONE, agent_id="default", explain=explain)
    # The results are read from the table afterwards.
    [memories] = [step for steps in plans for step in reads(steps, "memories") if step["seen"] > 10]
    assert (memories["Node Type"], memories["Index Name"]) == ("Index Only Scan", "memories_recent_idx")
    assert (memories["seen"], memories["Heap Fetches"]) == (1000, 0)

"""The work of a search among memories alone grows with the memories of its user alone."""

from __future__ import annotations

import pytest

from tests.search.memories_alone.steps import MODES
from tests.support.search_plans import fill, plans_of_search, reads
from tests.support.sqlapi import Api


@pytest.mark.feature("E4")
@pytest.mark.parametrize(("rows", "analyzed"), [(1, True), (2000, False)])
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
        texts = [step for steps in plans for step in reads(steps, "texts")]
        assert sum(step["seen"] for step in texts) == rows, mode

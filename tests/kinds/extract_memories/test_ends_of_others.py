"""Extraction: whose statements end what is known, jobs that end in any order, and what a claim reads."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kinds.extract_memories.changing import LYON, PORTO, fact, heard, states
from tests.support.protocol import activate
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F1", "F3", "F29", "E10")


@pytest.fixture
def api(api: Api) -> Api:
    """With a chat model, whose replies the tests hand in."""
    activate(api)
    return api


# Who may end what -----------------------------------------------------------------------------------------------------


@pytest.mark.feature("E11")
@pytest.mark.parametrize(
    ("stated", "how"),
    [("extracted", how) for how in ("replaces", "ends", "attribute", "status")] + [("added", "attribute")],
)
def test_nothing_that_a_user_stated_is_ended_by_what_an_assistant_says(api: Api, stated: str, how: str) -> None:
    api.set_policy(settings={"extraction": {"from_roles": ["user", "assistant"]}})
    if stated == "extracted":
        heard(api, fact(LYON))
    else:
        api.add_memory(user_id="ana", content=LYON, attribute="home", metadata={"value": "Lyon"})
    entries: dict[str, dict[str, Any]] = {
        "replaces": {"content": PORTO, "replaces": [1]},
        "ends": {"number": 1},
        "attribute": fact(PORTO),
        "status": fact("Left Lyon", value="Lyon", status="ended"),
    }
    heard(api, entries[how], day="03-01", role="assistant")
    assert states(api)[LYON] == ("current", None)
    if how == "attribute":
        assert states(api)[PORTO][0] == "corrected"


def test_another_subject_and_another_agents_memories_are_left_alone(api: Api) -> None:
    heard(api, fact("Lou lives in Rome", subject="daughter Lou"), agent_id="a")
    heard(api, fact("Joss lives in Oslo", subject="brother Joss", replaces=[1]), agent_id="a")
    heard(api, fact("Lou lives in Porto", subject="daughter Lou", replaces=[1]), agent_id="b", day="02-01")
    heard(api, {"number": 1}, agent_id="b", day="03-01")
    assert states(api)["Lou lives in Rome"] == states(api)["Joss lives in Oslo"] == ("current", None)


# The order of jobs ----------------------------------------------------------------------------------------------------

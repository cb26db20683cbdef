"""Reconciliation by the built-in model, which sees hidden facts and may open them again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kinds.facts import claimed, current, know, superseded
from tests.support.model_payloads import run
from tests.support.protocol import activate, complete, lease
from tests.support.sqlapi import Api, refused

BERLIN, ROME, LISBON = "I live in Berlin.", "I live in Rome.", "I live in Lisbon."


def reconcile(api: Api, **changed: Any) -> Any:
    """Reconcile as the built-in model does; the job's result."""
    job = claimed(api)
    return complete(api, job, **{**run("reconcile_memories", job.payload), **changed})


def heard(api: Api, *contents: str) -> None:
    """Facts as if they were extracted, said in this order in January 2024."""
    for day, content in enumerate(contents, start=1):
        know(api, content, source="extraction", valid_from=f"2024-01-{day:02}T00:00:00Z")


@pytest.mark.feature("E10")
def test_what_a_late_fact_contradicts_is_hidden_by_what_was_said_last(api: Api) -> None:
    heard(api, BERLIN, ROME)
    assert reconcile(api) == {"kept": 1, "merged": 0, "contradicted": 1, "refused": 0}
    know(api, LISBON, source="extraction", valid_from="2024-02-01T00:00:00Z")
    assert reconcile(api)["contradicted"] == 2
    assert superseded(api) == {BERLIN: ("contradict", LISBON), ROME: ("contradict", LISBON)}


@pytest.mark.feature("E10")
def test_nothing_is_written_where_all_is_decided(api: Api) -> None:
    heard(api, BERLIN, ROME, "I live in Rome!", LISBON)
    reconcile(api)
    before = api.state()["memories"]
    assert reconcile(api) == {"kept": 1, "merged": 0, "contradicted": 0, "refused": 0}
    assert api.state()["memories"] == before


@pytest.mark.feature("E10", "E11")
def test_a_fact_is_open_again_when_what_hides_it_is_itself_of_the_past(api: Api) -> None:
    """It agrees with what was said last."""
    near_the_park = "I live in Berlin, near the park."
    heard(api, near_the_park, ROME)
    reconcile(api)
    assert current(api) == [ROME]
    know(api, BERLIN, source="extraction", valid_from="2024-02-01T00:00:00Z")
    reconcile(api)
    assert set(current(api)) == {near_the_park, BERLIN}
    assert superseded(api) == {ROME: ("contradict", BERLIN)}


@pytest.mark.feature("E10", "E11")
def test_what_somebody_or_a_chat_model_hid_stays_hidden(api: Api) -> None:
    heard(api, "Owns a red car", "Sold the car in June", "Likes tea", "Drinks water")
    ids = {row.content: row.memory_id for row in api.list_memories(user_id="ana")}
    for old, new, reason in [
        ("Owns a red car", "Sold the car in June", "contradict"),
        ("Likes tea", "Drinks water", "moved on"),
    ]:
        api.supersede_memory(user_id="ana", old_memory_id=ids[old], new_memory_id=ids[new], reason=reason)
    before = api.state()["memories"]
    reconcile(api)
    assert api.state()["memories"] == before


@pytest.mark.feature("E10")
def test_a_chat_model_is_given_no_hidden_fact(api: Api) -> None:
    heard(api, BERLIN, ROME, "I like tea.")
    reconcile(api)
    activate(api)
    assert [fact["content"] for fact in claimed(api).payload["facts"]] == ["I like tea.", ROME]


@pytest.mark.feature("E10", "E12")
def test_an_open_fact_whose_content_was_stored_again_stays_hidden(api: Api) -> None:
    heard(api, BERLIN, ROME)
    reconcile(api)
    know(api, BERLIN)
    job = claimed(api)
    [number] = [fact["number"] for fact in job.payload["facts"] if "hidden_by" in fact]
    complete(api, job, duplicates=[], contradictions=[], open=[number])
    assert sorted(current(api)) == [BERLIN, ROME]


@pytest.mark.feature("E10", "F6")
@pytest.mark.parametrize(
    "given", [{"open": [0]}, {"open": [3]}, {"open": [1, 1]}, {"open": "1"}, {"open": None}], ids=str
)
def test_open_must_name_facts_that_were_given(api: Api, given: dict[str, Any]) -> None:
    heard(api, BERLIN, ROME)
    job = claimed(api)
    with refused("result"):
        api.complete_job(**lease(job), result={"duplicates": [], "contradictions": [], **given})

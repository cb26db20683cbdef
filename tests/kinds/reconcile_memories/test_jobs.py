"""Jobs of reconciliation: when they are queued, and which facts a model is given."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.kinds.facts import about, claimed, hand_in, know
from tests.support.protocol import activate, claim, complete, nothing_to_do, say
from tests.support.sqlapi import Api

# What a model is given ------------------------------------------------------------------------------------------------


@pytest.mark.feature("E10")
def test_a_model_sees_the_newest_facts_under_small_numbers_and_no_ids(api: Api) -> None:
    know(
        api, "Likes tea", confidence=0.75, valid_from="2024-05-01T00:00:00Z", memory_type="preference", **about("Anna")
    )
    know(api, "Owns a boat", agent_id="sales")
    know(api, "Said hello", memory_type="episodic")
    ids = know(api, "Lives in Oslo")
    know(api, "Lives in Rome", user_id="bob")
    payload = claimed(api).payload
    newest, _, oldest = payload["facts"]
    assert [(fact["number"], fact["content"], fact["group"]) for fact in payload["facts"]] == [
        (1, "Lives in Oslo", 1),
        (2, "Owns a boat", 2),
        (3, "Likes tea", 1),
    ]
    assert oldest == {
        "number": 3,
        "content": "Likes tea",
        "memory_type": "preference",
        "subject": "anna",
        "attribute": None,
        "confidence": 0.75,
        "known_since": "2024-05-01T00:00:00+00:00",
        "group": 1,
    }
    created_at = api.get_memory(user_id="ana", memory_id=ids[0]).created_at
    assert (newest["subject"], datetime.fromisoformat(newest["known_since"])) == ("user", created_at)
    assert not any(str(row.memory_id) in str(payload) for row in api.query("select memory_id from memory.memories"))


@pytest.mark.feature("E10")
def test_a_model_compares_what_is_new_with_what_is_like_it(api: Api) -> None:
    activate(api)
    api.set_policy(settings={"cadence": {"reconcile_every_n": 1}})
    know(api, "Lives in Rome", "Rides a red bicycle to work", "Owns a boat", "Knows Greek")
    know(api, "Lives in Rome with Anna", **about("sister Eva"))
    know(api, "Lives in Rome in summer", agent_id="sales")
    hand_in(api, claimed(api))
    extract(api, "Lives in Oslo", "Is a vegetarian")
    facts = claim(api, "reconcile_memories").payload["facts"]
    assert {(fact["content"], fact.get("is_new", False)) for fact in facts} == {
        ("Lives in Oslo", True),
        ("Is a vegetarian", True),
        ("Lives in Rome", False),
    }


# When -----------------------------------------------------------------------------------------------------------------


def extract(api: Api, *contents: str, thread_id: str = "t1") -> None:
    """One extraction that finds these facts."""
    [seq] = say(api, "Hello", thread_id=thread_id)
    api.extract_memories(user_id="ana", thread_id=thread_id)
    found = [{"content": content, "memory_type": "fact", "seqs": [seq]} for content in contents]
    complete(api, claim(api, "extract_memories"), memories=found)


@pytest.mark.feature("E13")
@pytest.mark.parametrize(
    ("cadence", "expected"),
    [({}, [5, 10]), ({"reconcile_every_n": 3}, [3, 6, 9]), ({"reconcile_every_n": 0}, [])],
    ids=str,
)
def test_facts_are_reconciled_with_every_fifth_extraction(
    api: Api, cadence: dict[str, int], expected: list[int]
) -> None:
    activate(api)
    api.set_policy(settings={"cadence": cadence})
    seen = []
    for number in range(1, 11):
        extract(api, f"fact {number}", thread_id=f"t{number}")
        for job in api.claim_jobs(worker="test", kinds=["reconcile_memories"]):
            seen.append(number)
            complete(api, job, duplicates=[], contradictions=[])
    assert seen == expected


@pytest.mark.feature("E13")
@pytest.mark.parametrize(("reconcile_every_n", "expected"), [(5, [1, 3, 4]), (0, [])])
def test_the_built_in_model_reconciles_after_each_extraction_with_news(
    api: Api, reconcile_every_n: int, expected: list[int]
) -> None:
    """The second extraction finds nothing; the fourth one finds a known fact, which was said again."""
    api.set_policy(settings={"cadence": {"reconcile_every_n": reconcile_every_n}})
    extract(api, "fact 0")
    api.claim_jobs(worker="test", kinds=["reconcile_memories"])  # one fact needs no model
    seen = []
    for number, contents in enumerate([["fact 1"], [], ["fact 2"], ["fact 1"]], start=1):
        extract(api, *contents)
        for job in api.claim_jobs(worker="test", kinds=["reconcile_memories"]):
            seen.append(number)
            complete(api, job, duplicates=[], contradictions=[])
    assert seen == expected


@pytest.mark.feature("E10", "E15")
def test_automatic_reconciliation_with_nothing_new_asks_no_model_and_on_demand_always(api: Api) -> None:
    activate(api)
    api.set_policy(settings={"cadence": {"reconcile_every_n": 1}})
    extract(api, "a", "b")
    hand_in(api, claim(api, "reconcile_memories"))
    extract(api)
    assert nothing_to_do(api, "reconcile_memories")
    extract(api, "A")
    assert nothing_to_do(api, "reconcile_memories")
    assert len(claimed(api).payload["facts"]) == 2
    api.connection.execute("update memory.jobs set lease_expires_at = now() where status = 'running'")
    assert len(claim(api, "reconcile_memories").payload["facts"]) == 2
    extract(api, "c")

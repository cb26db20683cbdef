"""Reconciliation refuses or leaves alone what models must not decide; whatever it hides can be restored."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kinds.facts import about, assert_counter_is_exact, claimed, counts, current, hand_in, know, reconcile
from tests.support.protocol import complete, lease
from tests.support.sqlapi import Api, refused

# Guards ---------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("E10", "A3")
@pytest.mark.parametrize(
    ("section", "other"),
    [
        ("duplicates", {"agent_id": "sales"}),
        ("contradictions", {"agent_id": "sales"}),
        ("duplicates", about("Anna")),
        ("contradictions", about("Anna")),
    ],
)
def test_no_fact_is_hidden_by_one_of_another_agent_or_subject(api: Api, section: str, other: dict[str, Any]) -> None:
    know(api, "Likes tea")
    know(api, "Hates tea", **other)
    found = ("Likes tea", "Hates tea")
    outcome = reconcile(api, (found,)) if section == "duplicates" else reconcile(api, (), (found,))
    assert outcome == counts(kept=2, refused=1)
    assert current(api) == ["Likes tea", "Hates tea"]


MALFORMED: dict[str, Any] = {
    "a number that is not in the list": {"numbers": [1, 4]},
    "a negative number": {"numbers": [-1, 1]},
    "half a number": {"numbers": [1, 1.5]},
    "a huge number": {"numbers": [1, 10**400]},
    "a number as text": {"numbers": ["1", "2"]},
    "a null": {"numbers": [1, None]},
    "a list in the list": {"numbers": [[1], [2]]},
    "one number": {"numbers": [1]},
    "one number in two ways": {"numbers": [1, 1.0]},
    "no numbers": {"numbers": []},
    "numbers of a wrong type": {"numbers": "1, 2"},
    "an entry that is a list": [1, 2],
    "an entry that is null": None,
}


@pytest.mark.feature("E10", "F6")
def test_malformed_sets_are_refused_and_counted_and_the_others_count(api: Api) -> None:
    know(api, "a", "b", "c")
    job = claimed(api)
    before = api.state()
    bad = list(MALFORMED.values())
    refused_whole: list[dict[str, Any]] = [
        {},
        {"duplicates": {}, "contradictions": []},
        {"duplicates": None, "contradictions": []},
        {"duplicates": [], "contradictions": bad},
    ]
    for result in refused_whole:
        with refused("result"):
            api.complete_job(**lease(job), result=result)
    assert api.state() == before
    outcome = complete(api, job, contradictions=[{"numbers": [1, 2]}, *bad])
    assert (outcome["contradicted"], outcome["refusals"]) == (1, {"malformed": len(bad)})


@pytest.mark.feature("E10")
@pytest.mark.parametrize(
    ("section", "meanwhile"),
    [
        ("duplicates", "changed"),
        ("contradictions", "changed"),
        ("duplicates", "deleted"),
        ("contradictions", "superseded"),
        ("contradictions", "expired"),
        ("duplicates", "swept"),
        ("contradictions", "deleted and restored"),
    ],
)
def test_a_fact_that_changed_meanwhile_is_left_alone_and_counted(api: Api, section: str, meanwhile: str) -> None:
    old, _, other = know(api, "old tea", "new tea", "other")
    job = claimed(api)
    match meanwhile:
        case "changed":
            api.update_memory(user_id="ana", memory_id=old, content="changed")
        case "superseded":
            api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=other, reason="newer")
        case "expired" | "swept":
            api.update_memory(user_id="ana", memory_id=old, expires_at="2020-01-01")
        case _:
            api.delete_memory(user_id="ana", memory_id=old)
    if meanwhile == "swept":
        api.sweep()
    elif meanwhile == "deleted and restored":
        api.restore_memory(user_id="ana", memory_id=old)
    before = api.value("select md5(string_agg(m::text, '' order by memory_id)) from memory.memories as m")
    found = ("old tea", "new tea")
    outcome = hand_in(api, job, (found,)) if section == "duplicates" else hand_in(api, job, (), (found,))
    assert (outcome["merged"], outcome["contradicted"], outcome["refused"]) == (0, 0, 1)
    assert api.value("select md5(string_agg(m::text, '' order by memory_id)) from memory.memories as m") == before


@pytest.mark.feature("E10")
def test_one_refusal_does_not_stop_the_rest(api: Api) -> None:
    know(api, "Likes tea", "Likes green tea", "Is 30", "Is 31", "Is 32")
    know(api, "Likes blue tea", agent_id="sales")
    duplicates = (("Likes tea", "Likes blue tea"), ("Likes tea", "Likes green tea"))
    contradictions = (("Is 31", "Likes blue tea"), ("Is 31", "Is 32"), ("Is 30", "Is 31"))  # who lost wins no other
    assert reconcile(api, duplicates, contradictions) == counts(kept=4, merged=1, contradicted=1, refused=3)
    assert current(api) == ["Likes green tea", "Is 30", "Is 32", "Likes blue tea"]


# Losers ---------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("E11", "F1")
def test_losers_are_hidden_kept_and_restorable(api: Api) -> None:
    [oslo] = know(api, "Lives in Oslo")
    before = api.value("select clock_timestamp()")
    know(api, "Lives in Rome")
    reconcile(api, (), (("Lives in Oslo", "Lives in Rome"),))
    assert current(api) == ["Lives in Rome"]
    assert current(api, include_superseded=True) == ["Lives in Oslo", "Lives in Rome"]
    assert current(api, as_of=before) == ["Lives in Oslo"]
    assert current(api, as_of=api.value("select clock_timestamp()")) == ["Lives in Rome"]
    assert [hit.content for hit in api.search(user_id="ana", query="lives")] == ["Lives in Rome"]
    hits = api.search(user_id="ana", query="lives", include_superseded=True)
    assert {hit.content for hit in hits} == {"Lives in Oslo", "Lives in Rome"}
    loser = api.get_memory(user_id="ana", memory_id=oslo)
    assert (loser.supersede_reason, loser.superseded_at >= before) == ("replaced", True)
    api.restore_memory(user_id="ana", memory_id=oslo)
    assert current(api) == ["Lives in Oslo", "Lives in Rome"]
    assert_counter_is_exact(api)


@pytest.mark.feature("E11")
@pytest.mark.parametrize("reason", ["duplicate", "replaced"])
def test_a_loser_holds_again_when_the_winner_goes(api: Api, reason: str) -> None:
    oldest, older, newest = "Likes tea in Oslo", "Likes green tea in Oslo", "Likes green tea in Oslo daily"
    *_, winner = know(api, oldest, older, newest)
    pairs = ((oldest, older), (older, newest))
    reconcile(api, *((pairs, ()) if reason == "duplicate" else ((), pairs)))
    assert current(api) == [newest]
    api.delete_memory(user_id="ana", memory_id=winner)
    assert current(api) == [older]
    api.restore_memory(user_id="ana", memory_id=winner)
    assert current(api) == [newest]
    assert_counter_is_exact(api)

"""Extraction: what is known reaches the model, and what a reply says of it, as far as the reply has evidence."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from tests.kinds.extract_memories.changing import LYON, PORTO, as_of, fact, heard, states
from tests.kinds.extract_memories.steps import claimed, found
from tests.support.protocol import activate, complete, say
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F1", "F3", "F29", "E10")


@pytest.fixture
def api(api: Api) -> Api:
    """With a chat model, whose replies the tests hand in."""
    activate(api)
    return api


# What the payload brings ----------------------------------------------------------------------------------------------


def test_the_payload_has_the_attributes_and_what_is_known(api: Api) -> None:
    api.set_policy(settings={"memories": {"attributes": {"Lucky Number": "one", "home": "many"}}})
    api.add_memory(
        user_id="ana", content="Lou lives in Rome", subject="daughter Lou", attribute="home", metadata={"value": "Rome"}
    )
    gone = api.add_memory(user_id="ana", content="Works at Acme", attribute="employer").memory_id
    api.end_memory(user_id="ana", memory_id=gone)
    api.add_memory(user_id="bob", content="Bob lives in Bonn", attribute="home")
    say(api, "Lou has moved")
    payload = claimed(api).payload
    [known] = payload["known"]
    assert datetime.fromisoformat(known.pop("said_at")).year >= 2024
    assert known == {
        "number": 1, "content": "Lou lives in Rome", "memory_type": "fact", "subject": "daughter Lou",
        "attribute": "home", "value": "Rome",
    }  # fmt: skip
    assert payload["attributes"]["lucky number"] == "one"
    assert (payload["attributes"]["home"], payload["attributes"]["employer"]) == ("many", "one")


def test_what_the_messages_can_concern_comes_before_what_is_new(api: Api) -> None:
    api.set_policy(settings={"extraction": {"known": 4}})
    concerned = [
        {"content": "Is at Acme", "attribute": "employer"},
        {"content": "Has a cough", "subject": "brother Joss"},
        {"content": "Keeps seven beehives on the roof"},
    ]
    api.add_memories(user_id="ana", memories=concerned)
    api.add_memories(user_id="ana", memories=[{"content": f"Filler {number}"} for number in range(50)])
    say(api, "I have changed my employer", "Joss is well", "The beehives are gone")
    known = [k["content"] for k in claimed(api).payload["known"]]
    assert {c["content"] for c in concerned} < set(known)


# Which numbers count --------------------------------------------------------------------------------------------------


def test_ends_of_another_form_are_refused_and_counted(api: Api) -> None:
    api.add_memory(user_id="ana", content=LYON)
    numbers = [1.5, "1", None, [1]]
    entries: list[dict[str, Any]] = [*({"number": number} for number in numbers), {"number": 1, "seqs": [0.5]}]
    assert heard(api, *entries)["refusals"] == {"malformed": len(entries)}
    assert states(api)[LYON] == ("current", None)


def test_ends_without_evidence_in_the_messages_change_nothing(api: Api) -> None:
    api.add_memory(user_id="ana", content=LYON)
    without: list[list[int]] = [[1], [99], [0, 1], []]
    ends = [{"number": 1, "seqs": seqs} for seqs in without]
    replacing = [{"content": f"M {seqs}", "replaces": [1], "seqs": seqs} for seqs in without]
    heard(api, *ends, *replacing)
    assert states(api) == {LYON: ("current", None)}


def test_a_known_memory_that_changed_meanwhile_is_left_alone(api: Api) -> None:
    lyon = api.add_memory(user_id="ana", content=LYON).memory_id
    [seq] = say(api, "I left Lyon")
    job = claimed(api)
    api.delete_memory(user_id="ana", memory_id=lyon)
    outcome = complete(api, job, memories=[], ends=[{"number": 1, "seqs": [seq]}])
    assert (outcome["ended"], states(api)) == (0, {})


# Replacing, ending, correcting ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "ended"),
    [
        ({}, "03-01"),
        ({"event_time": "2024-02-20"}, "02-20"),
        ({"valid_from": "2024-02-10", "event_time": "2024-02-20"}, "02-10"),
        ({"valid_from": "2023-02-10"}, "01-01"),
    ],
)
def test_the_old_value_ends_when_the_new_one_begins(api: Api, fields: dict[str, Any], ended: str) -> None:
    heard(api, fact(LYON))
    heard(api, fact(PORTO, **fields), day="03-01")
    assert states(api)[LYON] == ("replaced", ended)


@pytest.mark.parametrize(
    ("ended_at", "state", "on"),
    [("2024-02-20", "ended", "02-20"), ("2019-01-01", "ended", "01-01"), ("2099-01-01", "current", "01-01")],
    ids=["since", "before the beginning", "to come"],
)
def test_an_end_without_a_successor(api: Api, ended_at: str, state: str, on: str) -> None:
    heard(api, fact("Works at Acme", attribute="employer"))
    outcome = heard(api, {"number": 1, "ended_at": ended_at}, day="03-01")
    assert outcome["ended"] == 1
    assert states(api) == {"Works at Acme": (state, on)}
    assert as_of(api, "02-25") == ([] if state == "ended" else ["Works at Acme"])


def test_the_end_of_another_value_leaves_alone_what_has_one_value_at_a_time(api: Api) -> None:
    heard(api, fact("Meets in room 7", attribute="team room", many=False))
    heard(api, fact("No longer in room 5", attribute="team room", many=False, status="ended"), day="02-01")
    assert states(api)["Meets in room 7"] == ("current", None)
    heard(api, fact(PORTO), day="02-02")
    heard(api, fact("Lived in Rome", status="ended", valid_from="2022-01-01", valid_to="2023-01-01"), day="03-01")
    assert states(api)[PORTO] == ("current", None)
    assert [row.content for row in api.list_memories(user_id="ana", as_of="2022-06-01")] == ["Lived in Rome"]


@pytest.mark.feature("E12")
@pytest.mark.parametrize("how", ["attribute", "number", "end"])
def test_what_a_correction_names_was_never_true(api: Api, how: str) -> None:
    heard(api, fact("Is allergic to peanuts", attribute="allergy"))
    almonds = fact("Is allergic to almonds", attribute="allergy", corrects=True)
    if how == "end":
        heard(api, {"number": 1, "corrects": True}, day="02-01")
    else:
        heard(api, {**almonds, "replaces": [1] if how == "number" else []}, day="02-01")
        assert as_of(api, "03-01") == ["Is allergic to almonds"]
    assert states(api)["Is allergic to peanuts"][0] == "corrected"
    assert as_of(api, "01-15") == []


def test_a_correction_within_one_reply(api: Api) -> None:
    first, second = (say(api, word, created_at=f"2024-01-0{day}T10:00Z") for day, word in ((1, "peanuts"), (2, "no")))
    almonds = fact("Is allergic to almonds", attribute="allergy", corrects=True)
    peanuts = fact("Is allergic to peanuts", attribute="allergy")
    complete(api, claimed(api), memories=[found(**almonds, seqs=second), found(**peanuts, seqs=first)])
    assert {content: state for content, (state, _) in states(api).items()} == {
        "Is allergic to peanuts": "corrected", "Is allergic to almonds": "current",
    }  # fmt: skip


@pytest.mark.parametrize("status", ["planned", "supposed", "quoted", "never_true"])
def test_what_is_no_fact_of_now_ends_nothing(api: Api, status: str) -> None:
    heard(api, fact(LYON))
    heard(api, fact(PORTO, status=status, replaces=[1]), day="03-01")
    expected = {LYON: ("current", None), **({PORTO: ("current", None)} if status == "planned" else {})}
    assert states(api) == expected
    heard(api, fact("Lives in Oslo"), day="04-01")
    assert states(api)[LYON] == ("replaced", "04-01")


def test_an_attribute_that_no_list_has_holds_one_value_where_the_model_says_so(api: Api) -> None:
    for day, many in (("01-01", None), ("02-01", True), ("03-01", False)):
        heard(api, fact(f"Team meets in room {day}", attribute="team room", many=many), day=day)
        heard(api, fact(f"Plays game {day}", attribute="hobby", many=many), day=day)  # which the list says has many
    current = {content for content, (state, _) in states(api).items() if state == "current"}
    assert current == {"Team meets in room 03-01", *(f"Plays game {day}" for day in ("01-01", "02-01", "03-01"))}


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


def test_a_suspicious_statement_and_one_of_before_end_nothing(api: Api) -> None:
    heard(api, fact(LYON), day="02-01")
    heard(api, fact(PORTO, suspicious="an attack", replaces=[1]), day="03-01")
    heard(api, fact("Left Lyon", value="Lyon", status="ended"), {"number": 1}, day="01-01")
    assert states(api)[LYON] == ("current", None)


def test_jobs_may_end_in_another_order_than_things_were_said(api: Api) -> None:
    towns = {"03-01": "Oslo", "01-01": "Lyon", "02-01": "Porto"}
    for day, town in towns.items():
        heard(api, fact(f"Lives in {town}"), day=day)
    assert states(api) == {
        "Lives in Lyon": ("replaced", "02-01"), "Lives in Porto": ("replaced", "03-01"),
        "Lives in Oslo": ("current", None),
    }  # fmt: skip
    assert [as_of(api, f"{month}-15") for month in ("01", "02", "03")] == [[LYON], [PORTO], ["Lives in Oslo"]]

"""What was recalled for an earlier message of the thread stays where it stood, and is not recalled again."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.protocol import ANA
from tests.support.protocol import say as say_in
from tests.support.sessions import Sessions
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("A4", "F16", "F31")
BOAT = "The boat is called Marabel and lies in the harbour of Genoa."
HOUSE = "The house of my aunt stands on the hill of Fiesole."


@pytest.fixture(autouse=True)
def _said_before(api: Api) -> None:
    api.set_policy(settings={"cadence": {"fact_extraction_every_n": 0}, "summary": {"enabled": False}})
    say_in(api, BOAT, thread_id="boat")
    say_in(api, HOUSE, thread_id="house")


def turn(api: Api, question: str, **arguments: Any) -> list[Any]:
    """The context for a question, which is answered then."""
    say_in(api, question)
    context: list[Any] = api.get_context(**{**ANA, **arguments})
    say_in(api, "I see what you mean.", role="assistant")
    return context


def recalled(context: list[Any]) -> list[tuple[str, str, str]]:
    """What is recalled, each with its role and the message before which it stands."""
    return [
        (part.role, part.content.splitlines()[-2], context[place + 1].content)
        for place, part in enumerate(context)
        if part.source == "recalled"
    ]


BOAT_QUESTION = "Where does the boat Marabel lie, in which harbour?"
HOUSE_QUESTION = "On which hill does the house of my aunt stand?"


def test_it_stays_before_its_question_and_is_not_recalled_again(api: Api) -> None:
    first = turn(api, BOAT_QUESTION)
    assert recalled(first) == [("user", f"user: {BOAT}", BOAT_QUESTION)]
    second = turn(api, HOUSE_QUESTION)
    assert recalled(second) == [
        ("user", f"user: {BOAT}", BOAT_QUESTION), ("user", f"user: {HOUSE}", HOUSE_QUESTION)
    ]  # fmt: skip
    assert [part[1:4] for part in second[: len(first)]] == [part[1:4] for part in first]
    assert [part.metadata["cache"] for part in second if part.source == "recalled"] == ["thread", "volatile"]
    third = turn(api, "Is the harbour in which the boat Marabel lies a big harbour?")
    assert [part[1:4] for part in third[: len(second)]] == [part[1:4] for part in second]
    assert len(recalled(third)) == 2


def test_what_is_deleted_is_gone_there_too(api: Api) -> None:
    turn(api, BOAT_QUESTION)
    turn(api, HOUSE_QUESTION)
    api.delete_message(user_id="ana", thread_id="boat", seq=0)
    assert recalled(turn(api, "What about the weather?")) == [("user", f"user: {HOUSE}", HOUSE_QUESTION)]
    api.delete_thread(user_id="ana", thread_id="house")
    assert recalled(turn(api, "And tomorrow?")) == []


def test_rows_go_with_the_thread(api: Api) -> None:
    rows = "select count(*) from memory.shown_rounds"
    turn(api, BOAT_QUESTION)
    assert api.value(rows) == 1
    api.clear_thread(**ANA)
    assert api.value(rows) == 0
    turn(api, BOAT_QUESTION)
    assert api.value(rows) == 1
    api.delete_thread(**ANA)
    assert api.value(rows) == 0


def test_another_agent_has_its_own(api: Api) -> None:
    say_in(api, BOAT_QUESTION, agent_id="cook")
    api.get_context(**ANA, agent_id="cook")
    say_in(api, "Fine.", role="assistant", agent_id="cook")
    assert recalled(turn(api, "What about the weather?")) == []


@pytest.mark.parametrize("settings", [{"keep_recalled": False}, {"layout": "before"}])
def test_the_policy_switches_it_off(api: Api, settings: dict[str, Any]) -> None:
    api.set_policy(settings={"context": settings})
    turn(api, BOAT_QUESTION)
    assert api.value("select count(*) from memory.shown_rounds") == 0
    assert len(recalled(turn(api, HOUSE_QUESTION))) == 1


def test_a_server_that_cannot_write_does_without(api: Api) -> None:
    say_in(api, BOAT_QUESTION)
    api.connection.execute("set transaction_read_only = on")
    assert len(recalled(api.get_context(**ANA))) == 1


def test_a_call_without_recall_shows_nothing_that_was_recalled_before(api: Api) -> None:
    turn(api, BOAT_QUESTION)
    say_in(api, HOUSE_QUESTION)
    assert len(recalled(api.get_context(**ANA))) == 2
    assert recalled(api.get_context(**ANA, recall=False)) == []
    api.set_policy(settings={"context": {"recall": False}})
    assert recalled(api.get_context(**ANA)) == []


def test_a_row_goes_with_its_message_and_with_what_is_forgotten(api: Api) -> None:
    rows = "select count(*) from memory.shown_rounds"
    seq = api.value("select coalesce(max(seq), -1) + 1 from memory.messages where user_id = 'ana' and thread_id = 't1'")
    turn(api, BOAT_QUESTION)
    assert api.value(rows) > 0
    api.connection.execute("delete from memory.messages where thread_id = 't1' and seq = %s", [seq])
    assert api.value(rows) == 0
    turn(api, BOAT_QUESTION)
    memory = api.add_memory(user_id="ana", content="The boat is called Marabel.").memory_id
    api.forget_memory(user_id="ana", memory_id=memory)
    assert api.value(rows) == 0


def test_a_reader_waits_for_no_other_and_keeps_nothing_of_a_thread_that_goes(sessions: Sessions) -> None:
    api = sessions.api
    say_in(api, BOAT_QUESTION)
    first = sessions.new()
    with first.connection.transaction():
        expected = first.get_context(**ANA)
        assert len(recalled(expected)) == 1
        assert sessions.new(options="-c lock_timeout=1s").get_context(**ANA) == expected
        say_in(first, "I see what you mean.", role="assistant")
    deleting = sessions.new()
    say_in(api, HOUSE_QUESTION)
    with deleting.connection.transaction():
        deleting.delete_thread(**ANA)
        assert len(recalled(sessions.new(options="-c lock_timeout=1s").get_context(**ANA))) == 2
    assert api.value("select count(*) from memory.shown_rounds") == 0


def test_the_rows_of_a_merged_user_do_not_name_the_threads_of_the_other(api: Api) -> None:
    turn(api, BOAT_QUESTION)
    api.add_message(user_id="bob", thread_id="t", role="user", content="Hi.")
    api.merge_users(from_user_id="ana", into_user_id="bob")
    assert api.value("select count(*) from memory.shown_rounds") == 0

"""A round of tool calls keeps the request that it is about, however many results the tools have given."""

from __future__ import annotations

from typing import Any

import pytest

from tests.context.steps import messages, without_recall
from tests.support.protocol import ANA
from tests.support.sqlapi import Api
from tests.support.summaries import compress, compressing

REQUEST = "Find out why the night build of the compiler fails on arm64."
pytestmark = [
    pytest.mark.feature("A4", "F12"),
    pytest.mark.filterwarnings("ignore::agent_memory.DegradedWarning"),  # no embedding model is active
]


def result(number: int) -> str:
    return f"result {number} " + "0123456789 " * 109  # 300 tokens


def step(number: int) -> list[dict[str, Any]]:
    call = {"id": f"c{number}", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": result(number), "tool_call_id": f"c{number}"},
    ]


def open_round(api: Api, steps: int, request: str = REQUEST, **arguments: Any) -> None:
    """A question that was answered, and a request for which tools have been called so often."""
    said = [{"role": "user", "content": "Hi!"}, {"role": "assistant", "content": "Hello."}]
    said.append({"role": "user", "content": request})
    api.add_messages(**ANA, messages=said + [part for number in range(steps) for part in step(number)], **arguments)


@pytest.mark.parametrize(("steps", "recall"), [(1, True), (11, False), (60, True)])
def test_the_request_of_an_open_round_is_in_the_context_once(api: Api, steps: int, recall: bool) -> None:
    if not recall:
        without_recall(api)
    open_round(api, steps)
    context = api.get_context(**ANA)
    said = [part.content for part in context if part.source == "message"]
    assert said[-1] == result(steps - 1)
    assert [part.content for part in context if REQUEST in part.content] == [REQUEST]
    assert said[0] == (REQUEST if steps > 1 else "Hi!")
    assert sum(part.token_count for part in context) <= 4000


def test_it_stays_where_it_was_compressed(api: Api) -> None:
    compressing(api)
    open_round(api, 12)
    compress(api)
    assert REQUEST not in [message.content for message in api.get_messages(**ANA)]
    assert messages(api)[0] == REQUEST
    assert messages(api, max_tokens=350) == [REQUEST, "", result(11)]


def test_it_stays_beside_instructions_and_before_them_in_tokens(api: Api) -> None:
    api.add_message(**ANA, role="system", content="Be brief.")
    open_round(api, 20)
    context = api.get_context(**ANA, max_tokens=2000)
    assert [(part.source, part.content) for part in context][:2] == [
        ("instructions", "Be brief."),
        ("message", REQUEST),
    ]
    assert messages(api, max_tokens=1)[0] == REQUEST


def test_it_stays_when_its_round_has_ended(api: Api) -> None:
    open_round(api, 20)
    api.add_message(**ANA, role="assistant", content="It lacks clang 19.")
    without_recall(api)
    assert (messages(api)[0], messages(api)[-1]) == (REQUEST, "It lacks clang 19.")
    assert messages(api, max_tokens=12) == ["It lacks clang 19."]


def test_another_agent_is_shown_no_request_that_is_not_its_own(api: Api) -> None:
    open_round(api, 1, agent_id="planner")
    api.add_messages(**ANA, messages=step(1), agent_id="coder")
    assert messages(api, agent_id="coder") == ["", result(1)]

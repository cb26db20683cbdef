"""The session of the OpenAI Agents SDK."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import psycopg
import pytest
from agent_memory import AsyncMemory, InvalidValueError, Memory
from agent_memory.adapters.openai_agents import AgentMemorySession
from agents import SessionSettings

from tests.adapters.steps import calling, run, run_example, tool_call
from tests.support.fake_model_server import Behaviour, FakeModelServer
from tests.support.runners import PATIENCE

MONDAY = ("ana", "monday")
CALL = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city":  "Porto"}', "id": "fc_1"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "18 degrees"}
SPOKEN = {
    "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
    "content": [{"type": "output_text", "text": "Warm.", "annotations": [{"type": "url_citation"}], "logprobs": []}],
}  # fmt: skip
IMAGE = {
    "role": "user",
    "content": [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_text", "text": "A cat?"},
        {"type": "input_image", "image_url": "https://example.org/cat.png", "detail": "auto"},
    ],
}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]}
SEEN = {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_image", "image_url": "data:x"}]}
pytestmark = pytest.mark.feature("F15")


@pytest.fixture
def session(memory: Memory) -> AgentMemorySession:
    return AgentMemorySession(memory, *MONDAY)


class TestItems:
    @pytest.mark.parametrize(
        "item",
        [
            {"role": "user", "content": "Olá! 😀 '; drop table memory.messages; --"},
            {"role": "developer", "content": "Be kind.", "type": "message"},
            {"role": "user", "content": ""},
            IMAGE,
            SPOKEN,
            {**SPOKEN, "content": [{"type": "refusal", "refusal": "No."}]},
            CALL,
            OUTPUT,
            SEEN,
            REASONING,
            {"type": "item_reference", "id": "msg_1"},
            {"type": "mcp_list_tools", "id": "m", "server_label": "s", "tools": []},
        ],
        ids=str,
    )
    def test_an_item_comes_back_as_it_was_added(self, session: AgentMemorySession, item: Any) -> None:
        assert run(session.add_items([item]), session.get_items()) == [item]
        assert run(session.pop_item()) == item

    def test_the_database_knows_texts_calls_and_results(self, session: AgentMemorySession, memory: Memory) -> None:
        run(session.add_items([IMAGE, REASONING, CALL, OUTPUT, SPOKEN]))  # type: ignore[list-item]
        assert [(message.role, message.content) for message in memory.get_messages(*MONDAY)] == [
            ("user", "What is this?\nA cat?"), ("assistant", ""), ("assistant", ""), ("tool", "18 degrees"),
            ("assistant", "Warm."),
        ]  # fmt: skip
        function = {"name": "weather", "arguments": CALL["arguments"]}
        assert memory.get_context(*MONDAY).to_openai() == [
            {"role": "user", "content": "What is this?\nA cat?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": function}],
            },
            {"role": "tool", "content": "18 degrees", "tool_call_id": "c1"},
            {"role": "assistant", "content": "Warm."},
        ]

    def test_messages_of_others_are_items_too(self, session: AgentMemorySession, memory: Memory) -> None:
        call = tool_call("weather", {"city": "Porto"}, "c1")
        memory.add_messages(
            *MONDAY,
            [
                {"role": "user", "content": "Hi!"},
                {"role": "assistant", "content": "Let me see.", "tool_calls": [call]},
                {"role": "tool", "content": "18 degrees", "tool_call_id": "c1"},
                {"role": "tool", "content": "19 degrees"},
            ],
        )
        items = [
            {"role": "user", "content": "Hi!"},
            {"role": "assistant", "content": "Let me see."},
            {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Porto"}'},
            OUTPUT,
            {"role": "user", "content": "19 degrees"},
        ]
        assert run(session.get_items()) == items
        assert run(session.get_items(3)) == items[-3:]


class TestSession:
    def items(self, *numbers: int) -> list[Any]:
        return [{"role": "user", "content": f"{number}"} for number in numbers]

    def test_the_newest_items_come_oldest_first_and_are_popped_from_the_end(
        self, session: AgentMemorySession, memory: Memory
    ) -> None:
        run(session.add_items([]), session.add_items(self.items(0, 1, 2)))
        limited = AgentMemorySession(memory, *MONDAY, session_settings=SessionSettings(limit=1))
        assert run(session.get_items()) == self.items(0, 1, 2)
        assert run(session.get_items(2)) == run(limited.get_items(2)) == self.items(1, 2)
        assert run(session.get_items(0)) == []
        assert run(limited.get_items()) == self.items(2)
        assert [run(session.pop_item()) for _ in range(4)] == [*self.items(2, 1, 0), None]
        assert run(session.add_items(self.items(3)), session.get_items()) == self.items(3)

    def test_no_item_is_popped_twice(self, dsn: str) -> None:
        async def pop() -> list[Any]:
            async with AsyncMemory(dsn) as memory:
                session = AgentMemorySession(memory, *MONDAY)
                await session.add_items(self.items(*range(10)))
                return await asyncio.gather(*(session.pop_item() for _ in range(12)))

        popped = asyncio.run(pop())
        assert sorted(item["content"] for item in popped if item) == [f"{number}" for number in range(10)]

    def test_a_cleared_session_is_empty_and_others_are_not(self, session: AgentMemorySession, memory: Memory) -> None:
        other = AgentMemorySession(memory, "ana", "tuesday", agent_id="planner")
        run(session.add_items(self.items(0)), other.add_items(self.items(1)), session.clear_session())
        assert run(session.get_items()) == []
        assert run(other.get_items()) == self.items(1)
        assert memory.get_messages("ana", "tuesday")[0].agent_id == "planner"

    @pytest.mark.parametrize(("change", "fails"), [("add", False), ("pop", False), ("clear", True)])
    def test_a_cancelled_call_ends_once_its_outcome_is_certain(
        self, memory: Memory, monkeypatch: pytest.MonkeyPatch, change: str, fails: bool
    ) -> None:
        names = {"add": "add_messages", "pop": "delete_message", "clear": "clear_thread"}
        method, is_under_way, may_end = getattr(memory, names[change]), threading.Event(), threading.Event()

        def slow(*arguments: Any, **options: Any) -> Any:
            result = method(*arguments, **options)
            is_under_way.set()
            assert may_end.wait(PATIENCE)
            if fails:
                raise psycopg.OperationalError
            return result

        async def cancel() -> list[Any]:
            session = AgentMemorySession(memory, *MONDAY)
            await session.add_items(self.items(0))
            monkeypatch.setattr(memory, names[change], slow)
            calls = {"add": lambda: session.add_items(self.items(1)), "pop": session.pop_item}
            task = asyncio.ensure_future(calls.get(change, session.clear_session)())
            assert await asyncio.to_thread(is_under_way.wait, PATIENCE)
            for _ in range(2):
                task.cancel()
                await asyncio.sleep(0.01)
            assert not task.done()
            may_end.set()
            with pytest.raises(asyncio.CancelledError):
                await task
            return await session.get_items()

        assert asyncio.run(cancel()) == self.items(0, 1) * (change == "add")

    def test_what_json_cannot_hold_is_refused_and_nothing_is_stored(self, session: AgentMemorySession) -> None:
        odd: Any = {"type": "x", "v": object()}
        with pytest.raises(InvalidValueError):
            run(session.add_items([*self.items(0), odd]))
        assert run(session.add_items(self.items(1)), session.get_items()) == self.items(1)


@pytest.mark.usefixtures("environment")
def test_the_example_goes_on_where_it_ended(
    model: FakeModelServer, stored: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stored.add_memory("ana", "Prefers trains over planes")
    model.next_behaviours = [calling(tool_call("trains", {"city": "Porto"})), Behaviour(answer="At 9:12.")]
    run_example("openai_agents_session.py", "ana", "monday", "Book the journey to Porto!", monkeypatch=monkeypatch)
    run_example("openai_agents_session.py", "ana", "monday", "Thanks!", monkeypatch=monkeypatch)
    assert capsys.readouterr().out == "At 9:12.\nNoted.\n"
    sent = str(model.requests[-1].body["messages"])
    assert "Prefers trains over planes" in sent
    assert "A train to Porto leaves at 9:12." in sent

"""Messages of a thread as LangChain's."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_memory import AsyncMemory, Memory
from agent_memory.adapters.langgraph import AgentMemoryHistory, from_langchain
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

MONDAY = ("ana", "monday")
CALL: Any = {"name": "weather", "args": {"city": "Porto"}, "id": "call_1", "type": "tool_call"}
USAGE: Any = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
IMAGE: Any = [
    {"type": "text", "text": "What is this?"},
    "Well?",
    {"type": "image_url", "image_url": {"url": "http://x"}},
]
pytestmark = pytest.mark.feature("F15")


@pytest.fixture
def history(memory: Memory) -> AgentMemoryHistory:
    return AgentMemoryHistory(memory, *MONDAY)


class TestRoundTrip:
    @pytest.mark.parametrize(
        "message",
        [
            HumanMessage("Hi!", id="m1", name="Ana", additional_kwargs={"channel": "mail"}),
            HumanMessage(IMAGE),
            AIMessage("Let me see.", tool_calls=[CALL], usage_metadata=USAGE, response_metadata={"model_name": "m"}),
            AIMessage("", tool_calls=[CALL]),
            AIMessage(
                [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Warm."}],
                invalid_tool_calls=[{"name": "w", "args": "{", "id": "i", "error": "bad", "type": "invalid_tool_call"}],
            ),
            ToolMessage("18", tool_call_id="call_1", artifact={"raw": [1]}, status="error", name="weather"),
            SystemMessage("Be brief."),
            ChatMessage(content="No!", role="critic"),
            FunctionMessage(content="18", name="weather"),
        ],
        ids=lambda message: str(message.type),
    )
    def test_a_message_comes_back_as_it_was_added(self, history: AgentMemoryHistory, message: BaseMessage) -> None:
        history.add_messages([message])
        assert history.messages == [message]

    def test_the_database_knows_text_calls_and_roles(self, history: AgentMemoryHistory, memory: Memory) -> None:
        history.add_messages(
            [HumanMessage(IMAGE), AIMessage("", tool_calls=[CALL]), ToolMessage("18", tool_call_id="call_1")]
        )
        said, call, result = memory.get_messages(*MONDAY)
        assert (said.role, said.content) == ("user", "What is this?\nWell?")
        assert (call.role, call.metadata["tool_calls"][0]["function"]["name"]) == ("assistant", "weather")
        assert (result.role, result.metadata["tool_call_id"]) == ("tool", "call_1")
        assert "tool_calls" not in call.metadata["langchain"]["data"]

    def test_messages_of_others_come_back_by_their_roles(self, memory: Memory, history: AgentMemoryHistory) -> None:
        memory.add_messages(
            *MONDAY,
            [{"role": "user", "content": "Hi!"}, {"role": "tool", "content": "18"}, from_langchain(AIMessage("Yes"))],
        )
        assert history.messages == [HumanMessage("Hi!"), ToolMessage("18", tool_call_id=""), AIMessage("Yes")]


class TestHistory:
    def test_the_context_is_ready_for_a_model(self, history: AgentMemoryHistory, memory: Memory) -> None:
        memory.add_memory("ana", "Allergic to hazelnuts")
        unanswered = AIMessage("", tool_calls=[CALL], id="m1")
        kept = HumanMessage("Never mind.", id="m2")
        history.add_messages([unanswered, ToolMessage("19", tool_call_id="gone"), kept])
        memories, result, last = history.context()
        assert isinstance(memories, SystemMessage)
        assert "Allergic to hazelnuts" in str(memories.content)
        assert (type(result), result.content, last) == (HumanMessage, "19", kept)
        assert history.context("Never mind.", max_tokens=1000)[-1] == kept

    def test_asynchronous_methods_do_the_same(self, dsn: str) -> None:
        async def use(memory: Memory | AsyncMemory, thread_id: str) -> None:
            history = AgentMemoryHistory(memory, "ana", thread_id)
            await history.aadd_messages([HumanMessage("Hi!")])
            assert await history.aget_messages() == [HumanMessage("Hi!")]
            assert await history.acontext("Hi!", 100) == [HumanMessage("Hi!")]
            await history.aclear()
            assert await history.aget_messages() == []

        async def use_both() -> None:
            async with AsyncMemory(dsn) as memory:
                await use(memory, "monday")
            with Memory(dsn) as memory_in_threads:
                await use(memory_in_threads, "tuesday")

        asyncio.run(use_both())

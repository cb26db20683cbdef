"""A history that a framework owns comes back as it was added, whatever a compression and artifacts do to the rows."""

from __future__ import annotations

import asyncio
from datetime import datetime, timezone
from typing import Any

import pytest
from agent_framework import Content
from agent_framework import Message as FrameworkMessage
from agent_memory import Memory
from agent_memory.adapters import langgraph, pydantic_ai
from agent_memory.adapters.adk.events import events_of, messages_of
from agent_memory.adapters.agent_framework import AgentMemoryMessageStore
from agent_memory.adapters.autogen import MemoryContext
from agent_memory.adapters.openai_agents import AgentMemorySession
from autogen_core import FunctionCall
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    UserMessage,
)
from google.adk.events.event import Event
from google.genai.types import Content as GoogleContent
from google.genai.types import FunctionCall as GoogleCall
from google.genai.types import FunctionResponse
from google.genai.types import Part as GooglePart
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from tests.support.protocol import ANA
from tests.support.sqlapi import Api, rolled_back
from tests.support.summaries import compress, compressing

ROUNDS = 12
LONG = "\n".join(f"{number:04}  src/module_{number}.py: 3 warnings" for number in range(400))
NOW = datetime(2026, 5, 1, tzinfo=timezone.utc)
pytestmark = pytest.mark.feature("F32")


class OpenAIAgents:
    """The session of the OpenAI Agents SDK."""

    def __init__(self, memory: Memory) -> None:
        self._session = AgentMemorySession(memory, *ANA.values())

    def added(self) -> list[Any]:
        items: list[Any] = []
        for number in range(ROUNDS):
            call = {"call_id": f"c{number}", "id": f"fc_{number}", "name": "lint", "arguments": "{}"}
            items += [
                {"role": "user", "content": f"Lint it, {number}."},
                {"type": "reasoning", "id": f"rs_{number}", "summary": []},
                {"type": "function_call", **call},
                {"type": "function_call_output", "call_id": f"c{number}", "output": f"{number}\n{LONG}"},
                {"role": "assistant", "content": f"Linted, {number}."},
            ]
        asyncio.run(self._session.add_items(items))
        return items

    def read(self) -> list[Any]:
        items: list[Any] = asyncio.run(self._session.get_items())
        assert asyncio.run(self._session.get_items(limit=30)) == items[-30:]
        return items

    def clear(self) -> None:
        asyncio.run(self._session.clear_session())


class LangChain:
    """The message history of LangChain."""

    def __init__(self, memory: Memory) -> None:
        self._history = langgraph.AgentMemoryHistory(memory, *ANA.values())

    def added(self) -> list[Any]:
        messages: list[BaseMessage] = []
        for number in range(ROUNDS):
            call = {"name": "lint", "args": {"strict": True}, "id": f"c{number}", "type": "tool_call"}
            messages += [
                HumanMessage(f"Lint it, {number}.", id=f"u{number}"),
                AIMessage("", id=f"a{number}", tool_calls=[call]),
                ToolMessage(f"{number}\n{LONG}", tool_call_id=f"c{number}", name="lint", artifact={"exit": 1}),
                AIMessage(f"Linted, {number}."),
            ]
        self._history.add_messages(messages)
        return messages

    def read(self) -> list[Any]:
        messages = self._history.messages
        assert asyncio.run(self._history.aget_messages()) == messages
        return messages

    def clear(self) -> None:
        self._history.clear()


class PydanticAI:
    """The message history of Pydantic AI."""

    def __init__(self, memory: Memory) -> None:
        self._history = pydantic_ai.AgentMemoryHistory(memory, *ANA.values())

    def added(self) -> list[Any]:
        messages: list[ModelMessage] = []
        for number in range(ROUNDS):
            output = ToolReturnPart("lint", f"{number}\n{LONG}", f"c{number}", timestamp=NOW)
            messages += [
                ModelRequest([UserPromptPart(f"Lint it, {number}.", timestamp=NOW)]),
                ModelResponse([ToolCallPart("lint", {"strict": True}, f"c{number}")], timestamp=NOW),
                ModelRequest([output]),
                ModelResponse([TextPart(f"Linted, {number}.")], timestamp=NOW),
            ]
        asyncio.run(self._history.add(messages))
        return messages

    def read(self) -> list[Any]:
        return asyncio.run(self._history.messages())

    def clear(self) -> None:
        asyncio.run(self._history.clear())


class AutoGen:
    """The state that AutoGen saves of a context."""

    def __init__(self, memory: Memory) -> None:
        self._context = MemoryContext(memory, *ANA.values())

    def added(self) -> list[Any]:
        messages: list[LLMMessage] = []
        for number in range(ROUNDS):
            output = FunctionExecutionResult(content=f"{number}\n{LONG}", name="lint", call_id=f"c{number}")
            messages += [
                UserMessage(content=f"Lint it, {number}.", source="user"),
                AssistantMessage(content=[FunctionCall(f"c{number}", "{}", "lint")], source="linter"),
                FunctionExecutionResultMessage(content=[output]),
                AssistantMessage(content=f"Linted, {number}.", source="linter"),
            ]
        for message in messages:
            asyncio.run(self._context.add_message(message))
        return [message.model_dump() for message in messages]

    def read(self) -> list[Any]:
        messages: list[Any] = asyncio.run(self._context.save_state())["messages"]
        return messages

    def clear(self) -> None:
        asyncio.run(self._context.clear())


class AgentFramework:
    """The history of a session of Microsoft Agent Framework."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._store = AgentMemoryMessageStore(memory, ANA["user_id"])

    def added(self) -> list[Any]:
        messages: list[FrameworkMessage] = []
        for number in range(ROUNDS):
            messages += [
                FrameworkMessage("user", [f"Lint it, {number}."]),
                FrameworkMessage("assistant", [Content.from_function_call(f"c{number}", "lint", arguments="{}")]),
                FrameworkMessage("tool", [Content.from_function_result(f"c{number}", result=f"{number}\n{LONG}")]),
                FrameworkMessage("assistant", [f"Linted, {number}."]),
            ]
        asyncio.run(self._store.save_messages(ANA["thread_id"], messages))
        return [message.to_dict() for message in messages]

    def read(self) -> list[Any]:
        return [message.to_dict() for message in asyncio.run(self._store.get_messages(ANA["thread_id"]))]

    def clear(self) -> None:
        self._memory.clear_thread(*ANA.values())


class Adk(AgentFramework):
    """Events of Google ADK, of whose thread the compression knows."""

    def added(self) -> list[Any]:
        events = []
        for number in range(ROUNDS):
            call = GoogleCall(id=f"c{number}", name="lint", args={})
            output = FunctionResponse(id=f"c{number}", name="lint", response={"output": f"{number}\n{LONG}"})
            events += [
                Event(
                    author="user", content=GoogleContent(role="user", parts=[GooglePart(text=f"Lint it, {number}.")])
                ),
                Event(author="linter", content=GoogleContent(role="model", parts=[GooglePart(function_call=call)])),
                Event(
                    author="linter", content=GoogleContent(role="user", parts=[GooglePart(function_response=output)])
                ),
                Event(
                    author="linter", content=GoogleContent(role="model", parts=[GooglePart(text=f"Linted, {number}.")])
                ),
            ]
        stored = [message for event in events for message in messages_of(event)]
        self._memory.add_messages(ANA["user_id"], ANA["thread_id"], stored)
        return events

    def read(self) -> list[Any]:
        return events_of(self._memory.get_messages(ANA["user_id"], ANA["thread_id"], whole=True))


@pytest.fixture(params=[OpenAIAgents, LangChain, PydanticAI, AutoGen, AgentFramework, Adk])
def history(request: pytest.FixtureRequest, memory: Memory) -> Any:
    return request.param(memory)


@pytest.fixture
def compressed(api: Api, history: Any) -> list[Any]:
    """What was added to a history of which all but four messages are compressed, and all outputs are artifacts."""
    compressing(api)
    added: list[Any] = history.added()
    assert compress(api)["compressed"] > ROUNDS
    rows = api.get_messages(**ANA)
    assert len(rows) < 10
    assert sum("[MemoryRef: " in row.content for row in rows) in (1, 2)
    return added


def test_a_compressed_history_comes_back_as_it_was_added_until_it_is_gone(
    api: Api, history: Any, compressed: list[Any]
) -> None:
    assert history.read() == compressed
    expired = "update memory.messages set expires_at = now() - interval '1 second' returning 1"
    for end in (history.clear, lambda: api.query(expired), lambda: api.delete_messages(**ANA)):
        with rolled_back(api):
            end()
            assert history.read() == []


def test_an_autogen_state_makes_another_context_whole(api: Api, memory: Memory) -> None:
    history = AutoGen(memory)
    compressing(api)
    added = history.added()
    compress(api)
    other = MemoryContext(memory, "ana", "tuesday")
    asyncio.run(other.load_state(asyncio.run(history._context.save_state())))
    assert asyncio.run(other.save_state())["messages"] == added
    # A thread that holds the messages of the state already is left as it is.
    asyncio.run(history._context.load_state({"messages": added}))
    assert api.value("select count(*) from memory.messages where thread_id = 't1' and is_active") < 10


def test_what_goes_to_a_model_has_placeholders(memory: Memory) -> None:
    LangChain(memory).added()
    context = langgraph.AgentMemoryHistory(memory, *ANA.values()).context()
    assert any("[MemoryRef: " in str(message.content) for message in context)
    assert not any(LONG in str(message.content) for message in context)

"""History and context of Microsoft Agent Framework, in runs of its agents."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    Content,
    ContextProvider,
    FunctionInvocationLayer,
    InMemoryHistoryProvider,
    Message,
    tool,
)
from agent_memory import AsyncMemory, Memory
from agent_memory.adapters.agent_framework import AgentMemoryMessageStore, AgentMemoryProvider

from tests.adapters.steps import run, tool_call

MONDAY = ("ana", "monday")
pytestmark = [
    pytest.mark.feature("F36"),
    pytest.mark.filterwarnings("ignore::agent_memory.DegradedWarning"),  # no embedding model is active
]
CALLED = Message(
    "assistant",
    [
        Content.from_text_reasoning(text="hm"),
        "Let me see.",
        Content.from_function_call("c1", "weather", arguments={"city": "Porto"}),
        Content.from_function_call("c2", "weather", arguments='{"city":  "Faro"}'),
    ],
    author_name="guide",
    message_id="m1",
)
RETURNED = Message(
    "tool",
    [
        Content.from_function_result("c1", result="18 degrees"),
        Content.from_function_result("c2", result={"degrees": 19}),
        Content.from_function_result(
            "c3", result=[Content.from_text("map"), Content.from_uri("http://x/a.png", media_type="image/png")]
        ),
        Content.from_function_result("c4", result=None),
    ],
)


def dumps(messages: Sequence[Message]) -> list[Any]:
    return [message.to_dict() for message in messages]


@pytest.fixture
def store(memory: Memory) -> AgentMemoryMessageStore:
    return AgentMemoryMessageStore(memory, "ana")


@pytest.mark.parametrize(
    "messages",
    [
        [Message("user", ["How warm is it?"]), CALLED, RETURNED, Message("assistant", ["18 degrees."])],
        [Message("assistant", ["One", "Two"]), Message("assistant", []), Message("user", [""])],
        [Message("user", ["Look:", Content.from_data(b"\0a", media_type="image/png")])],
    ],
    ids=["tools", "texts", "image"],
)
def test_messages_come_back_as_they_were_added(store: AgentMemoryMessageStore, messages: list[Message]) -> None:
    before = dumps(messages)
    run(store.save_messages("monday", messages))
    assert dumps(messages) == before
    assert dumps(run(store.get_messages("monday"))) == before


def test_the_database_knows_texts_calls_and_results(store: AgentMemoryMessageStore, memory: Memory) -> None:
    run(store.save_messages("monday", [Message("user", ["How warm is it?"]), CALLED, RETURNED]))
    assert [(message.role, message.content) for message in memory.get_messages(*MONDAY)] == [
        ("user", "How warm is it?"), ("assistant", "Let me see."), ("tool", "18 degrees"), ("tool", '{"degrees": 19}'),
        ("tool", "map"), ("tool", ""),
    ]  # fmt: skip
    sent = memory.get_context(*MONDAY).to_openai()
    assert [call["function"]["arguments"] for call in sent[1]["tool_calls"]] == [  # type: ignore[typeddict-item]
        '{"city": "Porto"}', '{"city":  "Faro"}',
    ]  # fmt: skip


def test_messages_of_others_come_back_by_their_roles(store: AgentMemoryMessageStore, memory: Memory) -> None:
    memory.add_messages(
        *MONDAY,
        [
            {"role": "user", "content": "How warm is it?"},
            {"role": "assistant", "content": "", "tool_calls": [tool_call("weather", {"city": "Porto"}, "c1")]},
            {"role": "tool", "content": "18", "tool_call_id": "c1"},
        ],
    )
    asked, called, returned = run(store.get_messages("monday"))
    assert (asked.role, asked.text) == ("user", "How warm is it?")
    assert [(content.type, content.name, content.arguments) for content in called.contents] == [
        ("function_call", "weather", '{"city": "Porto"}')
    ]
    assert (returned.contents[0].call_id, returned.contents[0].result) == ("c1", "18")


def test_of_a_transcript_that_is_passed_again_what_is_new_is_stored(store: AgentMemoryMessageStore) -> None:
    hi, hello, bye = Message("user", ["Hi"]), Message("assistant", ["Hello"]), Message("user", ["Bye"])
    for given in ([hi], [hi], [hello], [hi, hello, bye], [Message("user", ["x"], message_id="m")] * 1):
        run(store.save_messages("monday", given))
    run(store.save_messages("monday", [Message("user", ["x"], message_id="m")]), store.save_messages("monday", []))
    assert [message.text for message in run(store.get_messages("monday"))] == ["Hi", "Hi", "Hello", "Bye", "x"]


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """A model that calls the tool once where there is one."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[list[Message]] = []

    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,  # noqa: ARG002
        options: Mapping[str, Any],
        **kwargs: Any,  # noqa: ARG002
    ) -> Any:
        self.seen.append(list(messages))
        calls = options.get("tools") and messages[-1].role == "user"
        answer = Content.from_function_call("c1", "weather", arguments={"city": "Porto"}) if calls else "By train."

        async def respond() -> ChatResponse:
            return ChatResponse(messages=[Message("assistant", [answer])])

        return respond()


@tool(approval_mode="never_require")
def weather(city: str) -> str:
    """Say how warm it is."""
    return f"18 degrees in {city}"


def test_an_agent_goes_on_with_its_history_and_knows_its_user(dsn: str) -> None:
    async def converse() -> None:
        async with AsyncMemory(dsn) as memory:
            await memory.add_memory("ana", "Prefers trains over planes", source="user")
            client = Scripted()
            providers: list[ContextProvider] = [
                AgentMemoryProvider(memory, "ana"),
                AgentMemoryMessageStore(memory, "ana"),
            ]
            agent = Agent(client, tools=[weather], context_providers=providers)
            session = agent.create_session(session_id="monday")
            for asked in ("Shall I take trains or planes?", "And how warm is it?"):
                assert (await agent.run(asked, session=session)).text == "By train."
            texts = [message.text for message in client.seen[-1]]
            assert "Prefers trains over planes" in texts[0]
            assert texts[1:] == ["Shall I take trains or planes?", "", "", "By train.", "And how warm is it?", "", ""]
            kept = await memory.get_messages(*MONDAY)
            assert [message.role for message in kept] == ["user", "assistant", "tool", "assistant"] * 2

    asyncio.run(converse())


def test_the_provider_alone_stores_what_was_said_and_adds_what_is_known(dsn: str) -> None:
    async def converse() -> None:
        async with AsyncMemory(dsn) as memory:
            client = Scripted()
            provider = AgentMemoryProvider(memory, "ana", thread_id="monday", agent_id="guide", max_tokens=500)
            agent = Agent(client, context_providers=[provider, InMemoryHistoryProvider()])
            await agent.run("I prefer trains.", session=agent.create_session())
            kept = await memory.get_messages(*MONDAY)
            assert [(message.content, message.agent_id) for message in kept] == [
                ("I prefer trains.", "guide"), ("By train.", "guide"),
            ]  # fmt: skip
            await memory.add_memory("ana", "Lives in Porto", agent_id="guide")
            await agent.run("Where do I live? In Porto?", session=agent.create_session())
            assert "Lives in Porto" in client.seen[-1][0].text
            assert client.seen[-1][-1].text == "Where do I live? In Porto?"

    asyncio.run(converse())

"""The context and the memory of AutoGen."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from agent_memory import AsyncMemory, Memory, NotFoundError
from agent_memory.adapters.autogen import AgentMemory, MemoryContext
from autogen_core import CancellationToken, FunctionCall
from autogen_core.memory import MemoryContent, MemoryMimeType
from autogen_core.model_context import BufferedChatCompletionContext, ChatCompletionContext
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    SystemMessage,
    UserMessage,
)

from tests.adapters.steps import calling, run, run_example, tool_call
from tests.support.fake_model_server import Behaviour, FakeModelServer

MONDAY = ("ana", "monday")
CALL = AssistantMessage(
    content=[
        FunctionCall(id="c1", name="weather", arguments='{"city": "Porto"}'),
        FunctionCall(id="c2", name="time", arguments="{}"),
    ],
    source="planner",
    thought="Look it up.",
)
RESULT = FunctionExecutionResultMessage(
    content=[
        FunctionExecutionResult(content="18 degrees", name="weather", call_id="c1", is_error=False),
        FunctionExecutionResult(content="", name="time", call_id="c2", is_error=True),
    ]
)
ASKED = UserMessage(content="How warm is it in Porto?", source="user")
pytestmark = [
    pytest.mark.feature("C10"),
    pytest.mark.filterwarnings("ignore::agent_memory.DegradedWarning"),  # no embedding model is active
]


@pytest.fixture
def context(memory: Memory) -> MemoryContext:
    return MemoryContext(memory, *MONDAY)


def add(context: ChatCompletionContext, *messages: LLMMessage) -> None:
    for message in messages:
        run(context.add_message(message))


class TestMessages:
    @pytest.mark.parametrize(
        "messages",
        [
            [
                SystemMessage(content="Be brief."),
                ASKED,
                AssistantMessage(content="18 degrees.", source="planner", thought="hm"),
            ],
            [ASKED, CALL, RESULT, AssistantMessage(content="Warm.", source="planner")],
            [CALL],
            [UserMessage(content=["What is this?", "A cat?"], source="Ana")],
        ],
        ids=["texts", "tools", "call", "parts"],
    )
    def test_messages_come_back_as_they_were_added(self, context: MemoryContext, messages: list[LLMMessage]) -> None:
        add(context, *messages)
        assert run(context.get_messages()) == messages

    def test_the_database_knows_texts_calls_and_results(self, context: MemoryContext, memory: Memory) -> None:
        add(context, ASKED, CALL, RESULT)
        assert [message["role"] for message in memory.get_context(*MONDAY).to_openai()] == [
            "user", "assistant", "tool", "tool",
        ]  # fmt: skip

    def test_messages_of_others_and_memories_are_shown(self, context: MemoryContext, memory: Memory) -> None:
        memory.add_memory("ana", "Allergic to hazelnuts")
        call = tool_call("weather", {"city": "Porto"}, "c1")
        memory.add_messages(
            *MONDAY,
            [
                {"role": "assistant", "content": "Let me see.", "tool_calls": [call]},
                {"role": "tool", "content": "18", "tool_call_id": "c1"},
                {"role": "user", "content": "And now?", "name": "Ana"},
            ],
        )
        memories, called, result, asked = run(context.get_messages())
        assert isinstance(memories, SystemMessage)
        assert "Allergic to hazelnuts" in memories.content
        assert (called.content[0].name, called.thought) == ("weather", "Let me see.")
        assert result.content[0].content == "18"
        assert asked == UserMessage(content="And now?", source="Ana")


class TestContext:
    def test_initial_messages_are_stored_once(self, memory: Memory) -> None:
        for _ in range(2):
            context = MemoryContext(memory, *MONDAY, initial_messages=[ASKED])
            assert run(context.get_messages()) == [ASKED]
        assert len(memory.get_messages(*MONDAY)) == 1

    def test_a_state_makes_the_same_thread(self, context: MemoryContext, memory: Memory) -> None:
        add(context, ASKED, CALL, RESULT)
        state = run(context.save_state())
        other = MemoryContext(memory, "ana", "tuesday", initial_messages=[ASKED])
        assert run(other.load_state(state), other.save_state()) == state
        run(context.load_state(state))
        assert memory.get_messages(*MONDAY)[0].seq == 0
        run(context.load_state({"messages": [ASKED.model_dump()]}))
        assert run(context.save_state())["messages"] == [ASKED.model_dump()]

    def test_texts_are_stored_retrieved_and_found(self, context: MemoryContext) -> None:
        key = run(context.store("added 512 packages in 9s", "NPM install output", "command_output"))
        assert run(context.retrieve(key)) == run(context.retrieve(f"[MemoryRef: {key}]")) == "added 512 packages in 9s"
        named = run(context.store("a, b", type="file", key="list.csv", metadata={"command": "cat list.csv"}))
        assert named == "list.csv"
        found = run(context.search("npm packages", limit=1))
        assert [(item.source, item.id) for item in found] == [("artifact", key)]
        with pytest.raises(NotFoundError):
            run(context.retrieve("nothing"))

    def test_a_long_result_gives_way_to_a_placeholder(self, context: MemoryContext, memory: Memory) -> None:
        output = "\n".join(f"npm warn deprecated package-{number}" for number in range(400))
        result = FunctionExecutionResult(content=output, name="shell", call_id="c1")
        call = FunctionCall(id="c1", name="shell", arguments='{"command": "npm install"}')
        add(context, ASKED, AssistantMessage(content=[call], source="planner"))
        add(context, FunctionExecutionResultMessage(content=[result]))
        kept = memory.get_messages(*MONDAY)[-1].content
        [placeholder] = re.findall(r"\[MemoryRef: [^]]+\]", kept)
        assert "npm install" in placeholder
        assert len(kept) < 400
        assert run(context.retrieve(placeholder)) == output
        assert run(context.search("deprecated package-7"))[0].source == "artifact"
        shown = run(context.get_messages())[-1].content[0]
        assert (shown.call_id, shown.name) == ("c1", "shell")
        assert placeholder in shown.content or shown.content == output

    def test_its_configuration_names_the_thread(self, context: MemoryContext, dsn: str, monkeypatch: Any) -> None:
        monkeypatch.setenv("AGENT_MEMORY_DSN", dsn)

        async def load() -> list[LLMMessage]:
            loaded = ChatCompletionContext.load_component(context.dump_component())
            assert isinstance(loaded, MemoryContext)
            await loaded.add_message(ASKED)
            messages = await loaded.get_messages()
            await loaded._memory.close()
            return messages

        assert asyncio.run(load()) == [ASKED]


class TestProtocol:
    @pytest.fixture
    def own(self, memory: Memory) -> AgentMemory:
        return AgentMemory(memory, "ana")

    @pytest.mark.parametrize(
        "content",
        [
            MemoryContent(content="Prefers trains", mime_type=MemoryMimeType.TEXT, metadata={"topic": "travel"}),
            MemoryContent(content="# Trains", mime_type="text/markdown", metadata={}),
            MemoryContent(content={"prefers": "trains", "sure": 1.5}, mime_type=MemoryMimeType.JSON, metadata={}),
        ],
    )
    def test_content_comes_back_as_it_was_added(self, own: AgentMemory, content: MemoryContent) -> None:
        [found] = run(own.add(content), own.query("trains")).results
        assert (found.content, MemoryMimeType(found.mime_type)) == (content.content, MemoryMimeType(content.mime_type))
        assert found.metadata.items() >= (content.metadata or {}).items()
        assert found.metadata["score"] > 0

    def test_a_query_may_be_content_and_has_limits(self, own: AgentMemory, memory: Memory) -> None:
        for number in range(3):
            memory.add_memory("ana", f"Prefers train {number}")
        query = MemoryContent(content="train 2", mime_type=MemoryMimeType.TEXT)
        assert run(own.query(query, CancellationToken(), top_k=1)).results[0].content == "Prefers train 2"
        assert run(own.query(" ")).results == []

    def test_what_is_no_text_is_refused(self, own: AgentMemory) -> None:
        for mime_type in ("image/*", MemoryMimeType.TEXT):
            with pytest.raises(ValueError, match="text"):
                run(own.add(MemoryContent(content=b"x", mime_type=mime_type)))

    def test_a_context_gets_the_memories_before_the_next_call(self, own: AgentMemory, memory: Memory) -> None:
        memory.add_memory("ana", "Prefers trains over planes")
        context = BufferedChatCompletionContext(5, [UserMessage(content="Book the trains", source="user")])
        added = run(own.update_context(context))
        assert [found.content for found in added.memories.results] == ["Prefers trains over planes"]
        assert "Prefers trains over planes" in run(context.get_messages())[-1].content

    def test_the_own_context_shows_memories_anyway(
        self, own: AgentMemory, context: MemoryContext, memory: Memory
    ) -> None:
        memory.add_memory("ana", "Prefers trains over planes")
        add(context, UserMessage(content="Book the trains", source="user"))
        assert len(run(own.update_context(context)).memories.results) == 1
        assert len(memory.get_messages(*MONDAY)) == 1

    def test_clear_deletes_what_was_added(self, own: AgentMemory, memory: Memory) -> None:
        memory.add_memory("ana", "Learned elsewhere")
        content = MemoryContent(content="Prefers trains", mime_type=MemoryMimeType.TEXT)
        run(own.add(content), own.clear(), own.close())
        assert [record.content for record in memory.list_memories("ana")] == ["Learned elsewhere"]

    def test_a_cancelled_query_ends(self, dsn: str) -> None:
        async def cancel() -> None:
            async with AsyncMemory(dsn) as memory:
                token = CancellationToken()
                token.cancel()
                await AgentMemory(memory, "ana").query("trains", token)

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(cancel())


@pytest.mark.usefixtures("environment")
def test_the_example_reads_what_is_stored(
    model: FakeModelServer, stored: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = stored.store_artifact("ana", "error: no space left on device", key="build-42").memory_ref
    stored.add_message("ana", "monday", "user", f"The build has failed: {log}")
    model.next_behaviours = [
        calling(tool_call("read_stored", {"key": "build-42"})),
        Behaviour(answer="The disk is full."),
    ]
    run_example("autogen_agent.py", "ana", "monday", "Why did the build fail?", monkeypatch=monkeypatch)
    run_example("autogen_agent.py", "ana", "monday", "Thanks!", monkeypatch=monkeypatch)
    assert capsys.readouterr().out == "The disk is full.\nNoted.\n"
    assert "no space left on device" in str(model.requests[1].body["messages"])
    assert "The disk is full." in str(model.requests[-1].body["messages"])

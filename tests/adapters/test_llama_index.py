"""The memory block of LlamaIndex."""

from __future__ import annotations

import asyncio
import gc

import pytest
from agent_memory import AsyncMemory, Memory
from agent_memory.adapters.llama_index import AgentMemoryBlock, from_llama_index, to_llama_index
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, MessageRole, TextBlock
from llama_index.core.memory import Memory as LlamaMemory

from tests.adapters.steps import run, run_example, tool_call
from tests.support.fake_model_server import FakeModelServer

MONDAY = ("ana", "monday")
CALL = tool_call("weather", {"city": "Porto"})
pytestmark = [
    pytest.mark.feature("F15"),
    pytest.mark.filterwarnings("ignore::agent_memory.DegradedWarning"),  # no embedding model is active
]
# LlamaIndex leaves its own SQLite connections open.
leaves_connections = pytest.mark.filterwarnings(
    "ignore:.*aiosqlite:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture
def block(memory: Memory) -> AgentMemoryBlock:
    return AgentMemoryBlock(memory=memory, user_id="ana", thread_id="monday")


class TestMessages:
    @pytest.mark.parametrize(
        "message",
        [
            ChatMessage("Hi!", role="user", channel="mail", additional_kwargs={"name": "Ana"}),
            ChatMessage("Noted.", role="model"),
            ChatMessage("18", role="tool", additional_kwargs={"tool_call_id": "call_1", "name": "weather"}),
            ChatMessage("18", role="function"),
            ChatMessage(None, role="assistant", additional_kwargs={"tool_calls": [CALL]}),
            ChatMessage(
                [TextBlock(text="What"), TextBlock(text="is this?"), ImageBlock(url="http://x/y.png")], role="user"
            ),
        ],
        ids=["user", "model", "tool", "function", "call", "image"],
    )
    def test_a_message_comes_back_as_it_was_stored(self, memory: Memory, message: ChatMessage) -> None:
        memory.add_messages(*MONDAY, [from_llama_index(message)])
        [stored] = memory.get_messages(*MONDAY)
        assert to_llama_index(stored) == message

    def test_the_database_knows_calls_and_results(self, block: AgentMemoryBlock, memory: Memory) -> None:
        called = ChatMessage(None, role="assistant", additional_kwargs={"tool_calls": [CALL]})
        result = ChatMessage("18", role="tool", additional_kwargs={"tool_call_id": "call_1"})
        run(block.aput([called, result]))
        assert memory.get_context(*MONDAY).to_openai() == [
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "content": "18", "tool_call_id": "call_1"},
        ]

    def test_a_message_of_others_has_its_text_and_role(self, memory: Memory) -> None:
        memory.add_message(*MONDAY, "assistant", "Hi!")
        [stored] = memory.get_messages(*MONDAY)
        assert to_llama_index(stored) == ChatMessage("Hi!", role=MessageRole.ASSISTANT)


class TestBlock:
    def test_it_shows_memories_and_what_was_put(self, block: AgentMemoryBlock, memory: Memory) -> None:
        memory.add_memory("ana", "Prefers trains over planes")
        run(block.aput([ChatMessage("My train leaves at 9:12", role="user"), ChatMessage("Noted.", role="assistant")]))
        shown = run(block.aget([ChatMessage("When does the train leave?", role="user")]))
        assert "Prefers trains over planes" in shown
        assert shown.endswith("user: My train leaves at 9:12\nassistant: Noted.")

    def test_it_shows_no_more_than_its_tokens(self, memory: Memory) -> None:
        block = AgentMemoryBlock(memory=memory, user_id="ana", thread_id="monday", agent_id="planner", max_tokens=50)
        run(block.aput([ChatMessage("word " * 20, role="user") for _ in range(5)]))
        assert run(block.aget()).count("user:") == 1
        assert memory.get_messages(*MONDAY)[0].agent_id == "planner"

    @leaves_connections
    def test_the_session_of_llamaindex_is_the_thread(self, dsn: str) -> None:
        async def flow() -> list[ChatMessage]:
            async with AsyncMemory(dsn) as client:
                block = AgentMemoryBlock(memory=client, user_id="ana")
                memory = LlamaMemory.from_defaults(
                    session_id="monday", token_limit=60, chat_history_token_ratio=0.5, memory_blocks=[block]
                )
                for number in range(6):
                    await memory.aput(ChatMessage(f"Question {number} about trains and planes", role="user"))
                    await memory.aput(ChatMessage(f"Answer {number} about trains and planes", role="assistant"))
                flushed = await client.get_messages("ana", "monday")
                assert [message.content for message in flushed][:2] == [
                    "Question 0 about trains and planes", "Answer 0 about trains and planes",
                ]  # fmt: skip
                assert "session_id" not in flushed[0].metadata["llama_index"]["additional_kwargs"]
                return await memory.aget()

        history = asyncio.run(flow())
        assert "Question 0 about trains" in str(history[0].content)
        assert history[-1].content == "Answer 5 about trains and planes"
        gc.collect()


@leaves_connections
@pytest.mark.usefixtures("environment")
def test_the_example_keeps_what_leaves_the_short_term_memory(
    model: FakeModelServer, stored: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["I prefer trains over planes, whenever there are any.", "Book the journey to Porto!", "Thanks!"]
    run_example("llama_index_memory.py", "ana", "monday", *lines, monkeypatch=monkeypatch)
    assert capsys.readouterr().out == "Noted.\n" * 3
    assert stored.get_messages("ana", "monday")[0].content == lines[0]
    assert lines[0] in str(model.requests[-1].body["messages"][0])
    gc.collect()

"""Contexts as messages of OpenAI, and functions that remember."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from agent_memory import AsyncMemory, DegradedWarning, Memory
from agent_memory.adapters.openai import from_openai, remembers, to_openai
from openai import APIConnectionError, AsyncOpenAI, InternalServerError, OpenAI
from openai.types.chat import ChatCompletionMessage, ChatCompletionMessageParam
from pydantic import TypeAdapter

from tests.adapters.steps import calling, run_example, tool_call
from tests.support.fake_model_server import DROPPED, SERVER_ERROR, Behaviour, FakeModelServer

MONDAY = ("ana", "monday")
WEATHER = tool_call("weather", {"city": "Porto"})
IMAGE = [
    {"type": "text", "text": "What is this?"},
    {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}},
]
pytestmark = pytest.mark.feature("B16")


@pytest.fixture
def client(model: FakeModelServer) -> Iterator[OpenAI]:
    with OpenAI(base_url=model.url, api_key="k", max_retries=0) as client:
        yield client


def sent(memory: Memory) -> list[ChatCompletionMessageParam]:
    return to_openai(memory.get_messages(*MONDAY))


class TestMessages:
    @pytest.mark.parametrize(
        "messages",
        [
            [{"role": "user", "content": "Hi!", "name": "Ana"}, {"role": "assistant", "content": "Hello."}],
            [{"role": "user", "content": IMAGE}],
            [
                {"role": "user", "content": "How warm is it?"},
                {"role": "assistant", "content": None, "tool_calls": [WEATHER]},
                {"role": "tool", "content": "18", "tool_call_id": "call_1"},
                {"role": "assistant", "content": "18 degrees."},
            ],
            [{"role": "assistant", "content": "", "refusal": "I cannot help with that."}],
            [{"role": "assistant", "content": "", "audio": {"id": "audio_1"}}],
            [{"role": "system", "content": "Be brief."}, {"role": "developer", "content": "Be kind."}],
        ],
        ids=["names", "image", "tool", "refusal", "audio", "instructions"],
    )
    def test_what_is_stored_comes_back_as_requests_take_it(self, memory: Memory, messages: list[Any]) -> None:
        memory.add_messages(*MONDAY, messages)
        assert sent(memory) == messages
        assert memory.get_context(*MONDAY).to_openai() == messages
        TypeAdapter(list[ChatCompletionMessageParam]).validate_python(messages)

    def test_memories_stand_before_the_messages(self, memory: Memory) -> None:
        memory.add_memory("ana", "Allergic to hazelnuts")
        memory.add_message(*MONDAY, "user", "Hi!")
        first, second = memory.get_context(*MONDAY).to_openai()
        assert (first["role"], second["role"]) == ("system", "user")
        assert "Allergic to hazelnuts" in str(first["content"])

    @pytest.mark.feature("A4")
    def test_of_parallel_calls_at_the_end_those_are_sent_that_are_answered(self, memory: Memory) -> None:
        calls = [WEATHER, tool_call("time", {}, "call_2")]
        results = [
            {"role": "tool", "content": said, "tool_call_id": call["id"]}
            for call, said in zip(calls, ["18", "noon"], strict=True)
        ]
        asked = {"role": "assistant", "content": None, "tool_calls": calls}
        memory.add_messages(*MONDAY, [asked, results[0]])
        assert sent(memory) == [asked | {"tool_calls": calls[:1]}, results[0]]
        memory.add_messages(*MONDAY, [results[1]])
        assert sent(memory) == [asked, *results]

    def test_calls_that_nothing_answers_are_left_out(self, memory: Memory) -> None:
        calls = [WEATHER, tool_call("time", {}, "call_2")]
        messages: list[dict[str, Any]] = [
            {"role": "assistant", "content": None, "tool_calls": [WEATHER]},
            {"role": "user", "content": "Never mind."},
            {"role": "assistant", "content": "Let me see.", "tool_calls": calls},
            {"role": "tool", "content": "noon", "tool_call_id": "call_2"},
            {"role": "user", "content": "Well?"},
        ]
        memory.add_messages(*MONDAY, messages)
        messages[2]["tool_calls"] = [calls[1]]
        assert sent(memory) == messages[1:]

    def test_results_without_their_call_are_shown_as_text(self, memory: Memory) -> None:
        memory.add_message(*MONDAY, "tool", "18 degrees", metadata={"command": "weather"})
        memory.add_message(*MONDAY, "tool", "19 degrees", metadata={"tool_call_id": "gone"})
        assert sent(memory) == [
            {"role": "user", "name": "tool", "content": "18 degrees"},
            {"role": "user", "name": "tool", "content": "19 degrees"},
        ]

    def test_members_that_the_database_does_not_know_are_kept(self, memory: Memory) -> None:
        said = ChatCompletionMessage.model_validate(
            {"role": "assistant", "content": "4", "reasoning_content": "2 + 2", "tool_calls": None}
        )
        memory.add_messages(*MONDAY, [from_openai(said)])
        [message] = memory.get_messages(*MONDAY)
        assert (message.content, message.metadata) == ("4", {"reasoning_content": "2 + 2"})
        assert sent(memory) == [{"role": "assistant", "content": "4"}]


class TestRemembers:
    def test_a_call_loads_calls_and_saves(self, memory: Memory, model: FakeModelServer, client: OpenAI) -> None:
        @remembers(memory, agent_id="planner")
        def answer(messages: list[ChatCompletionMessageParam], temperature: float) -> Any:
            """Answer."""
            return client.chat.completions.create(model="m", messages=messages, temperature=temperature)

        assert answer(*MONDAY, "I prefer trains.", temperature=0.5).choices[0].message.content == "Noted."
        answer(*MONDAY, {"role": "user", "content": "Book it!", "name": "Ana"}, 0.5)
        assert model.requests[-1].body["messages"] == [
            {"role": "user", "content": "I prefer trains."},
            {"role": "assistant", "content": "Noted."},
            {"role": "user", "content": "Book it!", "name": "Ana"},
        ]
        assert model.requests[-1].body["temperature"] == 0.5
        messages = memory.get_messages(*MONDAY)
        assert {message.agent_id for message in messages} == {"planner"}
        assert messages[1].metadata == {"model": "m", "completion_id": "fake"}
        assert answer.__doc__ == "Answer."

    def test_tools_are_called_and_answered(self, memory: Memory, model: FakeModelServer, client: OpenAI) -> None:
        model.next_behaviours = [calling(WEATHER), Behaviour(answer="Warm.")]

        @remembers(memory)
        def answer(messages: list[ChatCompletionMessageParam]) -> Any:
            return client.chat.completions.create(model="m", messages=messages)

        [call] = answer(*MONDAY, "How warm is it?").choices[0].message.tool_calls
        answer(*MONDAY, [{"role": "tool", "tool_call_id": call.id, "content": "18 degrees"}])
        messages: list[dict[str, Any]] = [
            {"role": "user", "content": "How warm is it?"},
            {"role": "assistant", "content": None, "tool_calls": [WEATHER]},
            {"role": "tool", "tool_call_id": "call_1", "content": "18 degrees"},
        ]
        assert model.requests[-1].body["messages"] == messages
        assert sent(memory) == [*messages, {"role": "assistant", "content": "Warm."}]

    def test_after_a_failure_of_the_model_nothing_is_said_twice(
        self, memory: Memory, model: FakeModelServer, client: OpenAI
    ) -> None:
        model.next_behaviours = [SERVER_ERROR, DROPPED]

        @remembers(memory)
        def answer(messages: list[ChatCompletionMessageParam]) -> Any:
            return client.chat.completions.create(model="m", messages=messages)

        with pytest.raises(InternalServerError):
            answer(*MONDAY, "Hi!")
        with pytest.raises(APIConnectionError):
            answer(*MONDAY)
        answer(*MONDAY)
        assert sent(memory) == [{"role": "user", "content": "Hi!"}, {"role": "assistant", "content": "Noted."}]

    @pytest.mark.parametrize("reply", ["Noted.", {"role": "assistant", "content": "Noted."}])
    def test_a_function_may_return_a_text_or_a_message(self, memory: Memory, reply: object) -> None:
        assert remembers(memory)(lambda _: reply)(*MONDAY, "Hi!") == reply
        assert sent(memory)[1] == {"role": "assistant", "content": "Noted."}

    def test_a_stream_is_passed_on_and_stored_at_its_end(
        self, memory: Memory, model: FakeModelServer, client: OpenAI
    ) -> None:
        model.behaviour = streamed({"content": "No"}, {"content": "ted."}, {"tool_calls": [{"index": 0, **WEATHER}]})

        @remembers(memory)
        def answer(messages: list[ChatCompletionMessageParam]) -> Any:
            return client.chat.completions.create(model="m", messages=messages, stream=True)

        chunks: Iterator[Any] = answer(*MONDAY, "Hi!")
        assert len(sent(memory)) == 1
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Noted."
        assert sent(memory)[1] == {"role": "assistant", "content": "Noted.", "tool_calls": [WEATHER]}

    def test_coroutines_do_the_same(self, dsn: str, model: FakeModelServer) -> None:
        async def converse() -> list[ChatCompletionMessageParam]:
            async with AsyncMemory(dsn) as memory, AsyncOpenAI(base_url=model.url, api_key="k") as client:

                @remembers(memory)
                async def answer(messages: list[ChatCompletionMessageParam], **options: Any) -> Any:
                    return await client.chat.completions.create(model="m", messages=messages, **options)

                await answer(*MONDAY, "Hi!")
                model.behaviour = streamed({"content": "No"}, {"content": "ted."})
                async for _ in await answer(*MONDAY, "I prefer trains.", stream=True):
                    pass
                return (await memory.get_context(*MONDAY)).to_openai()

        assert [message.get("content") for message in asyncio.run(converse())] == [
            "Hi!", "Noted.", "I prefer trains.", "Noted.",
        ]  # fmt: skip

    def test_clients_and_functions_of_two_kinds_do_not_go_together(self, memory: Memory) -> None:
        async def answer(_: object) -> str:
            return ""

        with pytest.raises(TypeError, match="coroutine"):
            remembers(memory)(answer)


class TestPaidReplies:
    """The model was paid: whatever happens to the database, the reply is returned."""

    @pytest.mark.parametrize("is_stream", [False, True])
    def test_a_reply_that_cannot_be_stored_is_returned(
        self,
        dsn: str,
        db: psycopg.Connection,
        model: FakeModelServer,
        caplog: pytest.LogCaptureFixture,
        is_stream: bool,
    ) -> None:
        if is_stream:
            model.behaviour = streamed({"content": "No"}, {"content": "ted."})

        def lose() -> None:
            db.execute("alter function memory.add_messages rename to lost")

        with pytest.warns(DegradedWarning, match="reply was not stored.*monday"):
            assert said_to(dsn, model, lose, is_stream=is_stream) == "Noted."
        assert "A reply was not stored in thread 'monday'" in caplog.text
        assert db.execute("select content from memory.get_messages('ana', 'monday')").fetchall() == [("Hi!",)]

    @pytest.mark.filterwarnings("error")
    @pytest.mark.parametrize(
        "reply", [7, {"role": "robot", "content": "Noted."}, iter(["no chunk"])], ids=["number", "robot", "stream"]
    )
    def test_a_reply_that_is_no_message_is_returned(
        self, stored: Memory, caplog: pytest.LogCaptureFixture, reply: Any
    ) -> None:
        returned = remembers(stored)(lambda _: reply)(*MONDAY, "Hi!")
        assert returned == reply or list(returned) == ["no chunk"]
        assert "A reply was not stored" in caplog.text
        assert sent(stored) == [{"role": "user", "content": "Hi!"}]

    def test_the_errors_of_a_stream_are_passed_on(self, memory: Memory) -> None:
        def answer(_: object) -> Iterator[str]:
            yield "chunk"
            raise InterruptedError

        with pytest.raises(InterruptedError):
            list(remembers(memory)(answer)(*MONDAY, "Hi!"))


class TestWithoutMemory:
    """With empty_on_failure an agent goes on where the database is out of reach."""

    def test_what_is_said_is_sent_alone(
        self, failing_memory: Memory, model: FakeModelServer, client: OpenAI, caplog: pytest.LogCaptureFixture
    ) -> None:
        @remembers(failing_memory, empty_on_failure=True)
        def answer(messages: list[ChatCompletionMessageParam]) -> Any:
            return client.chat.completions.create(model="m", messages=messages)

        said = [{"role": "user", "content": IMAGE}, {"role": "tool", "tool_call_id": "c1", "content": "18 degrees"}]
        with pytest.warns(DegradedWarning, match="reply was not stored"):
            assert answer(*MONDAY, said).choices[0].message.content == "Noted."
        assert model.requests[-1].body["messages"] == [
            {"role": "user", "content": IMAGE},
            {"role": "user", "name": "tool", "content": "18 degrees"},
        ]
        assert "Thread 'monday' has no memory in this call" in caplog.text

    @pytest.mark.parametrize("needed", ["threads", "summaries"])
    def test_what_was_said_is_stored_once_with_the_reply(
        self, dsn: str, db: psycopg.Connection, model: FakeModelServer, needed: str
    ) -> None:
        with psycopg.connect(dsn) as blocker:
            blocker.execute(f"lock table memory.{needed} in access exclusive mode")
            impatient = f"{dsn} options='-c lock_timeout=50ms'"
            answered = said_to(impatient, model, blocker.rollback, empty_on_failure=True)
        assert answered == "Noted."
        assert model.requests[-1].body["messages"] == [{"role": "user", "content": "Hi!"}]
        assert db.execute("select role, content from memory.get_messages('ana', 'monday')").fetchall() == [
            ("user", "Hi!"), ("assistant", "Noted."),
        ]  # fmt: skip


def said_to(
    dsn: str, model: FakeModelServer, meanwhile: Callable[[], None], *, is_stream: bool = False, **options: Any
) -> str:
    """Say "Hi!" to a function that remembers, and return its reply; something happens while the model answers."""
    with Memory(dsn) as memory, OpenAI(base_url=model.url, api_key="k") as client:

        @remembers(memory, **options)
        def answer(messages: list[ChatCompletionMessageParam]) -> Any:
            reply = client.chat.completions.create(model="m", messages=messages, stream=is_stream)
            meanwhile()
            return reply

        reply = answer(*MONDAY, "Hi!")
        if is_stream:
            return "".join(chunk.choices[0].delta.content or "" for chunk in reply)
        return str(reply.choices[0].message.content)


def streamed(*deltas: dict[str, Any]) -> Behaviour:
    """A stream of one chunk for each delta."""
    lines = [
        {"id": "fake", "object": "chat.completion.chunk", "created": 0, "model": "m",
         "choices": [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}]}
        for delta in deltas
    ]  # fmt: skip
    events = "".join(f"data: {json.dumps(line)}\n\n" for line in lines) + "data: [DONE]\n\n"
    return Behaviour(
        answer="", raw=f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n{events}"
    )


@pytest.mark.usefixtures("environment")
def test_the_example_answers_with_a_tool(
    model: FakeModelServer, stored: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model.next_behaviours = [calling(WEATHER), Behaviour(answer="18 degrees.")]
    run_example("openai_tools.py", "ana", "How warm is it?", monkeypatch=monkeypatch)
    assert capsys.readouterr().out == "18 degrees.\n"
    assert "It is 18 degrees in Porto." in str(model.requests[-1].body["messages"])
    assert [message.role for message in stored.get_messages("ana", "weather")] == [
        "user", "assistant", "tool", "assistant",
    ]  # fmt: skip

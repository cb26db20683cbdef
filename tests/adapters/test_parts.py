"""Messages without a text, with pictures and files, and with calls that are not whole, through every adapter."""

from __future__ import annotations

import base64
import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from agent_memory import Memory
from agent_memory.adapters.autogen import MemoryContext
from agent_memory.adapters.langgraph import AgentMemoryHistory
from agent_memory.adapters.llama_index import from_llama_index, to_llama_index
from agent_memory.adapters.openai import from_openai, remembers, to_openai
from agent_memory.adapters.openai_agents import AgentMemorySession
from agent_memory.adapters.pydantic_ai import AgentMemoryHistory as PydanticHistory
from autogen_core import FunctionCall, Image
from autogen_core.models import AssistantMessage, FunctionExecutionResult, FunctionExecutionResultMessage, UserMessage
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from llama_index.core.base.llms.types import ChatMessage, DocumentBlock, ImageBlock, TextBlock
from openai.types.chat import ChatCompletion
from PIL import Image as Pixels
from pydantic_ai import BinaryContent
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from tests.adapters.steps import run

MONDAY = ("ana", "monday")
BYTES = random.Random(11)
PHOTO = b"\xff\xd8\xff\xe0" + BYTES.randbytes(1_300_000)
PDF = b"%PDF-1.7\n" + BYTES.randbytes(150_000)
PHOTO_URI = f"data:image/jpeg;base64,{base64.b64encode(PHOTO).decode()}"
PDF_URI = f"data:application/pdf;base64,{base64.b64encode(PDF).decode()}"
PARTS: list[Any] = [
    {"type": "text", "text": "Who is this, and what is that?"},
    {"type": "image_url", "image_url": {"url": PHOTO_URI}},
    {"type": "file", "file": {"filename": "a.pdf", "file_data": PDF_URI}},
]
SILENT = [
    {"role": "user", "content": "Make a folder"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "mkdir", "arguments": "{}"}}],
    },
    {"role": "tool", "content": "", "tool_call_id": "c1"},
    {"role": "assistant", "content": ""},
]
COST = (37_000 + 765, 38_000 + 1105)


def cost(memory: Memory) -> int:
    return sum(message.token_count for message in memory.get_messages(*MONDAY))


def langchain(memory: Memory, messages: list[Any]) -> list[Any]:
    history = AgentMemoryHistory(memory, *MONDAY)
    history.add_messages(messages)
    return history.messages


def agents(memory: Memory, items: list[Any]) -> list[Any]:
    session = AgentMemorySession(memory, *MONDAY)
    return run(session.add_items(items), session.get_items())  # type: ignore[no-any-return]


def pydantic(memory: Memory, messages: list[Any]) -> list[Any]:
    history = PydanticHistory(memory, *MONDAY)
    read = run(history.add(messages), history.messages())
    # A BinaryContent that is a picture comes back as its subclass BinaryImage, which equals none of its class.
    assert ModelMessagesTypeAdapter.dump_python(read) == ModelMessagesTypeAdapter.dump_python(messages)
    return messages


def llama(memory: Memory, messages: list[Any]) -> list[Any]:
    memory.add_messages(*MONDAY, [from_llama_index(message) for message in messages])
    return [to_llama_index(message) for message in memory.get_messages(*MONDAY)]


def openai(memory: Memory, messages: list[Any]) -> list[Any]:
    memory.add_messages(*MONDAY, [from_openai(message) for message in messages])
    return to_openai(memory.get_messages(*MONDAY))


Adapter = Callable[[Memory, list[Any]], list[Any]]


@pytest.mark.parametrize(
    ("adapter", "messages"),
    [
        (openai, [{"role": "user", "content": PARTS}]),
        (langchain, [HumanMessage(PARTS)]),
        (
            langchain,
            [
                HumanMessage(
                    [
                        {"type": "image", "base64": PHOTO_URI[23:], "mime_type": "image/jpeg"},
                        {
                            "type": "file",
                            "base64": PDF_URI[28:],
                            "mime_type": "application/pdf",
                            "filename": "a.pdf",
                        },
                    ]
                )
            ],
        ),
        (
            agents,
            [
                {
                    "role": "user",
                    "content": [
                        {"type": "input_text", "text": "Look"},
                        {"type": "input_image", "image_url": PHOTO_URI, "detail": "auto"},
                        {"type": "input_file", "filename": "a.pdf", "file_data": PDF_URI},
                    ],
                }
            ],
        ),
        (
            pydantic,
            [
                ModelRequest(
                    [
                        ToolReturnPart(
                            "read",
                            [
                                "Both",
                                BinaryContent(PHOTO, media_type="image/jpeg"),
                                BinaryContent(PDF, media_type="application/pdf"),
                            ],
                            "c1",
                        )
                    ]
                )
            ],
        ),
        (
            llama,
            [
                ChatMessage(
                    blocks=[
                        TextBlock(text="Look"),
                        ImageBlock(image=PHOTO, image_mimetype="image/jpeg"),
                        DocumentBlock(data=PDF, document_mimetype="application/pdf", title="a"),
                    ]
                )
            ],
        ),
    ],
    ids=["openai", "langchain as openai", "langchain", "agents", "pydantic", "llama"],
)
def test_a_photo_and_a_file_come_back_and_are_counted_once(
    memory: Memory, adapter: Adapter, messages: list[Any]
) -> None:
    assert adapter(memory, messages) == messages
    assert COST[0] <= cost(memory) <= COST[1]


def test_a_picture_of_autogen_comes_back_and_is_counted(memory: Memory) -> None:
    noise = Pixels.frombytes("RGB", (300, 300), BYTES.randbytes(270_000))
    context = MemoryContext(memory, *MONDAY)
    [message] = run(
        context.add_message(UserMessage(content=["Look", Image(noise)], source="user")), context.get_messages()
    )
    assert message.content[1].image.tobytes() == noise.tobytes()
    assert 765 <= cost(memory) <= 1110


@pytest.mark.parametrize(
    ("adapter", "messages"),
    [
        (openai, SILENT),
        (langchain, [HumanMessage("Go on"), AIMessage(""), ToolMessage("", tool_call_id="c1"), HumanMessage("")]),
        (langchain, [AIMessage([]), HumanMessage([])]),
        (
            langchain,
            [
                AIMessage(
                    "",
                    invalid_tool_calls=[
                        {"name": "f", "args": "{", "id": "c1", "error": None, "type": "invalid_tool_call"}
                    ],
                )
            ],
        ),
        (
            agents,
            [
                {"role": "user", "content": ""},
                {"role": "user", "content": []},
                {"type": "function_call", "call_id": "c1", "name": "mkdir", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": ""},
                {"type": "message", "id": "m", "role": "assistant", "status": "incomplete", "content": []},
            ],
        ),
        (
            pydantic,
            [
                ModelRequest([UserPromptPart("")]),
                ModelResponse([ToolCallPart("mkdir", "{}", "c1")]),
                ModelRequest([ToolReturnPart("mkdir", "", "c1")]),
                ModelResponse([TextPart("")]),
                ModelResponse([]),
            ],
        ),
        (llama, [ChatMessage(""), ChatMessage(role="assistant", content=""), ChatMessage(role="tool", content="")]),
    ],
    ids=["openai", "langchain", "langchain lists", "invalid calls", "agents", "pydantic", "llama"],
)
def test_messages_without_a_text_come_back(memory: Memory, adapter: Adapter, messages: list[Any]) -> None:
    read = adapter(memory, messages)
    if adapter is openai:
        messages = messages[:-1]  # nothing is sent of an answer that says nothing
    assert read == messages


def test_autogen_keeps_messages_without_a_text(memory: Memory) -> None:
    context = MemoryContext(memory, *MONDAY)
    said: list[Any] = [
        UserMessage(content="", source="user"),
        AssistantMessage(content=[FunctionCall(id="c1", name="mkdir", arguments="{}")], source="planner"),
        FunctionExecutionResultMessage(content=[FunctionExecutionResult(content="", name="mkdir", call_id="c1")]),
        AssistantMessage(content="", source="planner"),
    ]
    state = run(*[context.add_message(message) for message in said], context.save_state())
    assert state["messages"] == [message.model_dump() for message in said]


def test_a_reply_that_says_nothing_is_returned_and_stored(memory: Memory) -> None:
    completion = ChatCompletion.model_validate(
        {
            "id": "c", "created": 0, "model": "m", "object": "chat.completion",
            "choices": [{"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": None}}],
        }
    )  # fmt: skip
    assert remembers(memory)(lambda _messages: completion)(*MONDAY, "Go on") is completion
    assert remembers(memory)(lambda _messages: "")(*MONDAY, "") == ""
    assert [(message.role, message.content) for message in memory.get_messages(*MONDAY)] == [
        ("user", "Go on"), ("assistant", ""), ("user", ""), ("assistant", ""),
    ]  # fmt: skip


def test_calls_of_ollama_are_sent_whole(memory: Memory) -> None:
    calls = [{"function": {"name": name, "arguments": {"city": "Porto"}}} for name in ("weather", "time")]
    memory.add_messages(
        *MONDAY,
        [
            {"role": "user", "content": "How warm is it, and how late?"},
            {"role": "assistant", "content": "", "tool_calls": calls},
            {"role": "tool", "content": "noon", "tool_name": "time"},
            {"role": "tool", "content": "18", "tool_name": "weather"},
        ],
    )
    memory.add_message("ana", "tuesday", "assistant", "", metadata={"tool_calls": calls})
    _, asked, time, weather = to_openai(memory.get_messages(*MONDAY))
    assert [call["function"] for call in asked["tool_calls"]] == [  # type: ignore[typeddict-item]
        {"name": name, "arguments": '{"city": "Porto"}'} for name in ("weather", "time")
    ]
    ids = [call["id"] for call in asked["tool_calls"]]  # type: ignore[typeddict-item]
    assert len(set(ids)) == 2
    assert ids == [weather["tool_call_id"], time["tool_call_id"]]  # type: ignore[typeddict-item]
    [alone] = to_openai(memory.get_messages("ana", "tuesday"))
    assert all(call["id"] for call in alone["tool_calls"])  # type: ignore[typeddict-item]


def test_arguments_that_are_not_json_can_be_read(memory: Memory) -> None:
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Por'}},
        {"id": "c2", "type": "function", "function": {"name": "time", "arguments": "{}"}},
        {"id": "c3", "type": "custom", "custom": {"name": "sql", "input": "select 1"}},
    ]
    memory.add_messages(*MONDAY, [{"role": "assistant", "content": None, "tool_calls": calls}])
    assert to_openai(memory.get_messages(*MONDAY))[0]["tool_calls"] == calls  # type: ignore[typeddict-item]
    history = AgentMemoryHistory(memory, *MONDAY)
    for [message] in (history.messages, history.context()):
        assert isinstance(message, AIMessage)
        assert [call["id"] for call in message.tool_calls] == ["c2"]
        assert [(call["id"], call["args"]) for call in message.invalid_tool_calls] == [
            ("c1", '{"city": "Por'), ("c3", "select 1"),
        ]  # fmt: skip
    context, session = MemoryContext(memory, *MONDAY), AgentMemorySession(memory, *MONDAY)
    assert [call.arguments for call in run(context.get_messages())[0].content] == ['{"city": "Por', "{}", "select 1"]
    assert [item["name"] for item in run(session.get_items())] == ["weather", "time", "sql"]
    [response] = run(PydanticHistory(memory, *MONDAY).messages())
    assert [part.args for part in response.parts] == ['{"city": "Por', "{}", "select 1"]


@pytest.mark.parametrize(
    ("name", "sent", "text"),
    [
        ("Ana", "Ana", "Hi!"),
        ("Ana Silva", "Ana_Silva", "Ana Silva: Hi!"),
        ("a<b>|c/d\ne", "a_b_c_d_e", "a<b>|c/d e: Hi!"),
        ("x" * 80, "x" * 64, "x" * 80 + ": Hi!"),
        ("", None, "Hi!"),
    ],
)
def test_a_name_that_providers_refuse_is_sent_in_the_text(
    memory: Memory, name: str, sent: str | None, text: str
) -> None:
    parts = [{"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}, {"type": "text", "text": "?"}]
    memory.add_messages(
        *MONDAY,
        [{"role": "user", "content": "Hi!", "name": name}, {"role": "user", "content": parts, "name": name}],
    )
    messages: list[Any] = list(memory.get_context(*MONDAY).to_openai())
    assert [(message.get("name"), message["content"]) for message in messages[:1]] == [(sent, text)]
    assert all(re.search(r"^[^\s<|\\/>]+$", message["name"]) for message in messages if "name" in message)
    spoken = text.removesuffix("Hi!")
    assert messages[1]["content"] == ([{"type": "text", "text": spoken}] if spoken else []) + parts
    assert [message.metadata["name"] for message in memory.get_messages(*MONDAY)] == [name, name]
    [message, _] = AgentMemoryHistory(memory, *MONDAY).context()
    assert (message.name, message.content) == (sent, text)

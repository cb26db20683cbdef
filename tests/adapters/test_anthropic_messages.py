"""Contexts as Anthropic takes them, and the marks up to which it caches a prompt."""

from __future__ import annotations

from typing import Any

import pytest
from agent_memory.types import Context, ContextPart

pytestmark = pytest.mark.feature("A4")
CACHED = {"type": "ephemeral"}


def part(role: str, text: str, cache: str = "thread", tokens: int = 100, **metadata: Any) -> ContextPart:
    return ContextPart(1, role, text, "message", tokens, {"cache": cache, **metadata})


def call(number: int) -> dict[str, Any]:
    return {"id": f"c{number}", "type": "function", "function": {"name": "run", "arguments": '{"line": 1}'}}


def marked(made: dict[str, list[dict[str, Any]]]) -> list[str]:
    """The texts of the blocks that are marked."""
    blocks = made["system"] + [block for message in made["messages"] for block in message["content"]]
    return [block.get("text", block["type"]) for block in blocks if block.get("cache_control") == CACHED]


def test_system_messages_are_blocks_and_messages_of_one_speaker_one_message() -> None:
    made = Context(
        [
            part("system", "Be brief.", "stable"),
            part("system", "Ana sails.", "stable"),
            part("user", "Hello"),
            part("assistant", "Hi."),
            part("user", "recalled", "volatile"),
            part("user", "Where is my boat?"),
        ]
    ).to_anthropic()
    assert made == {
        "system": [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Ana sails."}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Hi."}]},
            {
                "role": "user",
                "content": [{"type": "text", "text": "recalled"}, {"type": "text", "text": "Where is my boat?"}],
            },
        ],
    }


def test_calls_and_results_are_blocks() -> None:
    made = Context(
        [
            part("user", "Read it"),
            part("assistant", "I look.", tool_calls=[call(1)]),
            part("tool", "line 1", tool_call_id="c1"),
        ]
    ).to_anthropic()
    assert made["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "run", "input": {"line": 1}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "line 1"}]}],
        },
    ]


def test_pictures_and_files_are_blocks() -> None:
    content = [
        {"type": "text", "text": "See"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/boat.png"}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,BBBB"}},
    ]
    [message] = Context([part("user", "See", content=content)]).to_anthropic()["messages"]
    assert [block["type"] for block in message["content"]] == ["text", "image", "image", "document"]
    assert message["content"][1]["source"] == {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    assert message["content"][2]["source"] == {"type": "url", "url": "https://example.org/boat.png"}
    assert message["content"][3]["source"]["media_type"] == "application/pdf"


@pytest.mark.parametrize(("tokens", "expected"), [(100, []), (600, ["earlier"]), (1100, ["known", "earlier"])])
def test_marks_stand_where_a_cache_pays(tokens: int, expected: list[str]) -> None:
    context = Context(
        [
            part("system", "known", "stable", tokens),
            part("user", "first", "thread", tokens),
            part("assistant", "earlier", "thread", tokens),
            part("user", "recalled", "volatile", tokens),
            part("user", "question", "thread", tokens),
        ]
    )
    assert marked(context.to_anthropic()) == expected


def test_a_round_of_tool_calls_is_cached_to_its_end() -> None:
    context = Context(
        [
            part("system", "known", "stable", 1100),
            part("user", "recalled", "volatile"),
            part("user", "question"),
            part("assistant", "", tool_calls=[call(1)]),
            part("tool", "line 1", tool_call_id="c1"),
        ]
    )
    assert marked(context.to_anthropic()) == ["known", "tool_result"]


def test_system_messages_that_begin_a_context_are_one_for_openai() -> None:
    context = Context(
        [part("system", "Be brief."), part("system", "Ana sails."), part("user", "Hi"), part("system", "x")]
    )
    assert context.to_openai() == [
        {"role": "system", "content": "Be brief.\n\nAna sails."},
        {"role": "user", "content": "Hi"},
        {"role": "system", "content": "x"},
    ]

"""Replies of the model APIs that coding assistants speak, as events: Anthropic's, OpenAI's responses, and Gemini's."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]


def streamed(path: str, answer: str) -> str | None:
    """The events of a model that says nothing but a text; None if the path is of none of these APIs."""
    for ending, events in _APIS.items():
        if path.endswith(ending):
            return "".join(_event(each) for each in events(answer))
    return None


def _event(event: Json) -> str:
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n"


def _of_anthropic(answer: str) -> list[Json]:
    message: Json = {
        "id": "msg_fake",
        "type": "message",
        "role": "assistant",
        "model": "fake",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": answer}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ]


def _of_openai(answer: str) -> list[Json]:
    content = [{"type": "output_text", "text": answer, "annotations": []}]
    item = {"type": "message", "id": "msg_fake", "role": "assistant", "status": "completed", "content": content}
    usage = {
        "input_tokens": 1,
        "input_tokens_details": None,
        "output_tokens": 1,
        "output_tokens_details": None,
        "total_tokens": 2,
    }
    response = {"id": "resp_fake", "object": "response", "status": "completed", "output": [item], "usage": usage}
    return [
        {"type": "response.created", "response": {"id": "resp_fake"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]


def _of_gemini(answer: str) -> list[Json]:
    content = {"role": "model", "parts": [{"text": answer}]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return [{"candidates": [{"index": 0, "content": content, "finishReason": "STOP"}], "usageMetadata": usage}]


_APIS: dict[str, Callable[[str], list[Json]]] = {
    "/messages": _of_anthropic,
    "/responses": _of_openai,
    ":streamGenerateContent": _of_gemini,
}

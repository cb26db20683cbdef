"""What the tests of adapters do again and again."""

from __future__ import annotations

import asyncio
import json
import runpy
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_model_server import Behaviour

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MAX_LINES = 60


def tool_call(name: str, arguments: dict[str, Any], call_id: str = "call_1") -> dict[str, Any]:
    """A call of a tool in a message of a chat completion."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def calling(*calls: dict[str, Any]) -> Behaviour:
    """The model calls tools."""
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    choices = [{"index": 0, "message": message, "finish_reason": "tool_calls"}]
    return Behaviour(answer="", body=lambda body: json.dumps({**json.loads(body), "choices": choices}))


def run_example(name: str, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a program of examples/ in this process, because each process would import the framework anew."""
    path = EXAMPLES / name
    assert len(path.read_text().splitlines()) <= MAX_LINES
    monkeypatch.setattr(sys, "argv", [str(path), *arguments])
    runpy.run_path(str(path), run_name="__main__")


def run(*calls: Awaitable[Any]) -> Any:
    """The result of the last of some calls, which are made one after the other."""

    async def awaited() -> Any:
        return [await call for call in calls][-1]

    return asyncio.run(awaited())

"""The examples that belong to tools and MCP run unchanged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from agent_memory import Memory

from tests.support.fake_model_server import Behaviour, FakeModelServer
from tests.support.servers import ROOT

EXAMPLES = ROOT / "examples"


def run(example: str, *arguments: str, **environment: str) -> str:
    """What an example prints."""
    command = [sys.executable, str(EXAMPLES / example), *arguments]
    done = subprocess.run(command, env={**os.environ, **environment}, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def calling(name: str, **arguments: Any) -> Behaviour:
    """A model that calls a tool."""

    def body(reply: str) -> str:
        answer = json.loads(reply)
        function = {"name": name, "arguments": json.dumps(arguments)}
        calls = [{"id": f"call_{name}", "type": "function", "function": function}]
        answer["choices"][0] = {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {"role": "assistant", "content": None, "tool_calls": calls},
        }
        return json.dumps(answer)

    return Behaviour(answer="", body=body)


@pytest.mark.feature("A20")
def test_a_model_remembers_and_looks_up_by_tools(dsn: str) -> None:
    with FakeModelServer(Behaviour(answer="Ask for pad thai without peanuts.")) as model:
        model.next_behaviours = [
            calling("search", query="peanuts", user_id="bob"),
            calling("add_memory", content="Ana is allergic to peanuts."),
        ]
        environment = {"AGENT_MEMORY_DSN": dsn, "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model.url}
        said = run("memory_tools.py", "ana", "I am allergic to peanuts. What can I eat in Bangkok?", **environment)
        assert said == "Ask for pad thai without peanuts.\n"
        answers = [message["content"] for message in model.requests[-1].body["messages"] if message["role"] == "tool"]
        names = [tool["function"]["name"] for tool in model.requests[0].body["tools"]]
    assert names == ["search", "add_memory", "update_memory", "forget"]
    assert answers[0].startswith("Error: user_id: there is no such argument")
    assert json.loads(answers[1])["is_new"]
    with Memory(dsn) as memory:
        assert [stored.content for stored in memory.list_memories("ana")] == ["Ana is allergic to peanuts."]


@pytest.mark.feature("C11")
def test_a_host_puts_what_one_conversation_told_before_the_next(dsn: str) -> None:
    said = run("mcp_host.py", "ana", AGENT_MEMORY_DSN=dsn)
    assert "Tools: search, add_memory," in said
    assert "Ana prefers trains over planes." in said

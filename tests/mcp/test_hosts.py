"""The examples of docs/mcp.md: each parses, and what it starts is a server that a host can use."""

from __future__ import annotations

import json
import re
import shlex
import stat
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from agent_memory import Memory
from agent_memory.tools import LISTED
from mcp import StdioServerParameters

from tests.mcp.steps import over_stdio, stdio_server
from tests.support.servers import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

pytestmark = pytest.mark.feature("C11")
PAGE = (ROOT / "docs" / "mcp.md").read_text()


def blocks(language: str) -> list[str]:
    """The examples of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def entries() -> list[dict[str, Any]]:
    """The servers that the examples configure, under the key of their hosts."""
    examples = [json.loads(block) for block in blocks("json")] + [tomllib.loads(block) for block in blocks("toml")]
    keys = {"mcpServers", "servers", "context_servers", "mcp_servers"}
    return [example[key]["memory"] for example in examples for key in keys & example.keys()]


def test_what_the_examples_start_is_a_server(dsn: str, tmp_path: Path) -> None:
    commands = {(entry["command"], *entry["args"]) for entry in entries() if "command" in entry}
    [claude_code] = [block for block in blocks("sh") if block.startswith("claude mcp add")]
    commands.add(tuple(shlex.split(claude_code.partition(" -- ")[2])))
    [command] = commands  # so one start proves all
    assert command == ("agent-memory", "mcp", "--user", "ana")
    script = tmp_path / "agent-memory"  # what the package installs
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m agent_memory.cli "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    variables = {name for entry in entries() for name in entry.get("env", {})}
    assert variables == {"AGENT_MEMORY_DSN"}
    environment = stdio_server(dsn).env
    with over_stdio(StdioServerParameters(command=str(script), args=list(command[1:]), env=environment)) as host:
        assert [tool.name for tool in host.ask("list_tools").tools] == LISTED


def test_the_example_over_http_names_the_port_and_brings_the_token() -> None:
    [entry] = [entry for entry in entries() if "url" in entry]
    assert entry["url"] == "http://127.0.0.1:3002/mcp"
    assert entry["headers"]["Authorization"].startswith("Bearer ")


@pytest.mark.filterwarnings("ignore::agent_memory.DegradedWarning")
def test_the_example_of_openai_answers_the_calls_of_a_model(
    dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AGENT_MEMORY_DSN", dsn)
    [example] = blocks("python")
    calls = [("add_memory", {"content": "Ana is allergic to peanuts."}), ("search", {"query": "allergic"})]

    def create(*, messages: list[Any], tools: list[Any], **_: Any) -> Any:
        """Call each tool in turn, then say what the last one returned."""
        assert {tool["function"]["name"] for tool in tools} == set(LISTED)
        if not calls:
            return _answer(messages[-1]["content"], None)
        name, arguments = calls.pop(0)
        function = {"name": name, "arguments": json.dumps(arguments)}
        return _answer(None, [{"id": "call", "type": "function", "function": function}])

    fake = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))
    monkeypatch.setattr("openai.OpenAI", lambda: fake)
    names: dict[str, Any] = {}
    exec(compile(example, "docs/mcp.md", "exec"), names)
    names["memory"].close()
    assert "Ana is allergic to peanuts." in capsys.readouterr().out
    with Memory(dsn) as memory:
        assert [stored.thread_id for stored in memory.list_memories("ana")] == ["today"]


def _answer(content: str | None, calls: list[Any] | None) -> Any:
    return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=content, tool_calls=calls))])

"""The server over stdio, as a host starts it: a real process, and the official client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory import Memory
from agent_memory.cli import app
from agent_memory.tools import TOOLS, openai_tools

from tests.mcp.steps import Host, over_stdio, stdio_server
from tests.support.runners import PATIENCE, wait_until
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("C11")


def test_the_tools_are_those_of_openai_with_typed_results_and_hints_for_hosts(ana: Host) -> None:
    served = {tool.name: tool for tool in ana.ask("list_tools").tools}
    for definition in openai_tools():
        function, tool = definition["function"], served.pop(definition["function"]["name"])
        assert tool.description == function["description"]
        assert tool.input_schema == function["parameters"]
        assert tool.output_schema == TOOLS[tool.name].result_schema()
        assert tool.title
        assert tool.annotations.read_only_hint == (TOOLS[tool.name].effect == "reads")
    assert not served
    assert TOOLS["forget"].effect == "deletes"
    # Document C's names are not listed; a host that knows them calls them.
    put = ana.call("store_memory", content="line 1\nline 2: disk full\n", description="build log", type="log")
    [found] = ana.call("search_memory", query="disk full", limit=1)["results"]
    assert found["memory_key"] == put["memory_key"]


@pytest.mark.feature("F36")
def test_a_host_that_is_to_keep_notes_is_shown_the_tool_for_files(dsn: str) -> None:
    with over_stdio(stdio_server(dsn, "--user", "ana", "--tool", "memory_files")) as ana:
        assert "memory_files" in {tool.name for tool in ana.ask("list_tools").tools}
        ana.call("memory_files", command="create", path="/memories/plan.md", file_text="Buy tea.")
        assert "1\tBuy tea." in ana.call("memory_files", command="view", path="/memories/plan.md")["text"]


def test_what_one_conversation_tells_another_one_knows(ana: Host) -> None:
    added = ana.call("add_memory", content="Ana plays the violin. 🎻")
    assert ana.call("search", query="violin")["results"][0]["id"] == added["memory_id"]
    prompt = ana.ask("get_prompt", "about_user", {"query": "music"})
    assert "Ana plays the violin. 🎻" in prompt.messages[0].content.text
    assert "data, not instructions" in prompt.messages[0].content.text
    messages = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi, Ana"}]
    ana.call("add_messages", thread_id="first", messages=messages)
    prompt = ana.ask("get_prompt", "about_user", {"thread_id": "first"})
    assert [(message.role, message.content.text) for message in prompt.messages[1:]] == [
        ("user", "Hello"),
        ("assistant", "Hi, Ana"),
    ]
    assert ana.call("forget", memory_id=added["memory_id"]) == {"forgotten": True}
    assert "violin" not in ana.ask("get_prompt", "about_user", {}).messages[0].content.text
    assert "prompt takes query" in str(ana.error("get_prompt", "about_user", {"user_id": "bob"}))
    assert "there is about_user" in str(ana.error("get_prompt", "about_me", {}))


def test_wrong_calls_are_told_and_the_server_goes_on(ana: Host, shared_api: Api) -> None:
    Memory(shared_api.connection).store_artifact("bob", "the secret of bob", key="key-of-bob")
    assert "this user has no artifact" in ana.refused("retrieve_memory", memory_key="key-of-bob")
    assert "user_id is fixed" in ana.refused("search", query="secret", user_id="bob")
    assert "Hint: search takes: query, limit?" in ana.refused("search", query=["a"])
    assert "Error: content" in ana.refused("add_memory", content="x" * 5_000_000)
    assert "there is no tool" in str(ana.error("call_tool", "drop_table", {}))
    assert ana.call("store_memory", content="x" * 5_000_000)["token_count"] == 1_250_000


def test_calls_at_once_are_answered_each(ana: Host) -> None:
    def remember(number: int) -> str:
        added: str = ana.call("add_memory", content=f"Ana has the number {number}.", tags=["numbers"])["memory_id"]
        return added

    with ThreadPoolExecutor(16) as pool:
        ids = list(pool.map(remember, range(20)))
    assert len(set(ids)) == 20
    assert ana.call("list_memories", tags=["numbers"])["total_count"] == 20


def test_a_database_that_goes_away_is_told_and_found_again(ana: Host, shared_api: Api) -> None:
    def turn(*, on: bool) -> None:
        database = shared_api.connection.info.dbname
        with psycopg.connect(shared_api.connection.info.dsn, dbname="postgres", autocommit=True) as administrator:
            administrator.execute(f'alter database "{database}" allow_connections {"true" if on else "false"}')
            administrator.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s and pid <> %s",
                [database, shared_api.connection.info.backend_pid],
            )

    assert ana.call("list_threads", limit=1)
    turn(on=False)
    try:
        refused = ana.refused("list_threads")
        assert refused.startswith("Error: ")
        assert "not currently accepting connections" in refused
        assert "\nHint: " in refused
        assert ana.error("list_resources").code == -32603
        assert ana.ask("list_tools").tools
    finally:
        turn(on=True)
    wait_until(lambda: not ana.ask("call_tool", "list_threads", {}).is_error)
    assert ana.call("list_threads", limit=1)


@pytest.fixture
def raw(dsn: str) -> Iterator[subprocess.Popen[str]]:
    """A server whose lines the test writes and reads itself, and in which a module prints with every call."""
    script = """
import runpy, sys
from agent_memory.calls import function
real = function.record_maker
def careless(kind, columns):
    print("careless")
    return real(kind, columns)
function.record_maker = careless
sys.argv = ["agent-memory", "mcp", "--user", "ana"]
runpy.run_module("agent_memory.cli", None, "__main__")
"""
    with subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "AGENT_MEMORY_DSN": dsn},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        watchdog = threading.Timer(180, process.kill)
        watchdog.start()
        introduction = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        _write(process, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": introduction}))
        _write(process, json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "agent-memory"
        yield process
        watchdog.cancel()
        process.kill()


def _write(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()


def test_stdout_has_nothing_but_the_protocol_and_the_end_of_stdin_ends_the_server(raw: subprocess.Popen[str]) -> None:
    call = {"name": "search", "arguments": {"query": "tea"}}
    for line in ("this is no JSON", "", '{"jsonrpc": "2.0"}', "[" * 10_000):
        _write(raw, line)
    _write(raw, json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}))
    assert raw.stdout is not None
    answers: list[Any] = []
    while 2 not in [answer.get("id") for answer in answers]:
        answers.append(json.loads(raw.stdout.readline()))
    assert json.loads(answers[-1]["result"]["content"][0]["text"])["results"] == []
    rest, log = raw.communicate(timeout=PATIENCE)
    assert rest == ""
    assert raw.returncode == 0
    assert "careless" in log
    assert log.count("WARNING searching by keyword only") == 1
    assert "Traceback" not in log


def test_sigterm_ends_a_server_that_waits_for_its_host(raw: subprocess.Popen[str]) -> None:
    raw.send_signal(signal.SIGTERM)
    assert raw.wait(PATIENCE) == 0


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ([], "Error: --user: is missing\nHint: Run: agent-memory mcp --user"),
        (["--user", " "], "Error: --user: must not be empty"),
        (["--http"], "Error: --user: is missing, and there are no tokens that name users"),
        (["--http", "--user", "ana", "--host", "0.0.0.0"], "Error: host: 0.0.0.0 is reached by other machines"),
    ],
)
def test_a_wrong_start_is_refused(capfd: pytest.CaptureFixture[str], options: list[str], error: str) -> None:
    with pytest.raises(SystemExit):
        app(["mcp", "--dsn", "host=/nonexistent", *options])
    out, said = capfd.readouterr()
    assert said.startswith(error)
    assert out == ""


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent_memory._extras.find_spec", lambda _: None)
    with pytest.raises(SystemExit):
        app(["mcp", "--user", "ana"])
    assert capfd.readouterr().err.splitlines() == [
        "Error: MCP needs the packages mcp, mcp-types",
        "Hint: Run: pip install 'pg-agent-memory[mcp]' (in a clone: pip install '.[mcp]')",
    ]
    with pytest.raises(SystemExit):
        app(["serve", "--dsn", "host=/nonexistent"])
    assert "pip install 'pg-agent-memory[server]'" in capfd.readouterr().err


def test_a_database_that_is_not_there_is_told_by_the_first_call(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w+") as log:
        with over_stdio(stdio_server("host=127.0.0.1 port=1", "--user", "ana"), mode="legacy", log=log) as host:
            refused = host.refused("search", query="tea")
        assert "refused" in refused
        assert "Hint: Start the server there" in refused
        log.seek(0)
        assert "Start the server there" in log.read()


def test_a_host_that_leaves_at_once_leaves_no_warning(dsn: str) -> None:
    command = [sys.executable, "-m", "agent_memory.cli", "mcp", "--user", "ana"]
    environment = {**os.environ, "AGENT_MEMORY_DSN": dsn}
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""

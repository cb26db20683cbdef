"""Claude's memory tool: the same commands do and say the same on files of the package's own tool and on ours."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest
from agent_memory import AsyncMemory, Memory
from agent_memory.adapters.anthropic import AsyncMemoryTool, MemoryTool
from anthropic import Anthropic
from anthropic.lib.tools import ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool

pytestmark = pytest.mark.feature("F36")

NOTES = "/memories/notes.txt"
TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
CREATED = {"command": "create", "path": NOTES, "file_text": TEXT}
PLAN = {"command": "create", "path": "/memories/a/b/plan.md", "file_text": "x" * 1536}


def view(path: str, *view_range: int) -> dict[str, Any]:
    return {"command": "view", "path": path, **({"view_range": list(view_range)} if view_range else {})}


def create(path: str, file_text: str = "a\n") -> dict[str, Any]:
    return {"command": "create", "path": path, "file_text": file_text}


def replace(old_str: str, new_str: str, path: str = NOTES) -> dict[str, Any]:
    return {"command": "str_replace", "path": path, "old_str": old_str, "new_str": new_str}


def insert(insert_line: int, insert_text: str, path: str = NOTES) -> dict[str, Any]:
    return {"command": "insert", "path": path, "insert_line": insert_line, "insert_text": insert_text}


def delete(path: str) -> dict[str, Any]:
    return {"command": "delete", "path": path}


def rename(old_path: str, new_path: str) -> dict[str, Any]:
    return {"command": "rename", "old_path": old_path, "new_path": new_path}


def said(tool: Any, command: dict[str, Any]) -> tuple[bool, str]:
    """Whether the command failed, and what Claude reads. A directory has another size on disk."""
    try:
        failed, text = False, tool.call(command)
    except ToolError as error:
        failed, text = True, str(error.content)
    return failed, re.sub(r"^\S+\t(?=\S*(/|/memories|/[abc])$)", "*\t", text, flags=re.MULTILINE)


SCENES = [
        [view("/memories"), view("/memories/none"), view("/etc/passwd"), view("/memories/../../etc/passwd")],
        [CREATED, CREATED, view(NOTES), view("/memories")],
        [CREATED, view(NOTES, 2, 3), view(NOTES, 6, -1), view(NOTES, 0, 2), view(NOTES, 9, 12)],
        [create(NOTES, ""), view(NOTES), insert(0, "first\n"), view(NOTES), replace("first\n", ""), view(NOTES)],
        [create(NOTES, "\n"), view(NOTES), insert(1, "second"), view(NOTES)],
        [create(NOTES, "one\n\n"), insert(1, "more\n\n"), view(NOTES), insert(9, "x"), insert(-1, "x")],
        [create(NOTES, "no end"), insert(1, "the end"), view(NOTES), replace("the end", "a\r\nb"), view(NOTES)],
        [CREATED, replace("four", "4\n4"), view(NOTES), replace("seven\n", "7"), view(NOTES), replace("one", "")],
        [CREATED, replace("e\n", "x"), replace("none", "x"), replace("x", "y", "/memories/none"), view(NOTES)],
        [CREATED, replace("\nt", "x"), insert(0, "x", "/memories/none"), PLAN, insert(0, "x", "/memories/a")],
        [PLAN, replace("x", "y", "/memories/a/b"), view("/memories"), view("/memories/a"), view("/memories/a/b")],
        [PLAN, create("/memories/a/.hidden"), create("/memories/.git/config"), view("/memories"), view("/memories/a")],
        [PLAN, create("/memories/a.txt", "é"), create("/memories/B.txt"), create("/memories/a/z"), view("/memories")],
        [CREATED, delete(NOTES), delete(NOTES), delete("/memories"), PLAN, delete("/memories/a"), view("/memories/a")],
        [CREATED, rename(NOTES, "/memories/n"), view("/memories/n"), view(NOTES), rename(NOTES, "/memories/n")],
        [PLAN, rename("/memories/a", "/memories/c/d"), view("/memories/c"), rename("/memories", "/memories/x")],
        [CREATED, PLAN, rename("/memories/a", NOTES), rename("/memories/none", "/memories/y"), create("/memories/a")],
        [create("/memories//x/./y.txt"), view("/memories/x/y.txt"), create("/memories/x%_y"), delete("/memories/x_y")],
]  # fmt: skip


def test_commands_do_and_say_what_the_packages_own_tool_does(stored: Memory, tmp_path: Path) -> None:
    for number, commands in enumerate(SCENES):
        ours = MemoryTool(stored, f"user {number}")
        theirs = BetaLocalFilesystemMemoryTool(str(tmp_path / str(number)))
        for command in commands:
            assert said(ours, command) == said(theirs, command), command


TOLD = [
    (view("/memories/../memories/x"), "would escape /memories directory"),
    (create("/memories/a\nb"), "no control characters"),
    (rename(NOTES, "/memories/notes.txt/x"), "is inside of a file"),
    (view(NOTES, 1), "view_range"),
    ({"command": "create", "path": "/memories/x"}, "file_text: is missing"),
]


def test_what_files_on_disk_would_not_say_well_is_an_answer_too(stored: Memory) -> None:
    tool = MemoryTool(stored, "ana")
    tool.call(CREATED)
    for command, told in TOLD:
        with pytest.raises(ToolError, match=re.escape(told)):
            tool.call(command)
    assert stored.list_documents("ana")[0].content == TEXT


def test_files_belong_to_the_user_and_search_finds_them(stored: Memory) -> None:
    MemoryTool(stored, "ana").call(create(NOTES, "Prefers trains over planes."))
    assert said(MemoryTool(stored, "bob"), view(NOTES))[0]
    [document] = stored.list_documents("ana", namespace="/memories")
    assert (document.title, document.doc_type, round(document.trust, 1)) == (NOTES, "file", 0.8)
    [found] = stored.search("ana", "trains", mode="keyword", sources=["document"])
    assert found.id == str(document.document_id)
    assert MemoryTool(stored, "ana").clear_all_memory() == "All memory cleared"
    assert stored.list_documents("ana") == []


def test_the_asynchronous_tool_does_the_same(dsn: str) -> None:
    async def keep() -> Any:
        async with AsyncMemory(dsn) as memory:
            tool = AsyncMemoryTool(memory, "ana", cache_control={"type": "ephemeral"})
            assert tool.to_dict()["cache_control"] == {"type": "ephemeral"}
            await tool.call(create(NOTES, "Tea\n"))
            with pytest.raises(ToolError, match=f"File {NOTES} already exists"):
                await tool.call(create(NOTES))
            shown = await tool.call(view(NOTES))
            await tool.clear_all_memory()
            return shown, await memory.list_documents("ana")

    assert asyncio.run(keep()) == (f"Here's the content of {NOTES} with line numbers:\n     1\tTea\n     2\t", [])


def test_claude_keeps_notes_while_a_runner_goes_on(stored: Memory) -> None:
    requests: list[Any] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        content: list[dict[str, Any]] = [{"type": "text", "text": "Noted."}]
        if len(requests) == 1:
            content = [{"type": "tool_use", "id": "t1", "name": "memory", "input": create(NOTES, "Prefers trains.")}]
        reason = "tool_use" if len(requests) == 1 else "end_turn"
        return httpx2.Response(200, json={
            "id": "m", "type": "message", "role": "assistant", "model": "claude", "content": content,
            "stop_reason": reason, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        })  # fmt: skip

    with httpx2.Client(transport=httpx2.MockTransport(answer)) as http:
        client = Anthropic(api_key="k", base_url="http://claude", http_client=http)
        runner = client.beta.messages.tool_runner(
            model="claude", max_tokens=100, tools=[MemoryTool(stored, "ana")],
            messages=[{"role": "user", "content": "I prefer trains."}],
        )  # fmt: skip
        assert runner.until_done().content[0].text == "Noted."  # type: ignore[union-attr]
    assert b"memory_20250818" in requests[0].content
    assert b"File created successfully at: /memories/notes.txt" in requests[1].content
    assert stored.list_documents("ana")[0].content == "Prefers trains."

"""Long texts go through the client and the commands in pieces, in constant memory."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory import AsyncMemory, Memory
from agent_memory.calls.pieces import PIECE
from agent_memory.errors import ConflictError, InvalidValueError, NotFoundError

LINES = "".join(f"{number}: Größe 80 °C ☕\n" for number in range(120_000))
"""Three pieces."""


class FailingError(Exception):
    """The source of a text breaks off."""


def in_bytes(size: int) -> Iterator[bytes]:
    """In blocks whose ends cut characters."""
    content = LINES.encode()
    for start in range(0, len(content), size):
        yield content[start : start + size]


@pytest.mark.feature("C3", "C5")
def test_a_long_text_comes_from_anywhere(db: psycopg.Connection, tmp_path: Path) -> None:
    memory = Memory(db)
    path = tmp_path / "build.log"
    path.write_bytes(b"\xef\xbb\xbf" + LINES.encode())
    sources: dict[str, Any] = {
        "text": LINES, "path": path, "bytes": in_bytes(70_001), "file": io.BytesIO(LINES.encode()),
        "mixed": [LINES[:5], LINES[5:9].encode(), "", LINES[9:]],
    }  # fmt: skip
    for key, source in sources.items():
        stored = memory.store_artifact("ana", source, key=key)
        assert stored.token_count == (len(LINES.encode()) + 3) // 4
        pieces = list(memory.artifact_pieces("ana", key))
        assert "".join(pieces) == LINES, key
        assert len(pieces) > 2
        assert all(len(piece.encode()) <= PIECE + 4 for piece in pieces)
    assert memory.store_artifact("ana", ["Te", b"a"], key="short").token_count == 1
    assert db.execute("select count(*) from memory.artifact_uploads").fetchone() == (0,)
    assert memory.store_artifact("ana", in_bytes(10**6), key="text").key == "text"
    with pytest.raises(ConflictError):
        memory.store_artifact("ana", [LINES, "!"], key="text")
    with pytest.raises(NotFoundError):
        list(memory.artifact_pieces("bob", "text"))


@pytest.mark.feature("C3", "C5")
def test_the_asynchronous_client_takes_and_gives_pieces(dsn: str, tmp_path: Path) -> None:
    async def source() -> AsyncIterator[bytes]:
        for block in in_bytes(100_000):
            yield block

    async def run() -> None:
        path = tmp_path / "log"
        path.write_text(LINES)
        async with AsyncMemory(dsn) as memory:
            await memory.store_artifact("ana", source(), key="async")
            await memory.store_artifact("ana", path, key="path")
            for key in ("async", "path"):
                assert "".join([piece async for piece in memory.artifact_pieces("ana", key)]) == LINES

    asyncio.run(run())


@pytest.mark.feature("C3")
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"bytes", "content must be text, a path, or an iterable of text or bytes, not bytes"),
        ([5], "a part of content must be text or bytes, not int"),
        ([b"ab", b"c\xff"], "content is not UTF-8: invalid start byte at byte 3"),
        ([b"a" * (PIECE + 5), b"\xe2", b"("], f"content is not UTF-8: invalid continuation byte at byte {PIECE + 5}"),
        (["a\0"], "content contains a NUL character"),
    ],
)
def test_what_is_no_text_is_refused(db: psycopg.Connection, content: object, said: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        Memory(db).store_artifact("ana", content)  # type: ignore[arg-type]
    assert refused.value.message.startswith(said)
    assert Memory(db).list_artifacts("ana") == []


@pytest.mark.feature("C3")
def test_nobody_sees_a_text_whose_source_breaks_off(db: psycopg.Connection) -> None:
    def source() -> Iterator[str]:
        yield LINES
        raise FailingError

    memory = Memory(db)
    with pytest.raises(FailingError):
        memory.store_artifact("ana", source(), key="log")
    assert memory.list_artifacts("ana") == []
    db.execute("update memory.artifact_uploads set updated_at = now() - interval '25 hours'")
    memory.admin.sweep()
    assert db.execute("select count(*) from memory.artifact_parts").fetchone() == (0,)


@pytest.mark.feature("C5")
def test_the_commands_hold_a_piece_at_a_time(dsn: str, db: psycopg.Connection, tmp_path: Path) -> None:
    source, target = tmp_path / "in.log", tmp_path / "out.log"
    source.write_text("A line of a log that is 40 bytes long.\r\n" * 750_000)  # 30 MB
    program = """
from agent_memory.cli.app import app
try:
    app()
finally:
    import re, sys
    sys.stderr.write(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""

    def peak(*arguments: object) -> int:
        """Run a command from and to the files; the MB that its process had at most."""
        with source.open("rb") as stdin, target.open("wb") as stdout:
            command = [sys.executable, "-c", program, "artifacts", *map(str, arguments)]
            env = {**os.environ, "AGENT_MEMORY_DSN": dsn}
            result = subprocess.run(command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, env=env, check=True)
        return int(result.stderr) // 1000

    least = peak("list", "ana")
    assert peak("store", "ana", source, "--key", "file") < least + 25
    assert peak("store", "ana", "-", "--key", "stdin") < least + 25
    assert db.execute("select count(distinct content_id) from memory.artifact_parts").fetchone() == (2,)
    assert peak("show", "ana", "stdin") < least + 25
    assert target.stat().st_size == source.stat().st_size
    assert subprocess.run(["cmp", source, target], check=False).returncode == 0

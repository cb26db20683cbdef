"""Descriptions by rule of what programs really write, made where the tests run."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.artifacts.offload.steps import say
from tests.support.sqlapi import Api

C = "int main(){int unused; return x;}\n"
TRACE = "import logging\nlogging.warning('slow')\ndef f(n):\n  return f(n-1) if n else int('x')\nf(40)\n"
TESTS = """
import unittest
class T(unittest.TestCase):
    def test_a(self): self.assertEqual(1, 1)
    def test_b(self): self.assertEqual(1, 2)
"""
ERRORS = "2026-05-01 12:00:00 INFO started\n" * 50 + "2026-05-01 12:00:01 ERROR disk is full\n" * 2


def described(api: Api, content: str, **metadata: Any) -> str:
    ref: str = api.store_artifact(user_id="ana", content=content, key="k", metadata=metadata).memory_ref
    [text] = re.findall(r"^\[MemoryRef: k - (.*) - \d+ tokens\]$", ref)
    return str(text)


def ran(folder: Path, *command: str) -> tuple[str, dict[str, Any]]:
    """What a command writes, and the metadata of its message."""
    (folder / "Makefile").write_text("all: a.o\na.o: a.c\n\tcc -Wall -c a.c\n", encoding="utf-8")
    (folder / "a.c").write_text(C, encoding="utf-8")
    (folder / "trace.py").write_text(TRACE, encoding="utf-8")
    (folder / "test_x.py").write_text(TESTS, encoding="utf-8")
    # A make that runs these tests tells its level to the one started here, which then calls itself make[1].
    inherited = {name: value for name, value in os.environ.items() if name not in ("MAKELEVEL", "MAKEFLAGS", "MFLAGS")}
    # The plugins that are installed here would take a second to import.
    environment = {**inherited, "LC_ALL": "C", "GIT_CONFIG_GLOBAL": "/dev/null", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=folder, env=environment, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    said = " ".join([Path(command[0]).name, *command[1:]])
    return done.stdout, {"command": said, "exit_status": done.returncode}


COMMANDS = {
    "make": (["make"], r"make, failed with 2, make: \*\*\* \(Makefile:3: a.o\) Error 1, 1 error, 1 warning, \d+ lines"),
    "Python": (
        [sys.executable, "trace.py"],
        r"python\S* trace.py, failed with 1, Python traceback: ValueError: invalid literal for int\(\) with base 10:"
        r" 'x', 1 warning, \d+ lines",
    ),
    "pytest": (
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_x.py"],
        r"python\S* .*, failed with 1, 1 failed, 1 passed in [\d.]+s, first: test_x.py::T::test_b",
    ),
    "git diff": (["git", "diff", "--no-index", "a.c", "trace.py"], r"git diff .*, diff of 1 file \(\+5 -1\): trace.py"),
}  # fmt: skip


@pytest.mark.feature("C4")
@pytest.mark.parametrize("case", COMMANDS)
def test_what_a_command_writes_is_described(api: Api, tmp_path: Path, case: str) -> None:
    command, expected = COMMANDS[case]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    if case == "make" and shutil.which("cc") is None:
        pytest.skip("cc is not installed")
    content, metadata = ran(tmp_path, *command)
    assert re.fullmatch(expected, described(api, content, **metadata)), described(api, content, **metadata)


def table() -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["id", "name", "email"])
    writer.writerows([number, f"Name, {number}", "a@b.org"] for number in range(1200))
    return out.getvalue()


TEXTS: dict[str, tuple[Callable[[], str], str]] = {
    "a reply of an API": (
        lambda: json.dumps({"total": 30, "items": [{"id": number} for number in range(30)]}, indent=1),
        "JSON object: total, items (30)",
    ),
    "a reply that was cut off": (
        lambda: '{"total": 30, "items": [{"id": 1, "name": "x"}, ' + '{"id": 2}, ' * 300 + '{"i',
        "broken JSON of 3 kB: total, items, id, name",
    ),
    "a long reply": (
        lambda: json.dumps({"items": [{"id": number} for number in range(250_000)]}),
        "JSON of 3.9 MB: items, id",
    ),
    "lines of JSON": (lambda: '{"ts": 1, "level": "info"}\n' * 100, "JSON lines, 100 objects: ts, level"),
    "a long table": (
        lambda: "id,name\n" + "1,Ana Maria\n" * 123_456, "CSV, about 120,000 rows: id, name",
    ),
    "a table": (table, "CSV, 1,200 rows: id, name, email"),
    "a web page": (lambda: "<!doctype html>\n<html><head><title>Tea</title></head></html>", 'web page "Tea"'),
    "a web page without a title": (lambda: "<!doctype html>\n<html><body>Tea</body></html>", "web page"),
    "an image": (
        lambda: base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 20).decode(),
        "PNG image in base64, 5 kB",
    ),
    "bytes": (lambda: bytes(range(1, 256)).decode(errors="replace") * 9, "binary data read as text, 5 kB"),
    "a trace of Java": (
        lambda: "ERROR x\njava.lang.IllegalStateException: closed\n\tat a.B.c(B.java:1)\n\tat a.D.e(D.java:2)\n",
        "stack trace: java.lang.IllegalStateException: closed, 4 lines",
    ),
    "errors in a log": (lambda: ERRORS, "2 errors: 2026-05-01 12:00:01 ERROR disk is full, 52 lines"),
    "prose": (lambda: "# Title\n\n" + "Some words, more words.\n" * 80, "# Title, 82 lines"),
}  # fmt: skip


@pytest.mark.feature("C4")
@pytest.mark.parametrize("case", TEXTS)
def test_the_result_of_a_tool_is_described(api: Api, case: str) -> None:
    make, expected = TEXTS[case]
    assert described(api, make(), tool="fetch") == f"fetch, {expected}"


@pytest.mark.feature("C4")
@pytest.mark.parametrize("line", ["a,b,c", '{"a":1}', "    File x"])
def test_ten_megabytes_are_described_in_bounded_time(api: Api, line: str) -> None:
    content = f"{line}\n" * (10_400_000 // (len(line) + 1))
    for text in (content, (line * (10_400_000 // len(line)))[:10_400_000]):
        with api.at_most(cpu_seconds=5):
            assert say(api, text).memory_ref

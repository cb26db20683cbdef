"""Descriptions by rule of what programs write."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.artifacts.offload.steps import say
from tests.support.sqlapi import Api

ERRORS = "2026-05-01 12:00:00 INFO started\n" * 50 + "2026-05-01 12:00:01 ERROR disk is full\n" * 2


def described(api: Api, content: str, **metadata: Any) -> str:
    ref: str = api.store_artifact(user_id="ana", content=content, key="k", metadata=metadata).memory_ref
    [text] = re.findall(r"^\[MemoryRef: k - (.*) - \d+ tokens\]$", ref)
    return str(text)


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
    "a trace of Python": (
        lambda: "Traceback (most recent call last):\n  File 'a.py', line 1\nValueError: no number: 'x'\n",
        "Python traceback: ValueError: no number: 'x', 3 lines",
    ),
    "tests": (
        lambda: ".F\nFAILED test_x.py::test_b - assert 1 == 2\n1 failed, 1 passed in 0.12s\n",
        "1 failed, 1 passed in 0.12s, first: test_x.py::test_b",
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

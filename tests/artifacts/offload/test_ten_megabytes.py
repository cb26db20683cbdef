"""An output of 10 MB is kept whole, found by what stands in its middle, read in slices, and costs little to add."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tests.artifacts.offload.steps import content_of, say
from tests.support.sqlapi import Api

BYTES = 10_000_000
ROUNDS = 5
MOST = 3.5
"""Bare inserts for which an output may be added. On 2026-11-27 these were 2.0 (log), 2.3 (reply) and 2.8 (data)."""


def log() -> str:
    lines = (f"INFO worker {number % 7} has fetched item {number}\n" for number in range(220_000))
    text = "".join(lines)[:BYTES]
    return f"{text[: BYTES // 2]}\nthe zebra is loose\n{text[BYTES // 2 :]}"


def reply() -> str:
    items = [{"id": number, "name": f"item {number}", "url": "https://example.org/ana"} for number in range(120_000)]
    return json.dumps({"total": 120_000, "items": items}, indent=1)[:BYTES]


def data() -> str:
    return base64.b64encode(random.Random(1).randbytes(BYTES * 3 // 4)).decode()


@pytest.mark.feature("C2", "C5", "C6", "C16")
def test_an_output_of_ten_megabytes_is_found_and_read(api: Api) -> None:
    content = log()
    stored = say(api, content)
    assert stored.content == f"Command 'npm install' ran. Output: {stored.memory_ref}. Exit status 0."
    while api.finish_jobs():
        pass
    [first, *_] = api.search(user_id="ana", query="zebra loose", sources=["artifact"], mode="keyword")
    assert "the zebra is loose" in first.content
    assert "the zebra is loose" in api.retrieve_artifact(user_id="ana", key="npm-install", grep="zebra")

    def slices() -> Iterator[str]:
        at = 0
        while piece := api.retrieve_artifact(user_id="ana", key="npm-install", from_token=at, max_tokens=300_000):
            yield piece
            at += 300_000

    assert "".join(slices()) == content == content_of(api, stored.memory_ref)


@pytest.mark.feature("C2")
@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="only Linux tells the time of a processor")
@pytest.mark.parametrize("make", [log, reply, data])
def test_an_output_of_ten_megabytes_costs_a_few_bare_inserts(
    connect: Callable[..., psycopg.Connection], make: Callable[[], str]
) -> None:
    api = Api(connect())
    api.connection.execute("create table bare (user_id text, content text)")
    content = make()

    def insert(number: int) -> None:
        api.connection.execute("insert into bare values (%s, %s)", [f"t{number}", content])

    def add(number: int) -> None:
        assert say(api, content, thread_id=f"t{number}").memory_ref

    # Time of the processor, because what else runs there changes the time on the clock threefold. The least of all
    # rounds, because what else runs there also takes the processor's caches.
    took: dict[Callable[[int], None], list[int]] = {insert: [], add: []}
    for number in range(ROUNDS):
        for write in (insert, add) if number % 2 else (add, insert):
            before = processor_time(api)
            write(number)
            took[write].append(processor_time(api) - before)
    assert min(took[add]) <= MOST * min(took[insert])


def processor_time(api: Api) -> int:
    """Nanoseconds that the backend of this connection has run."""
    return int(Path(f"/proc/{api.connection.info.backend_pid}/schedstat").read_text(encoding="ascii").split()[0])

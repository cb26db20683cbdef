"""An output of 10 MB is kept whole, found by what stands in its middle, read in slices, and costs little to add."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.artifacts.offload.steps import content_of, say
from tests.support.sqlapi import Api

BYTES = 10_000_000


def log() -> str:
    lines = (f"INFO worker {number % 7} has fetched item {number}\n" for number in range(220_000))
    text = "".join(lines)[:BYTES]
    return f"{text[: BYTES // 2]}\nthe zebra is loose\n{text[BYTES // 2 :]}"


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

"""Replies that are compressed: unpacked up to the limit and no further, and only what was asked for."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from typing import Any

import pytest
from agent_memory_models import ModelError

from tests.model_package.openai.steps import chat, every_kind
from tests.support.fake_model_server import Behaviour, FakeModelServer
from tests.support.model_payloads import Json, run

ZEROS = gzip.compress(b"\0" * (200 << 20), 1, mtime=0)
"""0.9 MB of 200 MiB, without the time: the length of ZEROS packed again would depend on it, and so would test names."""
_OPENED = zlib.compressobj(wbits=31)
ENDLESS = _OPENED.compress(b"{") + _OPENED.flush(zlib.Z_FULL_FLUSH) + b"\0\0\0\xff\xff" * (10 << 20)
"""One character, and 50 MiB of blocks that are empty."""


@pytest.mark.feature("F20")
@pytest.mark.parametrize("kind", ["extract_memories", "embed"])
def test_a_packed_reply_is_read(fake: FakeModelServer, kind: str) -> None:
    fake.behaviour = Behaviour(packed=("gzip", gzip.compress))
    calls: list[Json] = []
    run(kind, every_kind(chat(fake))[kind], calls)
    assert calls
    assert not any(call["error"] for call in calls)
    assert {request.headers["accept-encoding"] for request in fake.requests} == {"gzip"}


@pytest.mark.feature("F20")
@pytest.mark.parametrize(
    ("kind", "encoding", "body", "said"),
    [
        ("embed", "gzip", ZEROS, "larger than"),
        ("extract_memories", "gzip,gzip", gzip.compress(ZEROS, mtime=0), "compressed in a way"),
        ("extract_memories", "br", b"x", "compressed in a way"),
        ("extract_memories", "gzip", gzip.compress(b"{}") + b"x" * (50 << 20), "goes on after the end"),
        ("extract_memories", "gzip", ENDLESS, "larger than"),
    ],
    ids=lambda each: each if isinstance(each, str) else f"{len(each)} bytes",
)
def test_a_reply_takes_no_more_memory_than_its_limit(
    fake: FakeModelServer, kind: str, encoding: str, body: bytes, said: str
) -> None:
    fake.behaviour = Behaviour(packed=(encoding, lambda _: body))
    calls: list[Any] = []
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match=said):
            run(kind, every_kind(chat(fake))[kind], calls)
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()

"""Lists of texts and bytes, which a client sends as binary arrays."""

from collections.abc import Callable

import psycopg
import pytest
from agent_memory import Memory


@pytest.mark.parametrize("encoding", ["utf8", "latin1"])
def test_lists_come_back_as_they_were(connect: Callable[..., psycopg.Connection], encoding: str) -> None:
    memory = Memory(connect(client_encoding=encoding))
    channels, types, blobs = ["a", "b", "c"], ["é", "", 'a "{b}", \\'], [b"\0\xff", b"", b"x" * 10000]
    memory.put_checkpoint(
        "ana",
        "t",
        "1",
        {"channel_versions": dict.fromkeys(channels, "1")},
        {},
        "",
        None,
        channels,
        ["1"] * 3,
        types,
        blobs,
    )
    memory.put_checkpoint("ana", "t", "0", {}, {}, "", None, [], [], [], [])
    found, empty = memory.list_checkpoints("ana", "t")
    assert (found.channels, found.types, found.blobs) == (channels, types, blobs)
    assert empty.channels is None

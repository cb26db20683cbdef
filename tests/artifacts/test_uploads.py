"""Long texts that are sent in pieces."""

from __future__ import annotations

import random
import uuid

import pytest

from tests.artifacts.steps import embed, found, listed, read, store
from tests.support.protocol import activate
from tests.support.runners import PATIENCE
from tests.support.sessions import Sessions
from tests.support.sqlapi import Api, refused

PARTS = "select first_byte, first_line, content from memory.artifact_parts order by content_id, first_byte"
LONG = "".join(random.Random(5).choices(["word ", "é", "☕", "𝒳\n", "line of a log\n", "x" * 700], k=6000))


def send(api: Api, text: str, size: int, user_id: str = "ana") -> str:
    upload_id = None
    for start in range(0, len(text), size):
        piece = {"user_id": user_id, "content": text[start : start + size]}
        upload_id = str(api.add_artifact_piece(**piece, **({"upload_id": upload_id} if upload_id else {})))
    assert upload_id
    return upload_id


@pytest.mark.feature("C3", "C5", "C16")
@pytest.mark.parametrize("size", [999, 70_000])
def test_pieces_of_any_length_make_the_same_artifact(api: Api, size: int) -> None:
    text = LONG[: 300 * size]
    stored = store(api, None, key="log", upload_id=send(api, text, size), metadata={"command": "make"})
    parts = api.query(PARTS)
    assert read(api, "log") == text
    assert stored.token_count == (len(text.encode()) + 3) // 4
    assert api.query("select from memory.artifact_uploads") == []
    api.delete_artifact(user_id="ana", key="log")
    assert store(api, text, key="log", metadata={"command": "make"}) == stored
    assert api.query(PARTS) == parts


@pytest.mark.feature("C3")
def test_nobody_sees_an_upload_before_it_is_stored(api: Api) -> None:
    activate(api, "ada", "embedding")
    upload_id = send(api, "All about the kite.\n" * 500, 1000)
    api.sweep()
    assert (listed(api), found(api, "kite"), embed(api)) == ([], [], [])
    with refused("key", "P0002"):
        read(api, upload_id)
    with refused("upload_id", "P0002"):
        store(api, None, upload_id=upload_id, user_id="bob")
    with refused("upload_id", "P0002"):
        api.add_artifact_piece(user_id="bob", content="x", upload_id=upload_id)
    stored = store(api, None, upload_id=upload_id)
    assert stored.key.startswith("all-about-the-kite-")
    assert found(api, "kite") == [stored.key]
    with refused("upload_id", "P0002"):
        store(api, None, upload_id=upload_id)


@pytest.mark.feature("C3", "B6")
def test_an_upload_is_swept_a_day_after_its_last_piece(api: Api) -> None:
    old, new = send(api, LONG, 10_000), send(api, "new", 10)
    api.connection.execute(
        "update memory.artifact_uploads set updated_at = now() - interval '25 hours' where upload_id = %s", [old]
    )
    api.sweep()
    assert api.query("select distinct content_id from memory.artifact_parts") == [(uuid.UUID(new),)]
    with refused("upload_id", "P0002"):
        api.add_artifact_piece(user_id="ana", content="x", upload_id=old)
    store(api, None, upload_id=new)


@pytest.mark.feature("C3")
def test_an_upload_under_a_used_key_is_the_same_content_or_refused(api: Api) -> None:
    first = store(api, LONG, key="log")
    assert store(api, None, key="log", upload_id=send(api, LONG, 50_000)) == first
    assert api.value("select count(distinct content_id) from memory.artifact_parts") == 1
    other = send(api, LONG + "!", 50_000)
    with refused("key", "23505"):
        store(api, None, key="log", upload_id=other)
    assert read(api, "log") == LONG
    assert store(api, None, key="other", upload_id=other).key == "other"  # nothing that was sent is lost
    assert read(api, "other") == LONG + "!"


@pytest.mark.feature("C3")
def test_an_upload_is_described_by_its_beginning(api: Api) -> None:
    for text, described in (("Total: 3\n" + LONG, "Total: 3"), ('{"name": 1}', "JSON object: name")):
        assert f" - {described} - " in store(api, None, upload_id=send(api, text, 100_000)).memory_ref
    with refused("content"):
        store(api, None, upload_id=send(api, " \n" * 5000, 1000))
    with refused("upload_id"):
        store(api, "x", upload_id=send(api, "x", 1))


@pytest.mark.feature("C3")
def test_no_upload_grows_above_the_limit(api: Api) -> None:
    api.connection.execute(
        "create or replace function memory._max_file_bytes() returns int language sql immutable as 'select 100000'"
    )
    upload_id = send(api, "x" * 99_000, 10_000)
    with refused("content", "54000"):
        api.add_artifact_piece(user_id="ana", content="x" * 1001, upload_id=upload_id)
    api.add_artifact_piece(user_id="ana", content="x" * 1000, upload_id=upload_id)
    assert store(api, None, upload_id=upload_id).token_count == 25_000
    with refused("content", "54000"):
        store(api, "x" * 100_001)


@pytest.mark.feature("C3", "E14")
def test_two_pieces_that_come_at_once_follow_each_other(sessions: Sessions) -> None:
    first = sessions.api
    upload_id = send(first, "begin\n", 100)
    with first.connection.transaction():
        first.add_artifact_piece(user_id="ana", content="one\n", upload_id=upload_id)
        waiting = sessions.start("add_artifact_piece", user_id="ana", content="two\n", upload_id=upload_id)
        assert not waiting.done()
    waiting.result(PATIENCE)
    assert read(first, store(first, None, upload_id=upload_id).key) == "begin\none\ntwo\n"

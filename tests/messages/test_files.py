"""Pictures and other files among the parts of a message."""

from __future__ import annotations

import base64
import random
import struct
from typing import Any

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from tests.messages.steps import ANA, add
from tests.support.sqlapi import Api

BYTES = random.Random(7)


def picture(size: int) -> str:
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + BYTES.randbytes(size)).decode()


def file(size: int) -> str:
    return base64.b64encode(b"%PDF-1.7\n" + BYTES.randbytes(size)).decode()


def image_part(data: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


def file_part(data: str) -> dict[str, Any]:
    return {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{data}"}}


def say(api: Api, *parts: dict[str, Any], **members: Any) -> Any:
    return api.add_messages(**ANA, messages=[{"role": "user", "content": list(parts), **members}])[0]


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


@pytest.mark.parametrize("count", [1, 2], ids=["alone", "among others"])
def test_a_photo_of_3_mb_comes_back_as_it_was_passed(api: Api, count: int) -> None:
    parts = [text("Who is this?"), image_part(picture(3_000_000))]
    api.add_messages(**ANA, messages=[{"role": "user", "content": parts}] * count)
    for message in api.get_messages(**ANA):
        assert (message.content, message.metadata) == ("Who is this?", {"content": parts})
    [*_, shown] = api.get_context(**ANA)
    assert shown.metadata == {"content": parts, "cache": "thread"}


def test_one_photo_stands_once_however_often_the_message_has_it(api: Api) -> None:
    data = picture(200_000)
    metadata = {"langchain": {"data": {"content": [{"type": "image", "data": data}]}}, "shown": data}
    say(api, image_part(data), image_part(data), metadata=metadata)
    [message] = api.get_messages(**ANA)
    assert message.metadata == {"content": [image_part(data)] * 2, **metadata}
    stored = "select octet_length(metadata::text), octet_length(files::text) from memory.messages"
    beside, files = api.connection.execute(stored).fetchone()  # type: ignore[misc]
    assert (beside < 1500, len(data) <= files < len(data) + 100) == (True, True)


@pytest.mark.parametrize(
    "parts",
    [
        [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture(9000)}}],
        [text("[File 1: image/png in base64, 9 kB, 1105 tokens]"), image_part(picture(9000))],
        [image_part(picture(9000)), image_part(picture(9000)), file_part(file(30_000))],
        [{"type": "image", "data": f'data:text/plain;base64,{"QUJD" * 20}\n"\\\u00e9'}],
    ],
    ids=["bare base64", "a text like a tag", "several", "other characters"],
)
def test_parts_come_back_as_they_were_passed(api: Api, parts: list[dict[str, Any]]) -> None:
    say(api, *parts)
    assert api.get_messages(**ANA)[0].metadata == {"content": parts}
    assert api.get_messages(**ANA, roles=["user"])[0].metadata == {"content": parts}
    assert api.value("select files is not null from memory.messages")


def test_other_metadata_keeps_its_limit_and_has_no_files(api: Api) -> None:
    with pytest.raises(errors.ProgramLimitExceeded, match="metadata"):
        add(api, metadata=Jsonb({"thumbnail": f"data:image/png;base64,{picture(1_000_000)}"}))
    thumbnail = {"thumbnail": f"data:image/png;base64,{picture(1000)}"}
    assert add(api, "Hi", metadata=Jsonb(thumbnail)).token_count == 1
    assert api.value("select metadata from memory.messages") == thumbnail


def wav(size: int) -> str:
    return base64.b64encode(b"RIFF" + struct.pack("<I", size) + b"WAVEfmt " + BYTES.randbytes(size)).decode()


@pytest.mark.parametrize(
    ("parts", "least", "most"),
    [
        ([image_part(picture(300_000))], 765, 1105),
        ([{"type": "image_url", "image_url": {"url": f"https://example.org/{n}"}} for n in range(3)], 2295, 3315),
        ([image_part(picture(900))], 100, 300),
        ([file_part(file(150_000)) for _ in range(4)], 150_000, 150_400),
        ([{"type": "input_audio", "input_audio": {"data": wav(960_000), "format": "wav"}}], 500, 2000),
    ],
    ids=["picture", "addresses", "icon", "files", "20 seconds"],
)
def test_files_cost_an_estimate_of_tokens(api: Api, parts: list[dict[str, Any]], least: int, most: int) -> None:
    stored = say(api, *parts)
    assert least <= stored.token_count <= most
    assert api.get_messages(**ANA)[0].token_count == stored.token_count
    assert api.value("select active_tokens from memory.threads") == stored.token_count


def test_an_export_has_files_and_an_import_takes_them(api: Api) -> None:
    parts = [text("Look"), image_part(picture(300_000)), file_part(file(30_000))]
    say(api, *parts)
    export = api.export_user(user_id="ana")
    api.import_user(user_id="bo", export=Jsonb(export | {"user_id": "bo"}))
    [message] = api.get_messages(user_id="bo", thread_id="t1")
    assert message.metadata == {"content": parts}


def test_copies_and_merged_users_keep_files(api: Api) -> None:
    parts = [image_part(picture(300_000))]
    for user in ("ana", "bo"):
        api.add_messages(user_id=user, thread_id="t1", messages=[{"role": "user", "content": parts}])
    api.copy_thread(**ANA, new_thread_id="t2")
    api.delete_thread(**ANA)
    api.merge_users(into_user_id="ana", from_user_id="bo")
    for thread_id in ("t1", "t2"):
        assert api.get_messages(user_id="ana", thread_id=thread_id)[0].metadata == {"content": parts}


def test_plain_sql_keeps_files_apart_too(api: Api) -> None:
    first, second = ({"content": [image_part(picture(9000))]} for _ in range(2))
    columns = "user_id, thread_id, role, content, metadata"
    api.connection.execute(
        f"insert into memory.messages ({columns}) values ('ana', 't1', 'user', '', %s)", [Jsonb(first)]
    )
    assert api.get_messages(**ANA)[0].metadata == first
    api.connection.execute("update memory.messages set metadata = metadata || '{\"seen\": true}'")
    assert api.get_messages(**ANA)[0].metadata == first | {"seen": True}
    api.connection.execute("update memory.messages set metadata = metadata || %s", [Jsonb(second)])
    assert api.get_messages(**ANA)[0].metadata == second | {"seen": True}
    assert api.value("select count(*) from memory.messages, jsonb_object_keys(files)") == 1
    api.connection.execute("update memory.messages set metadata = '{}'")
    assert api.value("select files is null from memory.messages")


def test_masks_leave_files_as_they_are(api: Api) -> None:
    api.set_policy(settings={"secrets": {"mask_in_threads": True}, "masking": {"classes": ["email", "phone", "card"]}})
    parts = [text("My key is sk-proj-abcdefghijklmnopqrstuvwx1234567890ABCD"), image_part(picture(40_000))]
    say(api, *parts)
    [message] = api.get_messages(**ANA)
    assert message.metadata["content"][1] == parts[1]
    assert "abcdefghijklmnop" not in message.content + str(message.metadata["content"][0])


def test_a_long_message_with_a_photo_keeps_it(api: Api) -> None:
    part = image_part(picture(40_000))
    said = {"role": "tool", "content": [text("line\n" * 20_000), part], "tool_call_id": "c1"}
    [stored] = api.add_messages(**ANA, messages=[said])
    assert stored.memory_ref is not None
    [message] = api.get_messages(**ANA)
    assert message.metadata["content"][1] == part
    assert "base64" not in str(api.list_artifacts(user_id="ana"))

"""Import and export as lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import psycopg
import pytest

from tests.http.steps import Serving, problem, token
from tests.support.sqlapi import Api

LINES = {"Content-Type": "application/x-ndjson"}


def lines(*messages: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def said(number: int, **more: Any) -> dict[str, Any]:
    return {"role": "user" if number % 2 == 0 else "assistant", "content": f"Message {number} ö\n", **more}


@pytest.mark.feature("B14")
def test_what_is_exported_can_be_imported(served: Serving, newcomer: httpx.Client) -> None:
    sent = [said(n, thread_id="t1", created_at=f"2026-11-20T10:00:{n:02}Z", metadata={"n": n}) for n in range(20)]
    sent += [said(n, thread_id="t2/ö ?") for n in range(3)]
    answer = newcomer.post("/v1/import", content=lines(*sent), headers=LINES)
    assert answer.json() == {"messages": 23, "new": 23, "users": 1, "threads": 2}
    again = newcomer.post("/v1/import", content=lines(*sent), headers=LINES)
    assert again.json()["new"] == 0

    response = newcomer.get("/v1/export")
    assert response.headers["content-type"].startswith("application/x-ndjson")
    exported = [json.loads(line) for line in response.text.splitlines()]
    assert len(exported) == 23
    of_first = [each for each in exported if each["thread_id"] == "t1"]
    assert [(each["role"], each["content"], each["metadata"]) for each in of_first] == [
        (each["role"], each["content"], each["metadata"]) for each in sent[:20]
    ]
    assert of_first[0]["created_at"] == "2026-11-20T10:00:00+00:00"
    one = newcomer.get("/v1/export", params={"thread_id": "t2/ö ?"})
    assert len(one.text.splitlines()) == 3

    for each in exported:
        del each["user_id"]
    with served.client(token("copy of " + exported[0]["thread_id"])) as copy:
        assert copy.post("/v1/import", content=lines(*exported), headers=LINES).json()["new"] == 23
        copied = [json.loads(line) | {"user_id": None} for line in copy.get("/v1/export").text.splitlines()]
    key = "thread_id"
    assert sorted(copied, key=lambda each: each[key]) == sorted(
        (each | {"user_id": None} for each in exported), key=lambda each: each[key]
    )


@pytest.mark.feature("B14", "F32")
def test_whole_threads_are_read_and_exported(shared_api: Api, served: Serving) -> None:
    log = "\n".join(f"{number:04}  src/module_{number}.py: 3 warnings" for number in range(300))
    with served.client(token("dora")) as dora:
        for role, content in [("user", "Hi!"), ("tool", log), ("user", "Well?")]:
            sent = {"thread_id": "t", "role": role, "content": content}
            dora.post("/v1/add_message", json=sent).raise_for_status()
        with psycopg.connect(shared_api.connection.info.dsn) as owner:  # does what a compression does
            owner.execute(
                "update memory.messages set is_active = false, summary_id = gen_random_uuid()"
                " where user_id = 'dora' and seq < 2"
            )
        short = dora.post("/v1/get_messages", json={"thread_id": "t"}).json()
        whole = dora.post("/v1/get_messages", json={"thread_id": "t", "whole": True}).json()
        assert [message["content"] for message in short] == ["Well?"]
        assert [message["content"] for message in whole] == ["Hi!", log, "Well?"]
        exported = [json.loads(line)["content"] for line in dora.get("/v1/export").text.splitlines()]
        assert exported == ["Hi!", log, "Well?"]


@pytest.mark.feature("B14")
def test_many_messages_come_as_a_stream(newcomer: httpx.Client) -> None:
    def parts() -> Iterator[bytes]:
        for number in range(2300):
            yield lines(said(number))

    assert newcomer.post("/v1/import?thread_id=long", content=parts(), headers=LINES).json()["new"] == 2300
    with newcomer.stream("GET", "/v1/export", params={"thread_id": "long"}) as response:
        numbers = [json.loads(line)["content"].split()[1] for line in response.iter_lines()]
    assert numbers == [str(number) for number in range(2300)]


@pytest.mark.feature("B14")
def test_an_import_is_all_or_nothing_and_names_the_line(newcomer: httpx.Client) -> None:
    body = lines(said(0), said(1), {"role": "boss", "content": "x"})
    refused = problem(newcomer.post("/v1/import", content=body, headers=LINES), 422)
    assert refused["detail"].startswith("line 3, message 1: role") or refused["detail"].startswith("line 3: role")
    assert "/" not in refused["detail"].partition("role")[0]  # no file of the server
    problem(newcomer.post("/v1/import", content=b"\xff\n", headers=LINES), 422)
    problem(newcomer.post("/v1/import", content=b"{\n", headers=LINES), 422)
    problem(newcomer.post("/v1/import", content=lines(said(0)), headers={"Content-Type": "text/plain"}), 415)
    assert newcomer.post("/v1/list_threads").json() == []
    empty = newcomer.post("/v1/import", content=b"", headers=LINES).json()
    assert empty == {"messages": 0, "new": 0, "users": 0, "threads": 0}


@pytest.mark.feature("B14")
def test_a_token_imports_and_exports_its_own_user_only(served: Serving, admin: httpx.Client) -> None:
    with served.client(token("mia")) as mia:
        said_of = problem(mia.post("/v1/import", content=lines(said(0), said(1, user_id="ana")), headers=LINES), 422)
        assert "another user" in said_of["detail"]
        problem(mia.post("/v1/import?user_id=ana", content=lines(said(0)), headers=LINES), 403, "user_id")
        problem(mia.get("/v1/export", params={"user_id": "ana"}), 403, "user_id")
        assert mia.post("/v1/import", content=lines(said(0, user_id="mia")), headers=LINES).json()["new"] == 1
    both = lines(said(0, user_id="ben"), said(1, user_id="cleo"))
    assert admin.post("/v1/import", content=both, headers=LINES).json()["users"] == 2
    assert len(admin.get("/v1/export", params={"user_id": "ben"}).text.splitlines()) == 1
    problem(admin.get("/v1/export"), 422, "user_id")
    problem(admin.post("/v1/import", content=lines(said(0)), headers=LINES), 422)


def test_an_export_of_nothing_is_empty(newcomer: httpx.Client) -> None:
    assert newcomer.get("/v1/export").content == b""
    assert newcomer.get("/v1/export", params={"thread_id": "none"}).content == b""
    problem(newcomer.get("/v1/export", params={"thread_id": ""}), 422, "thread_id")
    problem(newcomer.get("/v1/export?thread_id=a&thread_id=b"), 422)

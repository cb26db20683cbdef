"""One endpoint for each public function, made of the catalog."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import httpx
import psycopg
import pytest
from agent_memory.server.functions import FOR_USERS
from psycopg.types.json import Jsonb

from tests.http.steps import Serving, problem, token, with_keys
from tests.support.runners import is_quick
from tests.support.sqlapi import Api
from tests.values.bad_arguments import VALID
from tests.values.valid_calls import make_roles

FOR_WORKERS = {"claim_jobs", "complete_job", "fail_job", "release_job", "extend_job", "record_calls", "run_jobs"}


def of_user(api: Api) -> set[str]:
    rows = api.query(
        "select proname from pg_proc where pronamespace = 'memory'::regnamespace and proargnames[1] = 'user_id'"
        " and not starts_with(proname, '_')"
    )
    return {row.proname for row in rows}


@pytest.mark.feature("B14")
def test_every_public_function_has_an_endpoint(admin: httpx.Client, shared_api: Api) -> None:
    described = admin.get("/openapi.json").json()["paths"]
    functions = shared_api.query(
        "select proname, obj_description(oid, 'pg_proc') as comment from pg_proc"
        " where pronamespace = 'memory'::regnamespace and not starts_with(proname, '_')"
        " and prorettype <> 'trigger'::regtype"
        " and proname <> 'partition_of'"  # which needs no database
        " and proname !~ 'checkpoint'"  # whose values only the application that serialised them may load
    )
    for function in functions:
        assert described[f"/v1/{function.proname}"]["post"]["description"] == function.comment


@pytest.mark.feature("B14")
def test_calls_that_work_in_sql_work_over_http(admin: httpx.Client, shared_api: Api) -> None:
    """Each call of the table reaches its function: what is refused is refused by the database's own rules."""
    make_roles(shared_api)
    for name, arguments in VALID.items():
        if name == "partition_of" or "checkpoint" in name:
            continue
        given = json.dumps({key: _as_json(value) for key, value in arguments.items()}, default=str)
        response = admin.post(f"/v1/{name}", content=given, headers={"Content-Type": "application/json"})
        allowed = (200, 204, 404, 409)
        assert response.status_code in allowed, (name, response.text)
        if response.status_code >= 400:
            assert response.json()["sqlstate"] in ("P0002", "AM001", "0A000", "22023", "23505"), (name, response.text)


def _as_json(value: Any) -> Any:
    if isinstance(value, Jsonb):
        return value.obj
    if isinstance(value, str) and re.fullmatch(r"\[[\d.,]+\]", value):
        return json.loads(value)
    if isinstance(value, str) and re.fullmatch(r"\{\d+\}", value):
        return [int(value[1:-1])]
    return 60 if value == "1 minute" else value


@pytest.mark.feature("B14")
def test_results_are_rows_a_row_a_value_or_nothing(newcomer: httpx.Client) -> None:
    added = newcomer.post("/v1/add_memory", json={"content": "Likes walks", "metadata": {"ö": 1}}).json()
    assert added["inserted"] is True
    memory_id = added["memory_id"]
    one = newcomer.post("/v1/get_memory", json={"memory_id": memory_id}).json()
    assert (one["content"], one["metadata"]) == ("Likes walks", {"ö": 1})
    assert [each["memory_id"] for each in newcomer.post("/v1/list_memories", json={}).json()] == [memory_id]
    assert newcomer.post("/v1/count_memories").json() == 1
    assert newcomer.post("/v1/delete_memory", json={"memory_id": memory_id}).json() is True
    assert newcomer.post("/v1/get_user_summary").json() is None
    kept = newcomer.post("/v1/add_memory", json={"content": "Likes green tea"}).json()["memory_id"]
    other = newcomer.post("/v1/add_memory", json={"content": "Likes black tea"}).json()["memory_id"]
    response = newcomer.post(
        "/v1/supersede_memory", json={"old_memory_id": other, "new_memory_id": kept, "reason": "changed"}
    )
    assert (response.status_code, response.content) == (204, b"")


@pytest.mark.feature("B14")
def test_times_have_a_zone_and_infinity_means_never(ana: httpx.Client) -> None:
    memory_id = ana.post("/v1/add_memory", json={"content": "a", "expires_at": "2099-01-01T00:00:00+02:00"}).json()[
        "memory_id"
    ]
    read = {"memory_id": memory_id}
    assert ana.post("/v1/get_memory", json=read).json()["expires_at"] == "2098-12-31T22:00:00Z"
    ana.post("/v1/update_memory", json={**read, "expires_at": "infinity"})
    assert ana.post("/v1/get_memory", json=read).json()["expires_at"] is None
    wrong: Any
    for wrong in ("2099-01-01T00:00:00", 5):
        problem(ana.post("/v1/update_memory", json={**read, "expires_at": wrong}), 422, "expires_at")


@pytest.mark.feature("B14")
@pytest.mark.parametrize(
    ("function", "body", "status", "argument", "sqlstate"),
    [
        ("search", {"quer": "tea"}, 422, "quer", "22023"),
        ("search", {"query": "tea", "top_k": 2**40}, 422, "top_k", "22023"),
        ("search", {"query": "tea", "top_k": 100000}, 422, "top_k", "22023"),
        ("search", {"query": "te\0a"}, 422, "query", "22023"),
        ("add_message", {"role": "user", "content": "Hi"}, 422, "thread_id", "22023"),
        ("add_messages", {"thread_id": "t", "messages": [{"role": "boss", "content": "x"}]}, 422, "role", "22023"),
        ("get_memory", {"memory_id": "00000000-0000-0000-0000-000000000000"}, 404, "memory_id", "P0002"),
        ("add_memory", {"content": "x" * 300_000}, 413, "content", "54000"),
    ],
)
def test_refusals_name_the_argument_with_a_hint(
    ana: httpx.Client, function: str, body: dict[str, Any], status: int, argument: str, sqlstate: str
) -> None:
    said = problem(ana.post(f"/v1/{function}", json=body), status, argument)
    assert said["sqlstate"] == sqlstate
    assert said["hint"]


@pytest.mark.feature("B14")
def test_conflicts_are_conflicts(ana: httpx.Client) -> None:
    twice = {"content": "Unique", "on_conflict": "error"}
    ana.post("/v1/add_memory", json=twice)
    assert problem(ana.post("/v1/add_memory", json=twice), 409, "content")["sqlstate"] == "23505"
    memory_id = ana.post("/v1/add_memory", json={"content": "Changes"}).json()["memory_id"]
    late = {"memory_id": memory_id, "content": "Changed", "expected_version": 7}
    assert ana.post("/v1/update_memory", json=late).json()["sqlstate"] == "40001"


@pytest.mark.feature("B14")
@pytest.mark.parametrize(
    ("content", "type_", "status"),
    [
        (b'{"query": ', "application/json", 400),
        (b'{"query": "half a pair \\ud800"}', "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b"[]", "application/json", 422),
        (b'{"query": "tea"}', "text/plain", 415),
        (b'{"query": "tea"}', "application/json; charset=utf-8", 200),
    ],
)
def test_a_body_is_json_and_says_so(ana: httpx.Client, content: bytes, type_: str, status: int) -> None:
    response = ana.post("/v1/search", content=content, headers={"Content-Type": type_})
    if status == 200:
        assert response.status_code == 200
    else:
        problem(response, status)


@pytest.mark.feature("B14")
def test_other_paths_and_methods_are_problems_too(ana: httpx.Client) -> None:
    problem(ana.post("/v1/drop_everything"), 404)
    problem(ana.post("/v1/_refuse"), 404)
    response = ana.get("/v1/search")
    problem(response, 405)
    assert response.headers["allow"] == "POST"


@pytest.mark.feature("B14")
def test_a_degraded_answer_says_why(ana: httpx.Client) -> None:
    response = ana.post("/v1/search", json={"query": "tea"})
    assert response.headers["agent-memory-degraded"] == "no embedding model"
    assert response.headers["cache-control"] == "no-store"
    assert "agent-memory-degraded" not in ana.post("/v1/search", json={"query": "tea", "mode": "keyword"}).headers


@pytest.mark.feature("B14")
def test_a_token_reaches_its_own_user_only(ana: httpx.Client, served: Serving) -> None:
    ana.post("/v1/add_memory", json={"content": "Ana likes tea", "user_id": "ana"})
    with served.client(token("eve")) as eve, served.client() as admin:
        assert eve.post("/v1/list_memories").json() == []
        problem(eve.post("/v1/list_memories", json={"user_id": "ana"}), 403, "user_id")
        assert admin.post("/v1/search", json={"user_id": "ana", "query": "tea", "mode": "keyword"}).json()
        problem(admin.post("/v1/list_memories"), 422, "user_id")


@pytest.mark.feature("B14")
def test_a_token_calls_nothing_of_administrators_and_workers(ana: httpx.Client, shared_api: Api) -> None:
    described = ana.get("/openapi.json").json()["paths"]
    functions = {path.removeprefix("/v1/") for path in described if path.startswith("/v1/")}
    for name in functions - FOR_USERS:
        said = problem(ana.post(f"/v1/{name}", json={}), 403)
        assert said["sqlstate"] == "42501"
    assert not FOR_USERS & FOR_WORKERS
    assert of_user(shared_api) >= FOR_USERS


@pytest.mark.feature("B14")
def test_the_description_is_valid_openapi(admin: httpx.Client) -> None:
    import jsonschema_rs

    document = admin.get("/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    for name, schema in document["components"]["schemas"].items():
        jsonschema_rs.Draft202012Validator({**schema, "components": document["components"]}), name


def test_what_only_a_newer_database_has_is_left_out(dsn: str, db: psycopg.Connection) -> None:
    db.execute("create function memory.dream(user_id text) returns text language sql as $$ select 'zzz' $$")
    db.execute("drop function memory.version()")
    db.execute(
        "create function memory.version(verbose boolean default false) returns text language sql"
        " as $$ select '9.9.9' $$"
    )
    with with_keys(dsn) as serving, serving.client() as admin:
        assert admin.post("/v1/version").json() == "9.9.9"
        problem(admin.post("/v1/version", json={"verbose": True}), 422, "verbose")
        problem(admin.post("/v1/dream", json={"user_id": "ana"}), 404)


def test_answers_do_not_wait_for_delayed_acknowledgements(admin: httpx.Client) -> None:
    """The least of many on one connection: with Nagle's algorithm each takes 40 ms, however fast the server is."""

    def seconds() -> float:
        started = time.perf_counter()
        admin.post("/v1/version").raise_for_status()
        return time.perf_counter() - started

    for _ in range(30):
        seconds()
    assert is_quick(seconds, 0.035, attempts=500)

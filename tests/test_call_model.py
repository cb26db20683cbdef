"""One model call inside a query: memory._call_model()."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from fake_model_server import HANGING, RATE_LIMITED, SERVER_ERROR, Behaviour, FakeModelServer
from model_payloads import Json, embedding_job, reranking
from psycopg.types.json import Jsonb
from runners import wait_until
from servers import Server

Connect = Callable[..., psycopg.Connection]

CALL = "select memory._call_model(%s, %s)"
TEXTS = ("Coffee is black", "Green tea is green", "Tea is hot")


@pytest.fixture
def fake() -> Iterator[FakeModelServer]:
    with FakeModelServer() as server:
        yield server


@pytest.fixture
def db(server: Server, db: psycopg.Connection) -> psycopg.Connection:
    if not server.has_plpython:
        pytest.skip("this server has no PL/Python")
    return db


def model(fake: FakeModelServer, **settings: Any) -> Json:
    settings = {"base_url": fake.url, **settings}
    return {"name": "fake", "provider": "openai", "model": "fake-1", "settings": settings}


def outcome(db: psycopg.Connection, kind: str | None, payload: Json | None) -> Any:
    row = db.execute(CALL, (kind, None if payload is None else Jsonb(payload))).fetchone()
    assert row is not None
    return row[0]


def test_a_text_is_embedded_within_a_query(db: psycopg.Connection, fake: FakeModelServer) -> None:
    answer = outcome(db, "embed", embedding_job(*TEXTS, model=model(fake, api_key_env="OPENAI_API_KEY")))
    assert sorted(answer) == ["calls", "result"]
    assert [len(vector) for vector in answer["result"]["embeddings"]] == [8, 8, 8]
    [call] = answer["calls"]
    assert (call["kind"], call["model"], call["tokens_in"]) == ("embed", "fake", fake.tokens_in)
    assert fake.requests[0].authorization == "Bearer key-of-the-test-server"


@pytest.mark.parametrize("api", ["rerank", "chat"])
def test_texts_are_scored_within_a_query(db: psycopg.Connection, fake: FakeModelServer, api: str) -> None:
    answer = outcome(db, "rerank", reranking("green tea", *TEXTS, model=model(fake, rerank_api=api)))
    assert answer["result"]["scores"] == [
        {"number": 1, "score": 0},
        {"number": 2, "score": 1},
        {"number": 3, "score": 0.5},
    ]
    assert [call["error"] for call in answer["calls"]] == [None]


@pytest.mark.parametrize("read_only", [False, True])
def test_it_runs_within_a_transaction_and_leaves_it_as_it_was(
    db: psycopg.Connection, fake: FakeModelServer, read_only: bool
) -> None:
    payload = embedding_job("x", model=model(fake))
    with db.transaction():
        if read_only:
            db.execute("set transaction read only")
        else:
            db.execute("create table t (n int)")
        assert "result" in outcome(db, "embed", payload)
        assert "result" in outcome(db, "embed", payload)
    assert "result" in outcome(db, "embed", payload)


def test_every_row_of_a_query_has_a_call_of_its_own(db: psycopg.Connection, fake: FakeModelServer) -> None:
    query = "select count(memory._call_model('embed', %s) -> 'result') from generate_series(1, 5)"
    assert db.execute(query, (Jsonb(embedding_job("x", model=model(fake))),)).fetchone() == (5,)
    assert len(fake.requests) == 5


@pytest.mark.parametrize("behaviour", [SERVER_ERROR, RATE_LIMITED, Behaviour(body="nonsense")])
def test_what_goes_wrong_is_an_outcome_and_no_error(
    db: psycopg.Connection, fake: FakeModelServer, behaviour: Behaviour
) -> None:
    fake.behaviour = behaviour
    with db.transaction():
        answer = outcome(db, "embed", embedding_job("x", model=model(fake)))
        assert sorted(answer) == ["calls", "error"]
        assert answer["error"]
        assert [call["error"] for call in answer["calls"]] == [answer["error"]]
        assert db.execute("select 1").fetchone() == (1,)


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (None, {}),
        ("embed", None),
        ("extract_memories", {}),
        ("", {}),
        ("embed", {}),
        ("embed", []),
        ("rerank", {"model": {"name": "m", "provider": "openai", "model": "m"}}),
        ("embed", embedding_job("x")),
    ],
)
def test_a_payload_of_no_use_is_an_outcome_too(db: psycopg.Connection, kind: str | None, payload: Any) -> None:
    answer = outcome(db, kind, payload)
    assert answer["error"]


def test_a_missing_package_is_named(db: psycopg.Connection, fake: FakeModelServer) -> None:
    db.execute("do $$ import sys; sys.modules['openai'] = None $$ language plpython3u")
    answer = outcome(db, "embed", embedding_job("x", model=model(fake)))
    assert "openai" in answer["error"]


def test_without_plpython_there_is_a_stand_in(server: Server, connect: Connect) -> None:
    if server.has_plpython:
        pytest.skip("this server has PL/Python")
    assert outcome(connect(), "embed", embedding_job("x")) == {
        "error": "this server cannot call models (it has no plpython3u)"
    }


@pytest.mark.parametrize("how", ["timeout", "cancel", "terminate"])
def test_a_hanging_call_ends_within_a_second(
    db: psycopg.Connection, connect: Connect, fake: FakeModelServer, how: str
) -> None:
    fake.behaviour = HANGING
    ended: list[float] = []

    def call() -> None:
        with pytest.raises((psycopg.errors.QueryCanceled, psycopg.errors.AdminShutdown)):
            outcome(db, "embed", embedding_job("x", model=model(fake)))
        ended.append(time.monotonic())

    if how == "timeout":
        db.execute("set statement_timeout = '2s'")
    started = time.monotonic()
    thread = threading.Thread(target=call)
    thread.start()
    if how != "timeout":
        wait_until(lambda: fake.requests)
        started = time.monotonic()
        connect().execute(f"select pg_{how}_backend({db.info.backend_pid})")
    thread.join(30)
    assert ended[0] - started < (3 if how == "timeout" else 1)
    if how != "terminate":
        db.execute("set statement_timeout = 0")
        fake.behaviour = Behaviour()
        assert "result" in outcome(db, "embed", embedding_job("x", model=model(fake)))


def test_a_cancel_cannot_be_caught_as_an_outcome(db: psycopg.Connection, fake: FakeModelServer) -> None:
    fake.behaviour = HANGING
    db.execute(
        "create function wrapped(payload jsonb) returns jsonb language plpgsql stable as"
        " 'begin return memory._call_model(''embed'', payload); exception when others then return null; end'"
    )
    db.execute("set statement_timeout = '1s'")
    with pytest.raises(psycopg.errors.QueryCanceled):
        db.execute("select wrapped(%s)", (Jsonb(embedding_job("x", model=model(fake))),))


def test_an_upgrade_reaches_a_live_session(db: psycopg.Connection) -> None:
    assert "unknown provider" in outcome(db, "embed", {"model": {"provider": "x"}, "texts": []})["error"]
    row = db.execute("select pg_get_functiondef('memory._load_models'::regproc)").fetchone()
    assert row is not None
    assert "unknown provider" in row[0]
    db.execute(row[0].replace("unknown provider", "new words"))
    assert "new words" in outcome(db, "embed", {"model": {"provider": "x"}, "texts": []})["error"]


def test_jobs_and_queries_share_a_session(db: psycopg.Connection, fake: FakeModelServer) -> None:
    for _ in range(2):
        assert "result" in outcome(db, "embed", embedding_job("x", model=model(fake)))
        db.execute("call memory.run_jobs()")

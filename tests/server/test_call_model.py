"""One model call inside a query: memory._call_model()."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.support.fake_model_server import HANGING, RATE_LIMITED, Behaviour, FakeModelServer
from tests.support.kept import Kept
from tests.support.model_payloads import Json, embedding_job, reranking
from tests.support.runners import PATIENCE, wait_until
from tests.support.servers import Server

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


@pytest.fixture
def session(server: Server, _kept: Kept) -> Iterator[psycopg.Connection]:
    """A session that tests share: to import the packages takes a new one half a second."""
    if not server.has_plpython:
        pytest.skip("this server has no PL/Python")
    with _kept.rolled_back() as api:
        yield api.connection


def model(fake: FakeModelServer, **settings: Any) -> Json:
    settings = {"base_url": fake.url, **settings}
    return {"name": "fake", "provider": "openai", "model": "fake-1", "settings": settings}


def outcome(db: psycopg.Connection, kind: str | None, payload: Json | None) -> Any:
    row = db.execute(CALL, (kind, None if payload is None else Jsonb(payload))).fetchone()
    assert row is not None
    return row[0]


def test_a_text_is_embedded_within_a_query(session: psycopg.Connection, fake: FakeModelServer) -> None:
    answer = outcome(session, "embed", embedding_job(*TEXTS, model=model(fake, api_key_env="OPENAI_API_KEY")))
    assert sorted(answer) == ["calls", "result"]
    assert [len(json.loads(vector)) for vector in answer["result"]["embeddings"]] == [8, 8, 8]
    [call] = answer["calls"]
    assert (call["kind"], call["model"], call["tokens_in"]) == ("embed", "fake", fake.tokens_in)
    assert fake.requests[0].authorization == "Bearer key-of-the-test-server"


def test_texts_are_scored_within_a_query(session: psycopg.Connection, fake: FakeModelServer) -> None:
    answer = outcome(session, "rerank", reranking("green tea", *TEXTS, model=model(fake, rerank_api="rerank")))
    assert answer["result"]["scores"] == [
        {"number": 1, "score": 0},
        {"number": 2, "score": 1},
        {"number": 3, "score": 0.5},
    ]
    assert [call["error"] for call in answer["calls"]] == [None]


def test_it_runs_within_a_transaction_and_leaves_it_as_it_was_beside_jobs(
    db: psycopg.Connection, fake: FakeModelServer
) -> None:
    payload = embedding_job("x", model=model(fake))
    for begin in ("set transaction read only", "create table t (n int)"):
        with db.transaction():
            db.execute(begin)
            assert "result" in outcome(db, "embed", payload)
            assert "result" in outcome(db, "embed", payload)
        db.execute("call memory.run_jobs()")
        assert "result" in outcome(db, "embed", payload)


@pytest.mark.parametrize("behaviour", [RATE_LIMITED, Behaviour(body="nonsense")])
def test_a_failed_call_is_an_outcome_and_no_error(
    session: psycopg.Connection, fake: FakeModelServer, behaviour: Behaviour
) -> None:
    fake.behaviour = behaviour
    with session.transaction():
        answer = outcome(session, "embed", embedding_job("x", model=model(fake)))
        assert sorted(answer) == ["calls", "error"]
        assert answer["error"]
        assert [call["error"] for call in answer["calls"]] == [answer["error"]]
        assert session.execute("select 1").fetchone() == (1,)


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (None, {}),
        ("embed", None),
        ("extract_memories", {}),
        ("embed", []),
        ("rerank", {"model": {"name": "m", "provider": "openai", "model": "m"}}),
    ],
)
def test_a_payload_of_no_use_is_an_outcome_too(session: psycopg.Connection, kind: str | None, payload: Any) -> None:
    answer = outcome(session, kind, payload)
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


def test_a_hanging_call_ends_before_the_time_limit_of_its_model(
    db: psycopg.Connection, connect: Connect, fake: FakeModelServer
) -> None:
    caller, payload = connect(), embedding_job("x", model=model(fake))

    def call() -> None:
        with pytest.raises((psycopg.errors.QueryCanceled, psycopg.errors.AdminShutdown)):
            outcome(caller, "embed", payload)

    for how in ("cancel", "terminate"):
        fake.behaviour = HANGING
        fake.requests.clear()
        thread = threading.Thread(target=call)
        thread.start()
        wait_until(lambda: fake.requests)
        started = time.monotonic()
        db.execute(f"select pg_{how}_backend({caller.info.backend_pid})")
        thread.join(PATIENCE)
        assert time.monotonic() - started < 30  # half of the model's time limit
        if how == "cancel":
            fake.behaviour = Behaviour()
            assert "result" in outcome(caller, "embed", payload)


def test_a_cancel_cannot_be_caught_as_an_outcome(db: psycopg.Connection, fake: FakeModelServer) -> None:
    fake.behaviour = HANGING
    db.execute(
        "create function wrapped(payload jsonb) returns jsonb language plpgsql stable as"
        " 'begin return memory._call_model(''embed'', payload); exception when others then return null; end'"
    )
    db.execute("set statement_timeout = '1s'")
    with pytest.raises(psycopg.errors.QueryCanceled):
        db.execute("select wrapped(%s)", (Jsonb(embedding_job("x", model=model(fake))),))


# What a session keeps


SOCKETS = """do $$
import os
paths = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
links = [os.readlink(path) for path in paths if os.path.exists(path)]
plpy.notice(str(sum(link.startswith("socket:") for link in links)))
$$ language plpython3u"""


def said_by(db: psycopg.Connection, statement: str) -> str:
    """The first line of the NOTICE of a statement."""
    said: list[str] = []
    db.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
    db.execute(statement)
    return said[0]


@pytest.mark.feature("F20")
def test_calls_of_a_session_share_a_connection(db: psycopg.Connection, connect: Connect, fake: FakeModelServer) -> None:
    payload = embedding_job("x", model=model(fake))
    for statement in ("select 1", "discard all", "set search_path = memory"):
        db.execute(statement)
        assert "result" in outcome(db, "embed", payload)
    assert len({request.connection for request in fake.requests}) == 1
    outcome(connect(), "embed", payload)
    assert len({request.connection for request in fake.requests}) == 2


@pytest.mark.feature("F20")
def test_a_cancelled_call_takes_its_connection_along(
    db: psycopg.Connection, connect: Connect, fake: FakeModelServer
) -> None:
    payload = embedding_job("x", model=model(fake))
    outcome(db, "embed", payload)
    fake.next_behaviours = [Behaviour(drip_seconds=0.1)]  # half a reply must not be taken for the next one
    other = connect()

    def cancel() -> None:
        wait_until(lambda: len(fake.requests) == 2)
        other.execute("select pg_cancel_backend(%s)", [db.info.backend_pid])

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(psycopg.errors.QueryCanceled):
        outcome(db, "embed", payload)
    thread.join()
    assert "result" in outcome(db, "embed", payload)
    first, second, third = (request.connection for request in fake.requests)
    assert first == second != third


@pytest.mark.feature("F20")
def test_a_request_that_crosses_with_the_closing_is_sent_again_once(
    db: psycopg.Connection, fake: FakeModelServer
) -> None:
    silent = Behaviour(raw="")
    payload = embedding_job("x", model=model(fake))
    fake.next_behaviours = [silent]
    assert "RemoteProtocolError" in outcome(db, "embed", payload)["error"]  # a new connection: nothing crossed
    assert len(fake.requests) == 1
    outcome(db, "embed", payload)
    fake.next_behaviours = [silent]
    assert "result" in outcome(db, "embed", payload)
    assert len(fake.requests) == 4
    fake.next_behaviours = [silent, silent]
    assert "RemoteProtocolError" in outcome(db, "embed", payload)["error"]
    assert len(fake.requests) == 6


@pytest.mark.feature("F20")
def test_the_key_is_read_for_each_call_and_not_kept(
    db: psycopg.Connection, fake: FakeModelServer, server: Server
) -> None:
    folder = Path(server.host, "kept keys")
    folder.mkdir(exist_ok=True)
    folder.chmod(0o777)
    payload = embedding_job("x", model=model(fake, api_key_file="k"))
    for key in ("sk-number-one", "sk-number-two"):
        # The server writes the file, because it has to own it.
        db.execute(
            f"do $$\nimport os\nos.environ['AGENT_MEMORY_KEY_DIR'] = '{folder}'\nos.umask(0o077)\n"
            f"open('{folder}/k', 'w').write('{key}')\n$$ language plpython3u"
        )
        outcome(db, "embed", payload)
    assert [request.authorization for request in fake.requests] == ["Bearer sk-number-one", "Bearer sk-number-two"]
    searching = """do $$
import gc
gc.collect()
wanted = "sk-" + "number-"
def holds(value):
    return isinstance(value, (str, bytes)) and wanted in (value if isinstance(value, str) else value.decode("latin-1"))
found = [type(each).__name__ for each in gc.get_objects()
         if any(holds(value) and value != wanted for value in gc.get_referents(each))]
plpy.notice(str(found))
$$ language plpython3u"""
    assert said_by(db, searching) == "[]"


@pytest.mark.feature("F20")
def test_an_upgrade_closes_what_the_version_before_kept(db: psycopg.Connection, fake: FakeModelServer) -> None:
    payload = embedding_job("x", model=model(fake))
    outcome(db, "embed", payload)
    sockets = said_by(db, SOCKETS)
    [[function]] = db.execute("select pg_get_functiondef('memory._load_models'::regproc)").fetchall()
    for words in ("one", "two"):
        db.execute(function.replace("unknown provider", words))
        outcome(db, "embed", payload)
    assert said_by(db, SOCKETS) == sockets
    assert len({request.connection for request in fake.requests}) == 3


@pytest.mark.feature("F20")
def test_neither_memory_nor_threads_grow_with_calls(db: psycopg.Connection, fake: FakeModelServer) -> None:
    threads = "do 'import os; plpy.notice(len(os.listdir(\"/proc/self/task\")))' language plpython3u"
    looked_up = embedding_job("x", model=model(fake, base_url=fake.url.replace("127.0.0.1", "localhost")))
    for _ in range(2):
        assert "result" in outcome(db, "embed", looked_up)
        assert said_by(db, threads) == "1"
    payload = Jsonb(embedding_job("x", model=model(fake)))

    def resident_kib(calls: int) -> int:
        db.execute("select count(memory._call_model('embed', %s)) from generate_series(1, %s)", (payload, calls))
        status = Path(f"/proc/{db.info.backend_pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0])

    before = resident_kib(50)
    assert resident_kib(150) - before < 1024

"""A job's span is linked to the call that made it due, and its calls of models are measured."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from agent_memory import AsyncMemory, InvalidValueError, Memory, partition_of
from agent_memory.worker import NodeWorkers, Worker
from opentelemetry.trace import SpanKind, StatusCode
from psycopg.conninfo import make_conninfo

from tests.cluster.conftest import databases
from tests.cluster.databases import PARTITIONS, Databases
from tests.support.fake_model_server import GATEWAY_TIMEOUT, RATE_LIMITED, FakeModelServer
from tests.support.pgbouncer import bouncing, needs_pgbouncer
from tests.support.servers import Server
from tests.support.sqlapi import Api
from tests.telemetry.recorded import Recorded, attributes, ids, links
from tests.tenants.conftest import users
from tests.tenants.steps import token_of

__all__ = ["databases", "users"]
pytestmark = pytest.mark.feature("F23")

Connect = Callable[..., psycopg.Connection]
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
OTHER = "00-1af7651916cd43dd8448eb211c80319c-c7ad6b7169203331-01"


def run_worker(dsn: str) -> None:
    asyncio.run(Worker(dsn).run(once=True))


def carried(connection: psycopg.Connection, user_id: str = "ana") -> dict[str, str | None]:
    """The traces that the jobs of a user carry, by kind."""
    rows = connection.execute("select kind, request ->> 'traceparent' from memory.jobs where user_id = %s", [user_id])
    return dict(rows.fetchall())


def header(span: Any) -> str:
    trace_id, span_id = ids(span)
    return f"00-{trace_id:032x}-{span_id:016x}-{span.context.trace_flags:02x}"


def test_a_job_is_linked_to_the_call_that_made_it_due_and_its_jobs_to_it(
    db: psycopg.Connection, dsn: str, fake: FakeModelServer, recorded: Recorded
) -> None:
    Memory(db).add_message("ana", "t1", "user", "Ana keeps bees.")
    stored = recorded.span("create_memory")
    run_worker(dsn)
    extracted = recorded.span("job extract_memories")
    assert extracted.kind == SpanKind.CONSUMER
    assert extracted.parent is None
    assert ids(extracted)[0] != ids(stored)[0]
    assert links(extracted) == [ids(stored)]
    assert attributes(extracted)["agent_memory.job.outcome"] == "completed"
    assert attributes(extracted)["agent_memory.job.attempt"] == 1
    # The message is embedded for the call's sake, the memory for the job's.
    assert sorted(links(span)[0] for span in recorded.spans("job embed")) == sorted([ids(stored), ids(extracted)])

    asked = recorded.span("chat mini")
    assert asked.kind == SpanKind.CLIENT
    assert asked.parent is not None
    assert asked.parent.span_id == ids(extracted)[1]
    said = attributes(asked)
    assert said["gen_ai.operation.name"] == "chat"
    assert said["gen_ai.provider.name"] == "openai"
    assert said["gen_ai.request.model"] == "mini"
    assert said["agent_memory.job.kind"] == "extract_memories"
    assert (said["server.address"], f":{said['server.port']}/" in fake.url) == ("127.0.0.1", True)
    embedded = recorded.spans("embeddings ada")
    assert len(embedded) == 2
    tokens = [(attributes(each)["gen_ai.usage.input_tokens"]) for each in (asked, *embedded)]
    assert sum(tokens) == fake.tokens_in
    assert said["gen_ai.usage.output_tokens"] == fake.tokens_out
    usage = {
        (point.attributes["gen_ai.request.model"], point.attributes["gen_ai.token.type"]): point.sum
        for point in recorded.points("gen_ai.client.token.usage")
    }
    assert usage == {
        ("mini", "input"): tokens[0],
        ("mini", "output"): fake.tokens_out,
        ("ada", "input"): sum(tokens[1:]),
    }
    done = {
        (point.attributes["agent_memory.job.kind"], point.attributes["agent_memory.job.outcome"]): point.value
        for point in recorded.points("agent_memory.worker.jobs")
    }
    assert done == {("extract_memories", "completed"): 1, ("embed", "completed"): 2}
    assert sum(point.count for point in recorded.points("agent_memory.worker.job.duration")) == 3
    for private in ("ana", "bees", "secret-key-of-the-model", "password"):
        assert private not in recorded.text().lower()


def add_through(way: str, dsn: str, server: Server) -> None:
    """Store a message of ana through a kind of client."""

    async def add() -> None:
        async with AsyncMemory(dsn) as memory:
            await memory.add_message("ana", "t1", "user", "Ana keeps bees.")

    if way == "asynchronous":
        asyncio.run(add())
    elif way == "transaction":
        with psycopg.connect(dsn) as connection, connection.transaction():
            Memory(connection).add_message("ana", "t1", "user", "Ana keeps bees.")
    elif way == "pgbouncer":
        with bouncing(server, dsn, server.user) as there, Memory(there) as memory:
            memory.add_message("ana", "t1", "user", "Ana keeps bees.")
    else:
        with Memory(dsn) as memory, memory.buffer() as buffer:
            buffer.add_message("ana", "t1", "user", "Ana keeps bees.")


@pytest.mark.parametrize(
    "way", ["asynchronous", "transaction", "buffer", pytest.param("pgbouncer", marks=needs_pgbouncer)]
)
@pytest.mark.usefixtures("fake")
def test_every_kind_of_client_carries_its_trace(
    db: psycopg.Connection, dsn: str, server: Server, recorded: Recorded, way: str
) -> None:
    add_through(way, dsn, server)
    assert carried(db) == dict.fromkeys(("extract_memories", "embed"), header(recorded.span("create_memory")))


def test_a_tenants_client_carries_its_trace(users: Api, dsn: str, recorded: Recorded) -> None:
    Memory(users.connection).admin.set_policy({"cadence": {"fact_extraction_every_n": 1}})
    with Memory(make_conninfo(dsn, user="tenant_by_token"), token=token_of("ana")) as memory:
        memory.add_message("ana", "t1", "user", "Ana keeps bees.")
    assert carried(users.connection)["extract_memories"] == header(recorded.span("create_memory"))


def test_each_node_of_a_cluster_gets_the_trace(databases: Databases, recorded: Recorded) -> None:
    databases.begin("ab", "aaaabbbb")
    by_node: dict[str, str] = {}
    with Memory(databases.dsn["a"]) as memory:
        memory.admin.set_policy({"cadence": {"fact_extraction_every_n": 1, "reconcile_every_n": 0}})
        for user in ("user 0", "user 1", "user 2", "user 3", "user 4"):
            by_node.setdefault("aaaabbbb"[partition_of(user, PARTITIONS)], user)
        assert by_node.keys() == {"a", "b"}
        for user in by_node.values():
            memory.add_message(user, "t1", "user", "I keep bees.")
    spans = recorded.spans("create_memory")
    assert [attributes(span)["db.namespace"] for span in spans] == [
        databases.place(node).partition("dbname=")[2].split()[0] for node in by_node
    ]
    for (node, user), span in zip(by_node.items(), spans, strict=True):
        with databases.api(node) as api:
            assert carried(api.connection, user)["extract_memories"] == header(span)
    asyncio.run(NodeWorkers(databases.dsn["a"]).run(once=True))
    assert sorted(links(span)[0] for span in recorded.spans("job extract_memories")) == sorted(map(ids, spans))


@pytest.mark.usefixtures("fake")
def test_a_request_for_a_job_is_linked_to_the_callers_span(db: psycopg.Connection, recorded: Recorded) -> None:
    memory = Memory(db)
    db.execute("select memory.add_message('ana', 't1', 'user', 'Ana keeps bees.')")
    assert carried(db) == {"extract_memories": None, "embed": None}
    db.execute("delete from memory.jobs")
    with recorded.tracer.start_as_current_span("turn"):
        memory.extract_memories("ana", "t1")
    memory.summarize_user("ana")  # without a span of the caller's
    assert carried(db) == {"extract_memories": header(recorded.span("turn")), "summarize_user": None}
    assert [span.name for span in recorded.spans()] == ["turn"]


@pytest.mark.usefixtures("fake")
def test_a_trace_ends_with_its_call_in_a_transaction_of_the_caller(db: psycopg.Connection, recorded: Recorded) -> None:
    memory = Memory(db)
    with db.transaction():
        memory.add_message("ana", "t1", "user", "Ana keeps bees.")
        db.execute("select memory.add_message('bob', 't1', 'user', 'Bob keeps goats.')")
        with pytest.raises(InvalidValueError), db.transaction():
            memory.add_message("ana", "t1", "nobody", "x")
        db.execute("select memory.add_message('carl', 't1', 'user', 'Carl keeps cats.')")
    assert carried(db)["extract_memories"] == header(recorded.spans("create_memory")[0])
    assert carried(db, "bob") == carried(db, "carl") == {"extract_memories": None, "embed": None}


@pytest.mark.usefixtures("fake")
def test_the_first_call_keeps_the_job(db: psycopg.Connection) -> None:
    def ask(traceparent: str) -> None:
        db.execute("select set_config('agent_memory.traceparent', %s, false)", [traceparent])
        db.execute("select memory.add_message('ana', 't1', 'user', 'Ana keeps bees.')")
        db.execute("select memory.extract_memories('ana', 't1', 5)")

    ask(TRACE)
    ask(OTHER)
    assert carried(db)["extract_memories"] == TRACE
    [job] = db.execute("select * from memory.claim_jobs('test', '{extract_memories}')").fetchall()
    assert job[5]["traceparent"] == TRACE
    ask(OTHER)  # for the job that follows the running one
    db.execute("select memory.fail_job(%s, %s, %s, 'x')", [job[2], job[0], job[3]])
    db.execute("update memory.jobs set run_after = now()")
    [again] = db.execute("select * from memory.claim_jobs('test', '{extract_memories}')").fetchall()
    assert again[5]["traceparent"] == TRACE


HOSTILE = [
    TRACE + "\n",
    "\n" + TRACE,
    TRACE.upper(),
    "ff" + TRACE[2:],
    "00-" + "0" * 32 + TRACE[35:],
    TRACE[:36] + "0" * 16 + "-01",
    f"{TRACE}' || memory.doctor() || '",
    "00-" + "\u0664" * 32 + "-b7ad6b7169203331-01",
]


@pytest.mark.usefixtures("fake")
def test_what_is_no_traceparent_counts_as_none(db: psycopg.Connection) -> None:
    for number, hostile in enumerate(HOSTILE):
        user_id = f"user {number}"
        db.execute("select set_config('agent_memory.traceparent', %s, false)", [hostile])
        db.execute("select memory.add_message(%s, 't1', 'user', 'Ana keeps bees.')", [user_id])
        db.execute("select memory.extract_memories(%s, 't1')", [user_id])
        assert carried(db, user_id) == {"extract_memories": None, "embed": None}
    claimed = db.execute("select * from memory.claim_jobs('test', '{extract_memories}', 10)").fetchall()
    assert len(claimed) == len(HOSTILE)
    assert not any("traceparent" in job[5] for job in claimed)


def test_a_job_with_a_bad_trace_is_done_without_a_link(
    db: psycopg.Connection, dsn: str, fake: FakeModelServer, recorded: Recorded
) -> None:
    """An import or an owner may have written anything into the table."""
    db.execute("select memory.add_message('ana', 't1', 'user', 'Ana keeps bees.')")
    for bad in ('{"traceparent": "x"}', '{"traceparent": {"a": 1}}', '{"traceparent": null}'):
        db.execute("update memory.jobs set request = %s where kind = 'extract_memories'", [bad])
        run_worker(dsn)
        assert links(recorded.spans("job extract_memories")[-1]) == []
        db.execute("select memory.add_message('ana', 't1', 'user', 'Ana keeps bees, she said.')")
    assert fake.requests


@pytest.mark.parametrize(
    ("behaviour", "outcome", "error"),
    [
        (GATEWAY_TIMEOUT, "failed", "ModelError"),
        (RATE_LIMITED, "released", None),
    ],
    ids=["server error", "rate limit"],
)
def test_a_failed_call_of_a_model_and_its_job_are_told(
    db: psycopg.Connection,
    dsn: str,
    fake: FakeModelServer,
    recorded: Recorded,
    behaviour: Any,
    outcome: str,
    error: Any,
) -> None:
    Memory(db).add_message("ana", "t1", "user", "Ana keeps bees.")
    fake.behaviour = behaviour
    run_worker(dsn)
    job = recorded.span("job extract_memories")
    assert attributes(job)["agent_memory.job.outcome"] == outcome
    assert attributes(job).get("error.type") == error
    assert job.status.status_code == (StatusCode.UNSET if error is None else StatusCode.ERROR)
    asked = recorded.span("chat mini")
    assert asked.status.status_code == StatusCode.ERROR
    assert attributes(asked)["error.type"] == (error or "RateLimitedError")
    for span in (job, asked):
        assert span.events == ()
        assert span.status.description is None


def test_the_embedding_of_a_query_is_a_part_of_the_search(
    db: psycopg.Connection, fake: FakeModelServer, recorded: Recorded
) -> None:
    """The server has no key, so the client embeds it."""
    Memory(db).search("ana", "bees")
    found, asked = recorded.span("search_memory"), recorded.span("embeddings ada")
    assert fake.requests
    assert asked.parent is not None
    assert (asked.parent.trace_id, asked.parent.span_id) == ids(found)


@contextmanager
def one_job_waits(db: psycopg.Connection, memory: Memory) -> Iterator[None]:
    """A job that has been due for an hour, of a kind that no worker takes at the moment."""
    memory.add_message("bob", "t1", "user", "Bob keeps goats.")
    db.execute("update memory.jobs set run_after = now() - interval '1 hour'")
    with db.transaction():
        db.execute("select from memory.jobs for update")
        yield


@pytest.mark.usefixtures("fake")
def test_the_queue_is_measured(db: psycopg.Connection, dsn: str, connect: Connect, recorded: Recorded) -> None:
    with one_job_waits(db, Memory(connect())):
        asyncio.run(Worker(dsn, lease=timedelta(seconds=60)).run(once=True))
    [age] = recorded.points("agent_memory.queue.age")
    assert 3600 <= age.value < 3600 + 300
    jobs = {
        point.attributes["agent_memory.job.status"]: point.value for point in recorded.points("agent_memory.queue.jobs")
    }
    assert jobs == {"pending": 2, "dead": 0}


@pytest.mark.usefixtures("recorded")
def test_the_runner_in_the_server_does_a_job_that_carries_a_trace(db: psycopg.Connection, server: Server) -> None:
    if server.kind != "system":
        pytest.skip("the embedded server has no PL/Python")
    memory = Memory(db)
    memory.admin.set_policy({"cadence": {"fact_extraction_every_n": 1}})
    memory.add_message("ana", "t1", "user", "My name is Ana.")
    assert carried(db)["extract_memories"]
    memory.run_jobs()
    assert [record.content for record in memory.list_memories("ana")] != []

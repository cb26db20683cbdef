"""A span and a time for each call that stores, searches, changes or deletes."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from agent_memory import AsyncMemory, InvalidValueError, Memory, NotFoundError
from agent_memory.telemetry import instrument, uninstrument
from agent_memory.telemetry.operations import OPERATIONS, REQUESTS
from opentelemetry.trace import SpanKind, StatusCode
from psycopg.conninfo import conninfo_to_dict

from tests.support.sqlapi import Api
from tests.telemetry.recorded import Recorded, attributes

pytestmark = pytest.mark.feature("F23")

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
ANA = "ana-who-is-known"
SECRET = "Ana keeps bees"
OTHERS = {
    *("copy_checkpoints", "delete_checkpoints", "prune_checkpoints", "put_checkpoint", "put_checkpoint_writes"),
    *("get_secret", "set_secret", "delete_secret"),
    *("set_thread", "expand_refs", "export_user", "retry_job", "run_jobs", "record_use"),
}
"""What may change something and is no operation on memories."""


def use_all(memory: Memory) -> None:
    """Call one method of each operation."""
    memory.add_message(ANA, "t1", "user", f"{SECRET}.")
    added = memory.add_memory(ANA, SECRET, agent_id="helper")
    memory.search(ANA, "bees", mode="keyword")
    memory.get_context(ANA, "t1", query="bees")
    memory.update_memory(ANA, added.memory_id, f"{SECRET} now")
    memory.delete_memory(ANA, added.memory_id)


def test_each_operation_has_a_span_and_a_time(dsn: str, recorded: Recorded) -> None:
    with Memory(dsn) as memory:
        use_all(memory)
    operations = ["create_memory", "create_memory", "search_memory", "search_memory", "update_memory", "delete_memory"]
    spans = recorded.spans()
    assert [span.name for span in spans] == operations
    functions = ["add_message", "add_memory", "search", "get_context", "update_memory", "delete_memory"]
    place = conninfo_to_dict(dsn)
    for span, operation, function in zip(spans, operations, functions, strict=True):
        said = attributes(span)
        assert span.kind == SpanKind.CLIENT
        assert span.status.status_code == StatusCode.UNSET
        assert said["gen_ai.operation.name"] == operation
        assert said["agent_memory.function"] == function
        assert said["db.system.name"] == "postgresql"
        assert said["db.namespace"] == place["dbname"]
        assert (said["server.address"], said["server.port"]) == (place["host"], int(str(place["port"])))
        assert said["gen_ai.memory.record.count"] >= 1
    assert attributes(spans[1])["gen_ai.agent.id"] == "helper"
    assert attributes(spans[2])["gen_ai.memory.record.count"] == 2
    assert len({attributes(span)["gen_ai.memory.record.id"] for span in spans[4:]}) == 1
    times = {
        (point.attributes["gen_ai.operation.name"], point.attributes["agent_memory.function"]): point.count
        for point in recorded.points("gen_ai.client.operation.duration")
    }
    assert times == dict.fromkeys(zip(operations, functions, strict=True), 1)
    [bounds] = {point.explicit_bounds for point in recorded.points("gen_ai.client.operation.duration")}
    assert (bounds[0], bounds[-1]) == (0.01, 81.92)


def test_a_call_of_the_asynchronous_client_has_a_span_too(dsn: str, recorded: Recorded) -> None:
    async def use() -> None:
        async with AsyncMemory(dsn) as memory:
            await memory.add_memory(ANA, SECRET, agent_id="helper")

    asyncio.run(use())
    said = attributes(recorded.span("create_memory"))
    assert (said["agent_memory.function"], said["gen_ai.agent.id"]) == ("add_memory", "helper")


def test_nobody_and_nothing_said_is_recorded_unless_that_is_asked_for(
    db: psycopg.Connection, recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory(db)
    use_all(memory)
    with pytest.raises(InvalidValueError):
        memory.search(ANA, SECRET, mode=SECRET)  # type: ignore[arg-type]
    assert ANA not in recorded.text()
    assert "bees" not in recorded.text()
    recorded.clear()
    monkeypatch.setenv(CAPTURE, "true")
    use_all(memory)
    spans = [attributes(span) for span in recorded.spans()]
    assert {said["user.id"] for said in spans} == {ANA}
    assert spans[0]["gen_ai.conversation.id"] == "t1"
    assert json.loads(spans[1]["gen_ai.memory.records"]) == [{"content": SECRET}]
    assert spans[2]["gen_ai.memory.query.text"] == "bees"
    assert SECRET in [found["content"] for found in json.loads(spans[2]["gen_ai.memory.records"])]


def test_lists_say_how_many_records_they_have(db: psycopg.Connection, recorded: Recorded) -> None:
    memory = Memory(db)
    memory.add_messages(ANA, "t1", [{"role": "user", "content": text} for text in ("one", "two", "three")])
    added = memory.add_memories(ANA, [{"content": "first"}, {"content": "second"}])
    memory.delete_memories(ANA, memory_ids=[each.memory_id for each in added])
    assert [attributes(span)["gen_ai.memory.record.count"] for span in recorded.spans()] == [3, 2, 2]


def test_an_error_marks_its_span_and_stays_what_it_is(db: psycopg.Connection, recorded: Recorded) -> None:
    memory = Memory(db)
    with pytest.raises(InvalidValueError, match="role"):
        memory.add_message(ANA, "t1", "nobody", "hi")
    with pytest.raises(NotFoundError):
        memory.update_memory(ANA, "00000000-0000-4000-8000-000000000000", "x")
    db.execute("set statement_timeout = 1")
    with pytest.raises(psycopg.errors.QueryCanceled):
        memory.add_messages(ANA, "t1", [{"role": "user", "content": "word " * 1000}] * 500)
    with pytest.raises(TypeError):
        memory.add_memory()  # type: ignore[call-arg]
    spans = recorded.spans()
    assert [attributes(span)["error.type"] for span in spans] == [
        "InvalidValueError",
        "NotFoundError",
        "QueryCanceled",
        "TypeError",
    ]
    assert [attributes(span).get("db.response.status_code") for span in spans] == ["22023", "P0002", "57014", None]
    for span in spans:
        assert span.status.status_code == StatusCode.ERROR
        assert span.status.description is None
        assert span.events == ()
    types = {point.attributes.get("error.type") for point in recorded.points("gen_ai.client.operation.duration")}
    assert types == {"InvalidValueError", "NotFoundError", "QueryCanceled", "TypeError"}


def test_a_server_out_of_reach_is_told_without_the_password(recorded: Recorded) -> None:
    with Memory("host=/nonexistent user=app password=hunter22") as memory, pytest.raises(psycopg.OperationalError):
        memory.add_memory("ana", "x")
    assert attributes(recorded.span("create_memory"))["error.type"] == "NotConnectedError"
    assert "hunter22" not in recorded.text()


def test_uninstrument_leaves_nothing_behind(db: psycopg.Connection, recorded: Recorded) -> None:
    def methods(client: Any) -> dict[str, Callable[..., Any]]:
        return {name: getattr(client, name) for names in OPERATIONS.values() for name in names}

    instrumented = methods(Memory)
    uninstrument()
    assert not {*instrumented.values()} & {*methods(Memory).values()}
    assert not {name for names in OPERATIONS.values() for name in names} & vars(Memory).keys()
    memory = Memory(db)
    memory.add_memory(ANA, "x")
    with memory.buffer() as buffer:
        buffer.add_memory(ANA, "y")
    assert recorded.spans() == []
    uninstrument()
    instrument(recorded.tracers, recorded.meters)
    memory.add_memory(ANA, "z")
    assert len(recorded.spans()) == 1


def test_each_method_that_may_change_something_has_its_operation(api: Api) -> None:
    rows = api.query(
        "select distinct proname from pg_proc where pronamespace = 'memory'::regnamespace and provolatile = 'v'"
    )
    changing = {row.proname for row in rows} & {name for name in dir(Memory) if not name.startswith("_")}
    known = {name for names in OPERATIONS.values() for name in names}
    assert changing - known - {*REQUESTS} == OTHERS
    assert known & {*REQUESTS} == set()


def test_without_instrument_nothing_of_opentelemetry_is_imported(dsn: str) -> None:
    code = (
        "import sys, agent_memory, agent_memory.cli, agent_memory.worker\n"
        f"with agent_memory.Memory({dsn!r}) as memory: memory.add_memory('ana', 'x'); memory.search('ana', 'x')\n"
        "print([name for name in sys.modules if name.startswith(('opentelemetry', 'agent_memory.telemetry'))])"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_missing_extra_is_named() -> None:
    code = "import sys; sys.modules['opentelemetry.trace'] = None\nimport agent_memory.telemetry"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'pg-agent-memory[otel]'" in done.stderr

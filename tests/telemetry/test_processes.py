"""The commands export where the environment names a collector, and go on with the trace of a request."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from typing import Any

import psycopg
import pytest
from agent_memory import Memory

from tests.http.steps import KEY, token, with_keys
from tests.mcp.steps import McpServing, over_http, over_stdio, stdio_server
from tests.support.runners import PATIENCE, wait_until
from tests.support.servers import ROOT
from tests.telemetry.collector import Collector

pytestmark = pytest.mark.feature("F23")

TRACE_ID, SPAN_ID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACE = f"00-{TRACE_ID}-{SPAN_ID}-01"
PAGE = (ROOT / "docs" / "tracing.md").read_text()


def attributes(span: Any) -> dict[str, Any]:
    return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}


def arrived(collector: Collector, *names: str) -> list[Any]:
    """Wait for spans of these names, and return the first of each."""
    wait_until(lambda: all(collector.spans(name) for name in names))
    return [collector.spans(name)[0] for name in names]


def run_worker(dsn: str, *, before: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    code = f"{before}\nfrom agent_memory.cli import app\napp(['worker', '--once'])"
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "AGENT_MEMORY_DSN": dsn, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def test_a_worker_exports_what_it_does(db: psycopg.Connection, dsn: str, collector: Collector) -> None:
    Memory(db).admin.set_policy({"cadence": {"fact_extraction_every_n": 1, "reconcile_every_n": 0}})
    with db.transaction():
        db.execute("select set_config('agent_memory.traceparent', %s, true)", [TRACE])
        db.execute("select memory.add_message('ana', 't1', 'user', 'My name is Ana.')")
    done = run_worker(dsn, **collector.environment)
    assert done.returncode == 0, done.stderr
    [job] = collector.spans("job extract_memories")
    [link] = job.links
    assert (link.trace_id.hex(), link.span_id.hex()) == (TRACE_ID, SPAN_ID)
    assert {"agent_memory.worker.jobs", "agent_memory.worker.job.duration", "agent_memory.queue.age"} <= (
        collector.metrics()
    )
    assert collector.services() == {"agent-memory"}
    assert "ana" not in collector.text().lower()


@pytest.mark.parametrize(
    ("missing", "protocol", "advice"),
    [
        ("sdk", "http/protobuf", "pip install 'pg-agent-memory[otel]'"),
        ("exporter.otlp.proto.grpc", "grpc", "pip install opentelemetry-exporter-otlp-proto-grpc"),
    ],
)
def test_without_its_packages_a_worker_says_so_and_works(
    db: psycopg.Connection, dsn: str, missing: str, protocol: str, advice: str
) -> None:
    memory = Memory(db)
    memory.add_message("ana", "t1", "user", "My name is Ana.")
    memory.extract_memories("ana", "t1")
    hidden = f"import sys; sys.modules['opentelemetry.{missing}'] = None"
    collector = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
    done = run_worker(dsn, before=hidden, **collector)
    assert done.returncode == 0, done.stderr
    assert advice in done.stderr
    assert memory.list_memories("ana")


def test_a_request_over_http_goes_on_with_its_callers_trace(dsn: str, collector: Collector) -> None:
    with with_keys(dsn, with_mcp=False, **collector.environment) as serving:
        with serving.client(token("ana-of-the-token"), traceparent=TRACE) as ana:
            assert ana.post("/v1/add_memory", json={"content": "Likes tea"}).status_code == 200
        with serving.client(traceparent="00-bad") as admin:
            assert admin.get("/api/v1/agents/helper/memories?user_id=ana-of-the-token").status_code == 200
            assert admin.get("/nowhere/ana-of-the-token?token=secret-in-a-query").status_code == 404
            assert admin.get("/metrics").status_code == 200
            assert admin.get("/healthz").status_code == 200
        asked, stored, listed = arrived(
            collector, "POST /v1/add_memory", "create_memory", "GET /api/v1/agents/{id}/memories"
        )
    assert (asked.trace_id.hex(), asked.parent_span_id.hex()) == (TRACE_ID, SPAN_ID)
    assert (stored.trace_id, stored.parent_span_id) == (asked.trace_id, asked.span_id)
    assert attributes(asked)["http.route"] == "/v1/add_memory"
    assert attributes(asked)["http.response.status_code"] == 200
    assert (listed.parent_span_id, listed.trace_id.hex() == TRACE_ID) == (b"", False)
    arrived(collector, "GET")
    text = collector.text()
    for private in ("ana-of-the-token", "secret-in-a-query", KEY, "Likes tea", "/metrics", "/healthz"):
        assert private not in text


@pytest.mark.parametrize("way", ["stdio", "http"])
def test_a_tool_call_goes_on_with_the_trace_of_its_meta(dsn: str, collector: Collector, way: str) -> None:
    with contextlib.ExitStack() as opened:
        if way == "stdio":
            host = opened.enter_context(
                over_stdio(stdio_server(dsn, "--user", "ana-of-the-host", **collector.environment))
            )
        else:
            serving = opened.enter_context(McpServing(dsn, AGENT_MEMORY_API_KEY=KEY, **collector.environment))
            host = opened.enter_context(over_http(f"{serving.url}?user_id=ana-of-the-host", KEY))
        host.ask("call_tool", "add_memory", {"content": "Likes tea"}, meta={"traceparent": TRACE})
        called, stored = arrived(collector, "tools/call add_memory", "create_memory")
    assert (called.trace_id.hex(), called.parent_span_id.hex()) == (TRACE_ID, SPAN_ID)
    assert (stored.trace_id, stored.parent_span_id) == (called.trace_id, called.span_id)
    assert attributes(called)["gen_ai.tool.name"] == "add_memory"
    for private in ("ana-of-the-host", "Likes tea", KEY):
        assert private not in collector.text()


def test_the_example_of_the_page_exports(dsn: str, collector: Collector) -> None:
    [code] = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code.replace("postgresql:///app", dsn)],
        env={**os.environ, **collector.environment},
        check=True,
    )
    turn, stored, found = arrived(collector, "turn", "create_memory", "search_memory")
    assert stored.parent_span_id == found.parent_span_id == turn.span_id


def test_the_sql_of_the_page_has_a_job_carry_a_trace(db: psycopg.Connection) -> None:
    [code] = re.findall(r"^```sql\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    db.execute(code)
    [[kind, traceparent]] = db.execute("select kind, request ->> 'traceparent' from memory.jobs").fetchall()
    assert kind == "extract_memories"
    assert f"'{traceparent}'" in code

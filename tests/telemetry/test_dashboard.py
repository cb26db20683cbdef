"""The dashboard asks for metrics that Prometheus really gets, and docs/tracing.md names all of them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator

import psycopg
import pytest
from agent_memory import InvalidValueError, Memory
from agent_memory.telemetry import instrument, uninstrument
from agent_memory.worker import Worker
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from tests.http.steps import with_keys
from tests.support.fake_model_server import GATEWAY_TIMEOUT, FakeModelServer
from tests.support.servers import ROOT
from tests.telemetry.recorded import Recorded

pytestmark = pytest.mark.feature("F23")

DASHBOARD = json.loads((ROOT / "docker" / "prometheus" / "dashboard.json").read_text())
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
PAGE = (ROOT / "docs" / "tracing.md").read_text()


@pytest.fixture
def prometheus() -> Iterator[None]:
    """Metrics go to Prometheus's registry of this process."""
    meters = MeterProvider([PrometheusMetricReader()], shutdown_on_exit=False)
    instrument(meter_provider=meters)
    yield
    uninstrument()
    meters.shutdown()


def use(db: psycopg.Connection, dsn: str, fake: FakeModelServer) -> None:
    """Have each metric have a value, with and without an error."""
    memory = Memory(db)
    memory.add_message("ana", "t1", "user", "Ana keeps bees.")
    with pytest.raises(InvalidValueError):
        memory.add_message("ana", "t1", "nobody", "hi")
    fake.next_behaviours = [GATEWAY_TIMEOUT]
    asyncio.run(Worker(dsn).run(once=True))


@pytest.mark.usefixtures("prometheus")
def test_each_query_names_metrics_and_labels_that_there_are(
    db: psycopg.Connection, dsn: str, fake: FakeModelServer
) -> None:
    db.execute("""update memory.models set settings = settings || '{"price_per_million_input": 1}'""")
    use(db, dsn, fake)
    samples = [sample for metric in REGISTRY.collect() for sample in metric.samples]
    with with_keys(dsn) as serving, serving.client() as admin:
        admin.post("/v1/version")
        shown = text_string_to_metric_families(admin.get("/metrics").text)
        samples += [sample for metric in shown for sample in metric.samples]
    names = {sample.name for sample in samples}
    labels = {label for sample in samples for label in sample.labels} | {"agent_memory_node"}  # of clusters only
    assert len(QUERIES) >= 12
    for query in QUERIES:
        named = set(re.findall(r"\b(?:gen_ai|agent_memory)_\w+", query))
        metrics = named & names
        assert metrics, query
        assert named - metrics <= labels, query
        of_metrics = {label for sample in samples if sample.name in metrics for label in sample.labels}
        asked_for = set(re.findall(r"by \(([^)]*)\)", query).pop().split(", "))
        assert asked_for - {"agent_memory_node"} <= of_metrics, query
    families = {"gen_ai_client_operation_duration", "gen_ai_client_token_usage", "agent_memory_worker_jobs"}
    families |= {"agent_memory_worker_job_duration", "agent_memory_queue_jobs", "agent_memory_queue_age"}
    assert [family for family in families if not any(family in query for query in QUERIES)] == []


def test_the_page_names_each_metric_and_attribute(
    db: psycopg.Connection, dsn: str, fake: FakeModelServer, recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    use(db, dsn, fake)
    memory = Memory(db)
    memory.delete_memory("ana", memory.add_memory("ana", "Likes tea", agent_id="helper").memory_id)
    memory.search("ana", "tea")
    said = {*recorded.metrics(), *(name for span in recorded.spans() for name in span.attributes or ())}
    assert sorted(name for name in said if f"`{name}`" not in PAGE) == []

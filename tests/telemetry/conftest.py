"""What is recorded in the process of the test, and a collector for other processes."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from agent_memory import Memory
from agent_memory.telemetry import instrument, uninstrument

from tests.support.fake_model_server import FakeModelServer
from tests.telemetry.collector import Collector
from tests.telemetry.recorded import Recorded

KEY_VARIABLE = "AGENT_MEMORY_KEY_OF_TRACES"


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorded]:
    """The spans and metrics of the test, which are made while it runs."""
    monkeypatch.delenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", raising=False)
    recorded = Recorded()
    instrument(recorded.tracers, recorded.meters)
    yield recorded
    uninstrument()
    recorded.close()


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector of OTLP on loopback."""
    with Collector() as collector:
        yield collector


@pytest.fixture
def fake(db: psycopg.Connection, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModelServer]:
    """A model server, whose models for chat and embeddings are active; every message is read at once."""
    monkeypatch.setenv(KEY_VARIABLE, "secret-key-of-the-model")
    with FakeModelServer() as fake:
        admin = Memory(db).admin
        settings = {"base_url": fake.url, "api_key_env": KEY_VARIABLE}
        admin.register_model("fake chat", "chat", "openai", "mini", settings)
        admin.register_model("fake embedding", "embedding", "openai", "ada", settings)
        for name in ("fake chat", "fake embedding"):
            admin.activate_model(name)
        admin.set_policy({"cadence": {"fact_extraction_every_n": 1, "reconcile_every_n": 0}})
        db.execute("delete from memory.jobs")  # backfills, which nobody in particular made due
        yield fake

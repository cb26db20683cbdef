"""The tracer and the metrics of this process, and what may be recorded."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from opentelemetry import metrics, trace
from opentelemetry.metrics import Counter, Histogram, MeterProvider
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, TracerProvider

from ..errors import AgentMemoryError, client_version

OPERATION = "gen_ai.operation.name"
ERROR = "error.type"
_CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_SCHEMA = "https://opentelemetry.io/schemas/1.41.0"
"""The first version of the conventions that has memory operations."""
_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TOKENS = tuple(4**power for power in range(14))
"""The buckets that the conventions name."""


@dataclass(frozen=True)
class Instruments:
    """What the spans and metrics are made with; docs/tracing.md says what each metric means."""

    tracer: Tracer
    duration: Histogram
    tokens: Histogram
    jobs: Counter
    job_duration: Histogram
    queue_jobs: Any
    queue_age: Any


_instruments: Instruments | None = None


def use(tracer_provider: TracerProvider | None, meter_provider: MeterProvider | None) -> None:
    """Take these providers, or the global ones, for all that follows."""
    global _instruments
    version = client_version()
    meter = metrics.get_meter("agent_memory", version, meter_provider, _SCHEMA)
    _instruments = Instruments(
        trace.get_tracer("agent_memory", version, tracer_provider, _SCHEMA),
        meter.create_histogram(
            "gen_ai.client.operation.duration",
            "s",
            "GenAI operation duration.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        ),
        meter.create_histogram(
            "gen_ai.client.token.usage",
            "{token}",
            "Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=_TOKENS,
        ),
        meter.create_counter("agent_memory.worker.jobs", "{job}", "Jobs that a worker is done with."),
        meter.create_histogram(
            "agent_memory.worker.job.duration",
            "s",
            "Time from the claim of a job until its result is stored.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        ),
        meter.create_gauge("agent_memory.queue.jobs", "{job}", "Jobs that wait, and jobs that failed for good."),
        meter.create_gauge("agent_memory.queue.age", "s", "For how long the first of the waiting jobs is due."),
    )


def instruments() -> Instruments:
    """Return what ``use()`` has made."""
    assert _instruments is not None
    return _instruments


def captures_content() -> bool:
    """Tell whether what users said, and who they are, may be recorded."""
    return os.environ.get(_CAPTURE, "").strip().lower() == "true"


def fail(span: Span, error: BaseException) -> str:
    """Mark a span as failed, and return the type of the error. Messages of errors may repeat what a user said."""
    kind = type(error).__qualname__
    span.set_attribute(ERROR, kind)
    span.set_status(StatusCode.ERROR)
    if isinstance(error, (AgentMemoryError, psycopg.Error)) and error.sqlstate is not None:
        span.set_attribute("db.response.status_code", error.sqlstate)
    if captures_content():
        span.record_exception(error)
    return kind


@contextmanager
def measured(name: str, kind: SpanKind, attributes: Mapping[str, Any], of_metric: Mapping[str, Any]) -> Iterator[Span]:
    """Have a span around what is inside, and enter its time into gen_ai.client.operation.duration."""
    made = instruments()
    started = time.perf_counter()
    failed: dict[str, str] = {}
    with made.tracer.start_as_current_span(
        name, kind=kind, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as span:
        try:
            yield span
        except BaseException as error:
            failed[ERROR] = fail(span, error)
            raise
        finally:
            made.duration.record(time.perf_counter() - started, {**of_metric, **failed})

"""Traces and metrics by OpenTelemetry (docs/tracing.md): ``instrument()``, with the packages of the extra ``otel``.

Nothing of this package is imported, and nothing of the client differs, before ``instrument()`` is called.

- operations.py: a span for each call of the client that stores, searches, changes or deletes.
- work.py: a span for each job, linked to the call that made it due, and for each call of a model; the queue.
- requests.py: a span for each request of a server, in the trace of its caller.
- instruments.py: the tracer and the metrics that these have in common, and what may be recorded.
- exporting.py: sends everything to the collector that the environment names, for the commands.
"""

from __future__ import annotations

from .._text import pip_install

try:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider
except ImportError as error:
    raise ImportError(f"agent_memory.telemetry needs the extra otel. Run: {pip_install('otel')}") from error

from . import operations, requests, work
from .instruments import use

__all__ = ["instrument", "uninstrument"]


def instrument(tracer_provider: TracerProvider | None = None, meter_provider: MeterProvider | None = None) -> None:
    """Have all clients, workers and servers of this process make spans and metrics from now on.

    A second call takes other providers. What users said, and who they are, is recorded only where the environment
    variable OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT is "true".

    Args:
        tracer_provider: makes the spans; None is the global one.
        meter_provider: makes the metrics; None is the global one.
    """
    use(tracer_provider, meter_provider)
    for part in (operations, work, requests):
        part.join_in()


def uninstrument() -> None:
    """Undo ``instrument()``."""
    for part in (operations, work, requests):
        part.leave()

"""The spans and metrics of this process, as the SDK's exporters in memory have them."""

from __future__ import annotations

from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


class Recorded:
    """Spans and metrics.

    Attributes:
        tracers: makes spans.
        meters: makes metrics.
        tracer: for spans of the test's own.
    """

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        self.tracers = TracerProvider(shutdown_on_exit=False)
        self.tracers.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.meters = MeterProvider([self._reader], shutdown_on_exit=False)
        self.tracer = self.tracers.get_tracer("tests")

    def close(self) -> None:
        """End both."""
        self.tracers.shutdown()
        self.meters.shutdown()

    def spans(self, name: str | None = None) -> list[ReadableSpan]:
        """The spans that have ended, of one name or all."""
        return [span for span in self._exporter.get_finished_spans() if name in (None, span.name)]

    def span(self, name: str) -> ReadableSpan:
        """The only span of this name."""
        [span] = self.spans(name)
        return span

    def clear(self) -> None:
        """Forget the spans."""
        self._exporter.clear()

    def metrics(self) -> set[str]:
        """The names of all metrics."""
        data = self._reader.get_metrics_data()
        return {
            each.name
            for of_resource in (data.resource_metrics if data else ())
            for of_scope in of_resource.scope_metrics
            for each in of_scope.metrics
        }

    def points(self, metric: str) -> list[Any]:
        """The data points of a metric."""
        data = self._reader.get_metrics_data()
        return [
            point
            for of_resource in (data.resource_metrics if data else ())
            for of_scope in of_resource.scope_metrics
            for each in of_scope.metrics
            if each.name == metric
            for point in each.data.data_points
        ]

    def text(self) -> str:
        """Everything that was recorded."""
        data = self._reader.get_metrics_data()
        return "\n".join([*(span.to_json() for span in self.spans()), data.to_json() if data else ""])


def ids(span: ReadableSpan) -> tuple[int, int]:
    """The ids of a span's trace and of the span."""
    assert span.context is not None
    return span.context.trace_id, span.context.span_id


def links(span: ReadableSpan) -> list[tuple[int, int]]:
    """The spans that a span is linked to."""
    return [(link.context.trace_id, link.context.span_id) for link in span.links]


def attributes(span: ReadableSpan) -> dict[str, Any]:
    """The attributes of a span."""
    return dict(span.attributes or {})

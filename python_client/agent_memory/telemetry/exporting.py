"""Sends traces and metrics to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names, for the commands that serve."""

from __future__ import annotations

import os
from importlib import import_module

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from .. import _hooks
from . import instrument

_FLUSH = 2000
"""Milliseconds at most."""


def export() -> None:
    """Instrument this process; the SDK reads its other variables, such as OTEL_SERVICE_NAME, by itself.

    Where a program has set providers, such as ``opentelemetry-instrument``, those stay.
    """
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        resource = Resource.create()
        if str(resource.attributes.get("service.name", "")).startswith("unknown_service"):
            resource = resource.merge(Resource({"service.name": "agent-memory"}))
        way = "grpc" if os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL") == "grpc" else "http"
        exporters = f"opentelemetry.exporter.otlp.proto.{way}"
        traces, figures = import_module(f"{exporters}.trace_exporter"), import_module(f"{exporters}.metric_exporter")
        tracing = TracerProvider(resource=resource)
        tracing.add_span_processor(BatchSpanProcessor(traces.OTLPSpanExporter()))
        trace.set_tracer_provider(tracing)
        measuring = MeterProvider([PeriodicExportingMetricReader(figures.OTLPMetricExporter())], resource)
        metrics.set_meter_provider(measuring)

        def flush() -> None:
            tracing.force_flush(_FLUSH)
            measuring.force_flush(_FLUSH)

        _hooks.flush = flush
    instrument()

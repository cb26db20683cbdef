"""Collectors of OTLP over HTTP and gRPC, which keep what they are sent."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)

_KINDS: dict[str, Any] = {"/v1/traces": ExportTraceServiceRequest, "/v1/metrics": ExportMetricsServiceRequest}


class Collector:
    """Listens for HTTP on a free port of loopback until the end of ``with``."""

    def __init__(self) -> None:
        self._received: list[Any] = []
        received = self._received

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # the name that http.server calls
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                received.append(_KINDS[self.path].FromString(body))
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._port = self._server.server_port

    def __enter__(self) -> Collector:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a process that exports here, and does not wait long with it."""
        return {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self._port}",
            "OTEL_BSP_SCHEDULE_DELAY": "50",
            "OTEL_METRIC_EXPORT_INTERVAL": "200",
        }

    def spans(self, name: str | None = None) -> list[Any]:
        """The spans that have come, of one name or all."""
        return [
            span
            for request in [*self._received]
            for of_resource in getattr(request, "resource_spans", ())
            for of_scope in of_resource.scope_spans
            for span in of_scope.spans
            if name in (None, span.name)
        ]

    def metrics(self) -> set[str]:
        """The names of the metrics that have come."""
        return {
            metric.name
            for request in [*self._received]
            for of_resource in getattr(request, "resource_metrics", ())
            for of_scope in of_resource.scope_metrics
            for metric in of_scope.metrics
        }

    def services(self) -> set[str]:
        """The names of the services that have sent something."""
        return {
            attribute.value.string_value
            for request in [*self._received]
            for of_resource in [*getattr(request, "resource_spans", ()), *getattr(request, "resource_metrics", ())]
            for attribute in of_resource.resource.attributes
            if attribute.key == "service.name"
        }

    def text(self) -> str:
        """Everything that has come."""
        return "\n".join(map(str, self._received))

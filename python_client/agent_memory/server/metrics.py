"""Figures for Prometheus: requests and their time, the queue of jobs, and what models have cost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import psycopg
from prometheus_client import CollectorRegistry, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from psycopg.rows import dict_row
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..calls import AsyncCaller
from ..errors import AgentMemoryError
from .access import caller_of
from .nodes import added, ask_nodes
from .problems import ProblemError

_FRESH = 10.0
"""Seconds for which figures of the database are kept: the ledger is summed up as a whole, however many look."""
_QUEUE = "select kind, status, jobs from memory.queue_stats"
_LEDGER = """
select model, kind, sum(calls) as calls, sum(failed_calls) as failed_calls, sum(tokens_in) as tokens_in,
  sum(tokens_out) as tokens_out, sum(price) as price
from memory.model_usage group by model, kind
"""
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 90)

_Figures = tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]
"""The rows of the queue and of the ledger."""


class Metrics:
    """The figures of one server, which no other server in the process shares."""

    def __init__(self, caller: AsyncCaller) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # a series for each series, which nobody asks for
        self._caller = caller
        self._registry = CollectorRegistry()
        self._read_at = float("-inf")
        self._database = _Database()
        self._registry.register(self._database)
        self.seconds = Histogram(
            "agent_memory_http_request_seconds",
            "Time until the last byte of an answer.",
            ("endpoint", "method", "status"),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self.in_flight = Gauge(
            "agent_memory_http_requests_in_flight", "Requests that are not answered yet.", registry=self._registry
        )
        pool_size = Gauge("agent_memory_pool_connections", "Connections to the database.", registry=self._registry)
        pool_size.set_function(lambda: caller.pool_figure("pool_size"))
        waiting = Gauge("agent_memory_pool_waiting", "Requests that wait for one.", registry=self._registry)
        waiting.set_function(lambda: caller.pool_figure("requests_waiting"))

    async def show(self, request: Request) -> Response:
        """Answer with all figures."""
        if not caller_of(request).is_administrator:
            raise ProblemError(403, "metrics are for the administrator", hint="Send the administrator's key.")
        if time.monotonic() > self._read_at + _FRESH:
            await self._read()
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    async def _read(self) -> None:
        """Read the figures of all nodes; without a database, or rights on its views, there are none but its own."""

        async def read(connection: psycopg.AsyncConnection[Any]) -> _Figures:
            cursor = connection.cursor(row_factory=dict_row)
            queue = await (await cursor.execute(_QUEUE)).fetchall()
            return queue, await (await cursor.execute(_LEDGER)).fetchall()

        try:
            self._database.nodes, missing = await ask_nodes(self._caller, read)
            self._database.missing = list(missing)
        except (AgentMemoryError, psycopg.Error, asyncio.TimeoutError):
            self._database.nodes, self._database.missing = {}, [*self._database.nodes, *self._database.missing]
        self._read_at = time.monotonic()


class _Database(Collector):
    """The last figures of the nodes by name, and the names of those that did not answer."""

    def __init__(self) -> None:
        self.nodes: dict[str, _Figures] = {}
        self.missing: list[str] = []

    def collect(self) -> Iterable[Metric]:
        """Yield the figures."""
        yield GaugeMetricFamily(
            "agent_memory_database_up",
            "1 where the database, or a node of its cluster, has answered, with rights on queue_stats and model_usage.",
            1 if self.nodes else 0,
        )
        up = GaugeMetricFamily("agent_memory_node_up", "1 where a node of the cluster has answered.", labels=("node",))
        for node in filter(None, [*self.nodes, *self.missing]):
            up.add_metric((node,), 1 if node in self.nodes else 0)
        yield up
        queue = added((row for rows, _ in self.nodes.values() for row in rows), ("kind", "status"))
        ledger = added((row for _, rows in self.nodes.values() for row in rows), ("model", "kind"))
        jobs = GaugeMetricFamily("agent_memory_jobs", "Jobs in the queue.", labels=("kind", "status"))
        for row in queue:
            jobs.add_metric((row["kind"], row["status"]), row["jobs"])
        yield jobs
        for column, what in (
            ("calls", "Calls of models."),
            ("failed_calls", "Calls of models that failed."),
            ("tokens_in", "Tokens sent to models."),
            ("tokens_out", "Tokens that models wrote."),
            ("price", "What the calls cost, where prices are known."),
        ):
            counter = CounterMetricFamily(f"agent_memory_model_{column}", what, labels=("model", "kind"))
            for row in ledger:
                if row[column] is not None:
                    counter.add_metric((row["model"], row["kind"]), float(row[column]))
            yield counter

    def describe(self) -> Iterable[Metric]:
        """Describe nothing before it is read."""
        return ()


class Measured:
    """Middleware that measures each request."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and note its time and status."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500
        started = time.perf_counter()

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with self._metrics.in_flight.track_inprogress():
            try:
                await self._app(scope, receive, noted)
            finally:
                # Only our own paths become labels, because anybody can make up paths.
                endpoint = scope.get("template", "other")
                method = scope["method"] if "template" in scope else "other"
                seconds = time.perf_counter() - started
                self._metrics.seconds.labels(endpoint, method, str(status)).observe(seconds)

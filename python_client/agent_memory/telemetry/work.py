"""A span for each job that this process does and for each call of a model, and the queue as a worker sees it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from functools import wraps
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import agent_memory_models.calls
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanKind, StatusCode, get_current_span, use_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from .. import _hooks
from ..jobs.job import JobRun, Outcome
from .instruments import ERROR, OPERATION, captures_content, fail, instruments, measured
from .operations import carried

if TYPE_CHECKING:
    from ..worker.queue import QueueStats

_PROVIDERS = {"openai": "openai", "azure": "azure.ai.openai"}
"""The names of the conventions; that of a model that runs in this process is local."""
_OPERATIONS = {"embed": "embeddings", "backfill": "embeddings", "rerank": "rerank"}
"""By kind of job; those of other kinds are chats. The conventions have no name for reranking."""
_OPENAI = "https://api.openai.com"
_propagator = TraceContextTextMapPropagator()
_begin, _finish = JobRun.__init__, JobRun.finish


def join_in() -> None:
    """Observe jobs, calls of models and the queue."""
    JobRun.__init__ = _observed_begin  # type: ignore[method-assign]
    JobRun.finish = _observed_finish  # type: ignore[method-assign]
    agent_memory_models.calls.observer = _call
    _hooks.queue_seen = _queue_seen


def leave() -> None:
    """Observe nothing any more."""
    JobRun.__init__ = _begin  # type: ignore[method-assign]
    JobRun.finish = _finish  # type: ignore[method-assign]
    agent_memory_models.calls.observer = None
    _hooks.queue_seen = None


# Jobs


@wraps(_begin)
def _observed_begin(self: Any, protocol: Any, models: Any, job: Any, **options: Any) -> None:
    """Begin a trace for a job, linked to the call that made it due: that one may have ended long ago."""
    attributes = {
        "agent_memory.job.kind": job.kind,
        "agent_memory.job.id": job.job_id,
        "agent_memory.job.attempt": job.attempt,
    }
    if captures_content():
        attributes["user.id"] = job.user_id
    span = instruments().tracer.start_span(
        f"job {job.kind}", Context(), SpanKind.CONSUMER, attributes, links=_links(job.payload.get("traceparent"))
    )
    self.observed = span, time.perf_counter()
    with use_span(span):
        _begin(self, protocol, models, job, **options)


def _links(traceparent: Any) -> list[Link]:
    """Return the link to the span that a job carries; none where it has another form."""
    if not isinstance(traceparent, str):
        return []
    caller = get_current_span(_propagator.extract({"traceparent": traceparent}, Context())).get_span_context()
    return [Link(caller)] if caller.is_valid else []


@wraps(_finish)
async def _observed_finish(self: Any) -> tuple[Outcome, str]:
    """End the span of a job with what became of it; jobs that follow are linked to it."""
    if not hasattr(self, "observed"):  # it began before instrument()
        return await _finish(self)
    span, started = self.observed
    outcome = "lost"
    with use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False), carried(span):
        try:
            outcome, detail = await _finish(self)
            return outcome, detail
        finally:
            _end(span, self.call, outcome)
            attributes = {"agent_memory.job.kind": self._job.kind, "agent_memory.job.outcome": outcome}
            instruments().jobs.add(1, attributes)
            instruments().job_duration.record(time.perf_counter() - started, attributes)


def _end(span: Span, call: Any, outcome: str) -> None:
    span.set_attribute("agent_memory.job.outcome", outcome)
    if outcome in ("failed", "lost"):
        error = call.exception() if call.done() and not call.cancelled() else None
        if error is not None:
            fail(span, error)
        else:  # the database refused the result, or the lease was gone
            span.set_attribute(ERROR, "refused" if outcome == "failed" else "LeaseLostError")
            span.set_status(StatusCode.ERROR)


# Calls of models


@contextmanager
def _call(entry: dict[str, Any], payload: dict[str, Any]) -> Iterator[None]:
    """Have a span around a call of a model; the built-in rules are none."""
    model = payload["model"]
    settings = model.get("settings") or {}
    is_local = model["provider"] == "local"
    if is_local and entry["kind"] not in _OPERATIONS:
        yield
        return
    operation = _OPERATIONS.get(entry["kind"], "chat")
    if operation == "rerank" and settings.get("rerank_api") == "chat":
        operation = "chat"
    attributes = {
        OPERATION: operation,
        "gen_ai.provider.name": _PROVIDERS.get(model["provider"], model["provider"]),
        "gen_ai.request.model": str(model["model"]),
        **({} if is_local else _place(settings.get("base_url") or _OPENAI)),
    }
    of_span = {**attributes, "agent_memory.job.kind": entry["kind"]}
    kind = SpanKind.INTERNAL if is_local else SpanKind.CLIENT
    with measured(f"{operation} {model['model']}", kind, of_span, attributes) as span:
        try:
            yield
        finally:
            for direction, tokens in (("input", entry["tokens_in"]), ("output", entry["tokens_out"])):
                if tokens is not None and not (direction == "output" and operation == "embeddings"):
                    span.set_attribute(f"gen_ai.usage.{direction}_tokens", tokens)
                    instruments().tokens.record(tokens, {**attributes, "gen_ai.token.type": direction})


def _place(url: str) -> dict[str, str | int]:
    """Return where a model is called; of a URL nothing else is told."""
    try:
        parts = urlsplit(url)
        port = parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError:
        return {}
    return {} if parts.hostname is None else {"server.address": parts.hostname, "server.port": port}


# The queue


def _queue_seen(node: str, stats: QueueStats) -> None:
    of_node = {"agent_memory.node": node} if node else {}
    due = stats.next_run_after
    age = 0.0 if due is None else max((datetime.now(timezone.utc) - due).total_seconds(), 0.0)
    made = instruments()
    made.queue_jobs.set(stats.pending, {**of_node, "agent_memory.job.status": "pending"})
    made.queue_jobs.set(stats.dead, {**of_node, "agent_memory.job.status": "dead"})
    made.queue_age.set(age, of_node)

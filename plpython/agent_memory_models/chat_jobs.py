"""What each kind of job asks of a chat model, and what becomes of the reply."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel

from .errors import ModelError
from .prompts import THREAD_LISTS
from .replies import (
    Articles,
    Memory,
    Reconciliation,
    RollingSummary,
    Scores,
    ThreadSummary,
    UserSummary,
    memories_of,
)
from .summary_lines import Point

Payload = dict[str, Any]


class ChatJob(NamedTuple):
    """The shape of the reply to a job, and the function that makes the job's result of it; that raises ModelError."""

    reply_type: type[BaseModel]
    result: Callable[[Payload, Any], dict[str, Any]]


def chat_job(kind: str, payload: Payload) -> ChatJob:
    """How a model does this job."""
    if kind == "extract_memories":
        return ChatJob(memories_of(tuple(row["memory_type"] for row in payload["memory_types"])), _extraction)
    if kind == "summarize_thread" and payload.get("kind") == "thread":
        kind = "compress_thread"
    return _JOBS[kind]


def _extraction(_: Payload, reply: Any) -> dict[str, Any]:
    memories: list[Memory] = reply.memories
    return {"memories": [memory.model_dump() for memory in memories]}


def _rolling_summary(payload: Payload, reply: RollingSummary) -> dict[str, Any]:
    """Points that rest only on messages before the window are dropped."""
    points = [Point(point.seqs[0], point.seqs[-1], point.text) for point in reply.points]
    if any(point.last_seq > payload["end_seq"] for point in points):
        raise ModelError("the reply rests on a seq that does not exist")
    lines = [str(point) for point in points if point.last_seq >= payload["start_seq"]]
    if not lines:
        raise ModelError("the reply says nothing about the messages of the window")
    return {"summary": "\n".join(lines), "metadata": {}}


def _thread_summary(_: Payload, reply: ThreadSummary) -> dict[str, Any]:
    return {"summary": reply.summary, "metadata": {name: getattr(reply, name) for name in THREAD_LISTS}}


def _user_summary(_: Payload, reply: UserSummary) -> dict[str, Any]:
    return {"summary": reply.summary, "metadata": {"topics": reply.topics}}


def _reconciliation(payload: Payload, reply: Reconciliation) -> dict[str, Any]:
    merged = [entry.numbers for entry in reply.duplicates]
    _check_numbers(payload["facts"], merged, once=True)
    _check_numbers(payload["facts"], [entry.numbers for entry in reply.contradictions], once=False)
    return reply.model_dump()


def _articles(payload: Payload, reply: Articles) -> dict[str, Any]:
    _check_numbers(payload["memories"], [article.numbers for article in reply.articles], once=True)
    return reply.model_dump()


def _scores(payload: Payload, reply: Scores) -> dict[str, Any]:
    _check_numbers(payload["texts"], [[score.number] for score in reply.scores], once=True)
    scores = {score.number: score.score for score in reply.scores}
    if missing := [row["number"] for row in payload["texts"] if row["number"] not in scores]:
        raise ModelError(f"the reply has no score for number {missing[0]}")
    return {"scores": [{"number": row["number"], "score": scores[row["number"]]} for row in payload["texts"]]}


def _check_numbers(rows: Sequence[Payload], groups: Sequence[Sequence[int]], *, once: bool) -> None:
    """Refuse a number that is not among the rows, and with `once` one that stands in two groups."""
    known = {row["number"] for row in rows}
    seen: set[int] = set()
    for group in groups:
        if unknown := set(group) - known:
            raise ModelError(f"the reply names number {min(unknown)}, which was not given")
        if once and (again := seen & set(group)):
            raise ModelError(f"the reply names number {min(again)} twice")
        seen |= set(group)


_JOBS = {
    "summarize_thread": ChatJob(RollingSummary, _rolling_summary),
    "compress_thread": ChatJob(ThreadSummary, _thread_summary),
    "summarize_user": ChatJob(UserSummary, _user_summary),
    "reconcile_memories": ChatJob(Reconciliation, _reconciliation),
    "consolidate": ChatJob(Articles, _articles),
    "rerank": ChatJob(Scores, _scores),
}

"""Kind `summarize_thread`: brings a thread's summary up to date, whose chain the payload's `kind` names.

`rolling` covers the newest window of messages. `thread` covers the whole thread, as compress_thread does.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ..chat.parts import Parts
from ..chat.prompts import fenced, line, messages
from ..chat.question import Question
from ..errors import ModelError
from ..payload import Payload, Result
from ..task import Task
from ..text.extracts import quoted, said, summary_of_quotes, utterances
from ..text.summary_layout import summary_of_text
from ..text.summary_lines import Point, points_in_window
from ..text.words import best_sentences
from . import compress_thread

if TYPE_CHECKING:
    from pydantic import BaseModel

MAX_SENTENCES = 10
"""How many sentences the built-in version quotes."""


async def run(task: Task) -> Result:
    """The summary and its metadata, with the tokens of the messages and of the summary."""
    counts = await task.count_messages()
    if task.payload.get("kind") == "thread":
        made = await compress_thread.summarize_whole(task)
    else:
        made = await task.ask(local=_by_quotes, remote=lambda provider: provider.chat(task, QUESTION))
    return {**made, **counts, **await task.count_summary(made["summary"])}


def _by_quotes(payload: Payload) -> Result:
    """The built-in version: the lines of the previous summary compete with the sentences of the new messages."""
    candidates = points_in_window(payload["previous_summary"], payload["start_seq"])
    candidates += [
        Point(message["seq"], message["seq"], quoted(message, sentence))
        for message, sentence in utterances(payload["messages"])
        if message["seq"] >= payload["start_seq"]
    ]
    best = best_sentences([said(point.text) for point in candidates], MAX_SENTENCES)
    return summary_of_quotes(payload, [str(candidates[position]) for position in best], {})


# The question to a chat model


def _previous_points(payload: Payload) -> str:
    """The points of the previous summary that concern the window; empty where there are none."""
    points = points_in_window(payload["previous_summary"], payload["start_seq"])
    rows = ("-".join(map(str, sorted({point.first_seq, point.last_seq}))) for point in points)
    lines = [line(row, "", (), point.text) for row, point in zip(rows, points, strict=True)]
    return fenced("previous_summary", lines) if lines else ""


@cache
def _reply_type() -> type[BaseModel]:
    from ..chat.replies import Seqs, Text, reply_object

    point = reply_object("RollingPoint", seqs=Seqs, text=Text)
    return reply_object("RollingSummary", points=list[point])  # type: ignore[valid-type]


def _points_of_text(payload: Payload, text: str) -> dict[str, Any]:
    """A text without seqs as points that rest on the whole window."""
    lines = summary_of_text(text)["summary"].splitlines()
    seqs = [payload["start_seq"], payload["end_seq"]]
    return {"points": [{"text": line, "seqs": seqs} for line in lines if line.strip()]}


def _summary_of_points(payload: Payload, reply: Any) -> Result:
    """The reply's points as lines, without points that rest only on messages before the window."""
    points = [Point(point.seqs[0], point.seqs[-1], point.text) for point in reply.points]
    if any(point.last_seq > payload["end_seq"] for point in points):
        raise ModelError("the reply rests on a seq that does not exist")
    lines = [str(point) for point in points if point.last_seq >= payload["start_seq"]]
    if not lines:
        raise ModelError("the reply says nothing about the messages of the window")
    return {"summary": "\n".join(lines), "metadata": {}}


QUESTION = Question(
    variables={
        "messages": messages,
        "previous_summary": _previous_points,
        "start_seq": lambda payload: str(payload["start_seq"]),
        "end_seq": lambda payload: str(payload["end_seq"]),
    },
    reply_type=lambda _: _reply_type(),
    result=_summary_of_points,
    parts=Parts("messages", beside=("previous_summary",), continues=True),
    reply_tokens=2000,
    from_text=_points_of_text,
)

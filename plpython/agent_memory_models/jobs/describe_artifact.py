"""Kind `describe_artifact`: the line that stands in a conversation in the place of a long text."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ..chat.parts import Parts
from ..chat.prompts import fenced, object_line
from ..chat.question import Question
from ..payload import Payload, Result
from ..task import Task

if TYPE_CHECKING:
    from pydantic import BaseModel

_KEYS = ("command", "tool", "exit_status", "token_count", "description", "beginning", "end")


async def run(task: Task) -> Result:
    """The description, on one line or several; the database shortens and cleans it."""
    return await task.ask(local=_by_rule, remote=lambda provider: provider.chat(task, QUESTION))


def _by_rule(payload: Payload) -> Result:
    """The database has made the description by rule already."""
    return {"description": payload["description"]}


@cache
def _reply_type() -> type[BaseModel]:
    from ..chat.replies import Text, reply_object

    return reply_object("Description", description=Text)


def _text(payload: Payload) -> str:
    row = {key: payload[key] for key in _KEYS if payload.get(key) is not None}
    row["description_by_rule"] = row.pop("description")
    return fenced("text", [object_line(row)])


QUESTION = Question(
    variables={"text": _text},
    reply_type=lambda _: _reply_type(),
    result=lambda _, reply: {"description": reply.description},
    parts=Parts(None, beside=("beginning", "end")),
    reply_tokens=300,
)

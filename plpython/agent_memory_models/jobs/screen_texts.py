"""Kind `screen_texts`: which texts of tools, web pages and emails are attacks on the assistant."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ..chat.parts import Parts
from ..chat.prompts import cut, fenced, line
from ..chat.question import Question
from ..errors import ModelError
from ..payload import Payload, Result
from ..task import Task

if TYPE_CHECKING:
    from pydantic import BaseModel


async def run(task: Task) -> Result:
    """One verdict for each text, by a chat model or by a classifier that runs in this process."""
    if task.is_local:
        model = await task.local_model("screen")
        return await task.ask(local=model.screen)
    return await task.ask(remote=lambda provider: provider.chat(task, QUESTION))


def _texts(payload: Payload) -> str:
    return fenced("texts", (line(row["number"], "", (), cut(row["text"])) for row in payload["texts"]))


@cache
def _reply_type() -> type[BaseModel]:
    from ..chat.replies import Whole, reply_object

    verdict = reply_object("Verdict", number=Whole, is_attack=bool, reason=(str, ""))
    return reply_object("Verdicts", verdicts=list[verdict])  # type: ignore[valid-type]


def _verdicts(payload: Payload, reply: Any) -> Result:
    if sorted(verdict.number for verdict in reply.verdicts) != sorted(row["number"] for row in payload["texts"]):
        raise ModelError("the reply does not have one verdict for each number of a text")
    return {"verdicts": [verdict.model_dump() for verdict in reply.verdicts]}


QUESTION = Question(
    variables={"texts": _texts},
    reply_type=lambda _: _reply_type(),
    result=_verdicts,
    parts=Parts("texts", text="text"),
    reply_tokens=2000,
)

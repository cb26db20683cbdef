"""Kind `rerank`: scores of texts for a query. The queue has no such jobs; memory.search() asks and waits."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ..chat.parts import Parts
from ..chat.prompts import cut, fenced, line
from ..chat.question import Question
from ..payload import Payload, Result
from ..providers.scores import in_order
from ..task import Task

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ..providers.openai import OpenAIProvider


async def run(task: Task) -> Result:
    """One score from 0 to 1 for each text, by a reranking model or, with its setting rerank_api, by a chat model."""
    if task.is_local:
        model = await task.local_model("rerank")
        return await task.ask(local=model.rerank)

    async def score(provider: OpenAIProvider) -> Result:
        from ..providers.openai.rerank import rerank_api

        if rerank_api(task.payload["model"]) == "rerank":
            return await provider.rerank(task)
        return await provider.chat(task, QUESTION)

    return await task.ask(remote=score)


# The question to a chat model


def _query(payload: Payload) -> str:
    return fenced("query", [line(None, "query", (), cut(payload["query"]))])


def _texts(payload: Payload) -> str:
    return fenced("texts", (line(row["number"], "", (), cut(row["text"])) for row in payload["texts"]))


@cache
def _reply_type() -> type[BaseModel]:
    from ..chat.replies import Share, Whole, reply_object

    score = reply_object("Score", number=Whole, score=Share)
    return reply_object("Scores", scores=list[score])  # type: ignore[valid-type]


def _scores(payload: Payload, reply: Any) -> Result:
    numbers = [row["number"] for row in payload["texts"]]
    scores = in_order([(row.number, row.score) for row in reply.scores], numbers)
    return {"scores": [{"number": number, "score": score} for number, score in zip(numbers, scores, strict=True)]}


QUESTION = Question(
    variables={"query": _query, "texts": _texts},
    reply_type=lambda _: _reply_type(),
    result=_scores,
    parts=Parts("texts", text="text"),
    reply_tokens=2000,
)

"""Kind `rerank`: scores of texts for a query. The queue has no such jobs; memory.search() asks and waits."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ..chat.prompts import cut, fenced
from ..chat.question import Question, check_numbers
from ..errors import ModelError
from ..payload import Payload, Result
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
    return fenced("query", [{"query": cut(payload["query"])}])


def _texts(payload: Payload) -> str:
    return fenced("texts", ({"number": row["number"], "text": cut(row["text"])} for row in payload["texts"]))


@cache
def _reply_type() -> type[BaseModel]:
    from ..chat.replies import Share, Whole, reply_object

    score = reply_object("Score", number=Whole, score=Share)
    return reply_object("Scores", scores=list[score])  # type: ignore[valid-type]


def _scores(payload: Payload, reply: Any) -> Result:
    check_numbers(payload["texts"], [[score.number] for score in reply.scores], once=True)
    scores = {score.number: score.score for score in reply.scores}
    if missing := [row["number"] for row in payload["texts"] if row["number"] not in scores]:
        raise ModelError(f"the reply has no score for number {missing[0]}")
    return {"scores": [{"number": row["number"], "score": scores[row["number"]]} for row in payload["texts"]]}


QUESTION = Question(variables={"query": _query, "texts": _texts}, reply_type=lambda _: _reply_type(), result=_scores)

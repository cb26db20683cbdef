"""Scores of texts for a query by a reranking model: POST /rerank, as Cohere, Jina, vLLM and TEI offer it."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AliasChoices, AllowInfNan, BaseModel, Field, TypeAdapter, ValidationError

from ...calls import recorded_call
from ...chat.replies import first_problem
from ...errors import ModelError
from ...payload import Result
from ...task import Task
from ...text.tokens import TokenCounter
from ..scores import in_order, shares
from .client import OpenAIClient, RefusedRequestError
from .usage import used_tokens

DEFAULT_BATCH_SIZE = 128
MAX_BATCH_SIZE = 2048

_APIS = ("rerank", "chat")
# TEI names the documents `texts`, and refuses a request without this field.
_LACKS_TEXTS = re.compile(r"missing field `?texts")


class _Score(BaseModel):
    index: Annotated[int, Field(ge=0, lt=MAX_BATCH_SIZE)]
    score: Annotated[float, AllowInfNan(False)] = Field(validation_alias=AliasChoices("relevance_score", "score"))


_List = Annotated[list[_Score], Field(max_length=MAX_BATCH_SIZE)]


class _Scores(BaseModel):
    results: _List
    usage: Any = None


_BARE_LIST: TypeAdapter[list[_Score]] = TypeAdapter(_List)


def rerank_api(model: dict[str, Any]) -> str:
    """The way to ask a reranking model: `rerank`, POST /rerank, or `chat`, a prompt. Raises ModelError for another."""
    api = (model.get("settings") or {}).get("rerank_api") or "rerank"
    if api not in _APIS:
        raise ModelError(f"rerank_api must be one of {', '.join(_APIS)}")
    return str(api)


class OpenAIRerank:
    """Scores texts, many in one request, and remembers which servers want requests in the form of TEI."""

    def __init__(self, client: OpenAIClient, counter: TokenCounter) -> None:
        self._client = client
        self._counter = counter
        self._wants_texts: set[str] = set()

    async def rerank(self, job: Task) -> Result:
        """The result of a `rerank` call, scores from 0 to 1; each request made is entered into its calls.

        Raises ModelError when a score is missing, not finite or for no text, and as OpenAIClient.request.
        """
        model = job.payload["model"]
        settings = model.get("settings") or {}
        self._client.check_reach(model)
        if not settings.get("base_url"):
            raise ModelError("a reranking model needs the setting base_url, unless its rerank_api is chat")
        rows = job.payload["texts"]
        size = min(int(settings.get("batch_size") or DEFAULT_BATCH_SIZE), MAX_BATCH_SIZE)
        scores: list[float] = []
        for start in range(0, len(rows), size):
            texts = [row["text"] for row in rows[start : start + size]]
            scores += await self._rerank_batch(job, texts)
        return {
            "scores": [
                {"number": row["number"], "score": score} for row, score in zip(rows, shares(scores), strict=True)
            ]
        }

    async def _rerank_batch(self, job: Task, texts: list[str]) -> list[float]:
        server = job.payload["model"]["settings"]["base_url"]
        while True:
            wants_texts = server in self._wants_texts
            try:
                with recorded_call(job.calls, job.kind, job.payload) as call:
                    return await self._ask(job.payload, texts, wants_texts, call)
            except RefusedRequestError as error:
                if wants_texts or not _LACKS_TEXTS.search(error.said):
                    raise
            self._wants_texts.add(server)

    async def _ask(
        self, payload: dict[str, Any], texts: list[str], wants_texts: bool, call: dict[str, Any]
    ) -> list[float]:
        """The scores of one request, in the order of the texts; the tokens that it took are entered into `call`."""
        model, query = payload["model"], payload["query"]
        if wants_texts:
            request: dict[str, Any] = {"query": query, "texts": texts, "truncate": True}
        else:
            request = {"model": model["model"], "query": query, "documents": texts, "top_n": len(texts)}

        body = await self._client.post(model, "/rerank", request)
        try:
            if body.lstrip()[:1] == b"[":
                reply = _Scores.model_construct(results=_BARE_LIST.validate_json(body))
            else:
                reply = _Scores.model_validate_json(body)
        except ValidationError as error:
            raise ModelError(f"the reply is not a list of scores: {first_problem(error)}") from None
        call["tokens_in"] = used_tokens(reply.usage, "prompt_tokens", "total_tokens")
        call["tokens_out"] = 0
        if call["tokens_in"] is None:
            # The model reads the query once more with each text.
            call["tokens_in"] = await self._counter.count([*texts, *[query] * len(texts)], model["model"])
        return in_order([(row.index, row.score) for row in reply.results], range(len(texts)))

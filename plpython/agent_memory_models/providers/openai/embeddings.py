"""Embeddings of OpenAI, of any server that speaks its protocol, or of Azure."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from pydantic import AllowInfNan, BaseModel, Field, ValidationError

from ...calls import Calls, recorded_call
from ...chat.replies import first_problem
from ...errors import ModelError
from ...text.tokens import TokenCounter
from ..keys import check_key
from .client import OpenAIClient
from .usage import used_tokens

DEFAULT_BATCH_SIZE = 128
MAX_DIMENSIONS = 4000
"""The most that pgvector can index as halfvec; more are refused before they take 200 bytes of memory each."""
SIGNIFICANT_DIGITS = 6
"""Digits kept of each number: more than the 2-byte floats of halfvec hold, at half the length of what servers send."""

MOST_IN_HALFVEC = 65000
NOTHING_IN_HALFVEC = 2**-25
"""The largest number that a 2-byte float rounds to 0."""


class _Embedding(BaseModel):
    index: int | None = None
    embedding: Annotated[list[Annotated[float, AllowInfNan(False)]], Field(max_length=MAX_DIMENSIONS)]


class _Embeddings(BaseModel):
    data: list[_Embedding]
    usage: Any = None


class OpenAIEmbeddings:
    """Embeds texts, many in one request."""

    def __init__(self, client: OpenAIClient, counter: TokenCounter) -> None:
        self._client = client
        self._counter = counter

    async def embed(self, kind: str, payload: dict[str, Any], calls: Calls) -> dict[str, Any]:
        """The result of an `embed` or `backfill` job; each request made is entered into `calls`.

        Without texts no request is made: the caller wants to know whether the model could be asked.

        Raises ModelError when a number is missing or cannot be stored, or a vector is 0 or of another dimension, and
        as OpenAIClient.request.
        """
        check_key(payload["model"])
        texts = [row["text"] for row in payload["texts"]]
        settings = payload["model"].get("settings") or {}
        size = int(settings.get("batch_size") or DEFAULT_BATCH_SIZE)
        vectors: list[list[float]] = []
        for start in range(0, len(texts), size):
            with recorded_call(calls, kind, payload) as call:
                vectors += await self._embed_once(payload["model"], texts[start : start + size], call)
                dimensions = settings.get("dimensions") or len(vectors[0])
                if wrong := {len(vector) for vector in vectors} - {dimensions}:
                    raise ModelError(f"the reply has a vector of {wrong.pop()} dimensions instead of {dimensions}")
                largest = [max(map(abs, vector)) for vector in vectors]
                if min(largest) <= NOTHING_IN_HALFVEC:
                    raise ModelError("the reply has a vector without direction: all its numbers are 0")
                if max(largest) > MOST_IN_HALFVEC:
                    raise ModelError("the reply has a number that a 2-byte float cannot hold")
        return {"embeddings": vectors}

    async def _embed_once(self, model: dict[str, Any], texts: list[str], call: dict[str, Any]) -> list[list[float]]:
        settings = model.get("settings") or {}
        request = {"model": model["model"], "input": texts, "encoding_format": "float"}
        if settings.get("dimensions"):
            request["dimensions"] = settings["dimensions"]
        # client.embeddings.create() would take a quarter of a millisecond to check the request.
        body = await self._client.post(model, "/embeddings", request)
        try:
            reply = _Embeddings.model_validate_json(body)
        except ValidationError as error:
            raise ModelError(f"the reply is not a list of embeddings: {first_problem(error)}") from None
        call["tokens_in"] = used_tokens(reply.usage, "prompt_tokens", "total_tokens")
        call["tokens_out"] = 0
        if call["tokens_in"] is None:
            call["tokens_in"] = sum([await self._counter.count(text, model["model"]) for text in texts])
        if len(reply.data) != len(texts):
            raise ModelError(f"the reply has {len(reply.data)} embeddings for {len(texts)} texts")
        # In the order of the texts, which `index` numbers where the server gives it.
        rows = sorted(enumerate(reply.data), key=lambda row: row[0] if row[1].index is None else row[1].index)
        vectors = []
        for _, row in rows:
            vectors.append([float(f"{number:.{SIGNIFICANT_DIGITS}g}") for number in row.embedding])
            await asyncio.sleep(0)  # hundreds of thousands of numbers should not hold up the other jobs
        return vectors

"""Embeddings of OpenAI, of any server that speaks its protocol, or of Azure."""

from __future__ import annotations

import re
import sys
from array import array
from base64 import b64decode
from typing import Annotated, Any

from pydantic import AllowInfNan, BaseModel, BeforeValidator, Field, ValidationError

from ...calls import recorded_call
from ...chat.replies import first_problem
from ...errors import ModelError, TimedOutError
from ...payload import Result, Vectors
from ...task import Task
from ...text.tokens import TokenCounter
from ..keys import check_key
from ..known import input_type_of, settings_of
from .client import OpenAIClient, RefusedRequestError, server_of
from .server import is_about_length
from .usage import used_tokens

DEFAULT_BATCH_SIZE = 128
MAX_DIMENSIONS = 4000
"""The most that pgvector can index as halfvec; more are refused before they take 200 bytes of memory each."""

# Members of a request that it can do without, and what a refusal calls them.
_OPTIONS = {
    "encoding_format": re.compile(r"encoding_?format|base64", re.IGNORECASE),
    "input_type": re.compile("input_?type", re.IGNORECASE),
}

MOST_IN_HALFVEC = 65000
NOTHING_IN_HALFVEC = 2**-25
"""The largest number that a 2-byte float rounds to 0."""


def _numbers(value: Any) -> Any:
    """The numbers in base64, 4 bytes each; anything else as it is. Raises ValueError for any other text."""
    if not isinstance(value, str):
        return value
    numbers = array("f", b64decode(value, validate=True))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()


class _Embedding(BaseModel):
    index: int | None = None
    embedding: Annotated[
        list[Annotated[float, AllowInfNan(False)]], Field(max_length=MAX_DIMENSIONS), BeforeValidator(_numbers)
    ]


class _Embeddings(BaseModel):
    data: list[_Embedding]
    usage: Any = None


class OpenAIEmbeddings:
    """Embeds texts, many in one request."""

    def __init__(self, client: OpenAIClient, counter: TokenCounter) -> None:
        self._client = client
        self._counter = counter
        self._refused: set[tuple[str, ...]] = set()

    async def embed(self, job: Task) -> Result:
        """The result of an `embed` or `backfill` job; each request made is entered into its calls.

        Without texts no request is made: the caller wants to know whether the model could be asked.

        Raises ModelError when a number is missing or cannot be stored, or a vector is 0 or of another dimension, and
        as OpenAIClient.request.
        """
        payload, model = job.payload, job.payload["model"]
        check_key(model)
        self._client.check_reach(model)
        texts = [row["text"] for row in payload["texts"]]
        settings = settings_of(model)
        size = int(settings.get("batch_size") or DEFAULT_BATCH_SIZE)
        vectors = Vectors()
        while len(vectors) < len(texts):
            options = self._options(model, bool(payload.get("is_query")))
            some = texts[len(vectors) : len(vectors) + size]
            try:
                with recorded_call(job.calls, job.kind, payload) as call:
                    embedded = await self._embed_once(model, some, options, call)
                    _check(embedded, settings.get("dimensions") or len((vectors or embedded)[0]))
            except RefusedRequestError as error:
                if option := next((name for name in options if _OPTIONS[name].search(error.said)), None):
                    self._refused.add((*server_of(model), model["model"], option))
                elif len(some) > 1 and is_about_length(error.said):
                    size = len(some) // 2
                else:
                    raise
            else:
                vectors += embedded
        return {"embeddings": vectors}

    def _options(self, model: dict[str, Any], is_query: bool) -> dict[str, Any]:
        """The members of a request that the server takes, beside those that it cannot do without."""
        # As base64 a number has 4 bytes, as JSON 20, which take the server and this process far longer.
        options = {"encoding_format": "base64", "input_type": input_type_of(model, is_query)}
        return {
            name: value
            for name, value in options.items()
            if value is not None and (*server_of(model), model["model"], name) not in self._refused
        }

    async def _embed_once(
        self, model: dict[str, Any], texts: list[str], options: dict[str, Any], call: dict[str, Any]
    ) -> list[list[float]]:
        settings = settings_of(model)
        request = {"model": model["model"], "input": texts, "encoding_format": "float", **options}
        if settings.get("dimensions"):
            request["dimensions"] = settings["dimensions"]
        request |= settings.get("request") or {}
        # client.embeddings.create() would take a quarter of a millisecond to check the request.
        try:
            body = await self._client.post(model, "/embeddings", request)
        except TimedOutError:
            call["tokens_in"] = await self._counter.count(texts, model["model"])
            raise
        try:
            reply = _Embeddings.model_validate_json(body)
        except ValidationError as error:
            raise ModelError(f"the reply is not a list of embeddings: {first_problem(error)}") from None
        call["tokens_in"] = used_tokens(reply.usage, "prompt_tokens", "total_tokens")
        call["tokens_out"] = 0
        if call["tokens_in"] is None:
            call["tokens_in"] = await self._counter.count(texts, model["model"])
        if len(reply.data) != len(texts):
            raise ModelError(f"the reply has {len(reply.data)} embeddings for {len(texts)} texts")
        # In the order of the texts, which `index` numbers where the server gives it.
        rows = sorted(enumerate(reply.data), key=lambda row: row[0] if row[1].index is None else row[1].index)
        return [row.embedding for _, row in rows]


def _check(vectors: list[list[float]], dimensions: int) -> None:
    """Raises ModelError for a vector of other dimensions, or one that cannot be stored."""
    if wrong := {len(vector) for vector in vectors} - {dimensions}:
        raise ModelError(f"the reply has a vector of {wrong.pop()} dimensions instead of {dimensions}")
    largest = [max(max(vector), -min(vector)) for vector in vectors]
    if min(largest) <= NOTHING_IN_HALFVEC:
        raise ModelError("the reply has a vector without direction: all its numbers are 0")
    if max(largest) > MOST_IN_HALFVEC:
        raise ModelError("the reply has a number that a 2-byte float cannot hold")

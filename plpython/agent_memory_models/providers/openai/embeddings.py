"""Embeddings of OpenAI, of any server that speaks its protocol, or of Azure."""

from __future__ import annotations

import re
import sys
from array import array
from base64 import b64decode
from typing import Annotated, Any

from pydantic import AllowInfNan, BaseModel, BeforeValidator, Field, ValidationError

from ...calls import Calls, recorded_call
from ...chat.replies import first_problem
from ...errors import ModelError
from ...payload import Vectors
from ...text.tokens import TokenCounter
from ..keys import check_key
from .client import OpenAIClient, RefusedRequestError
from .usage import used_tokens

DEFAULT_BATCH_SIZE = 128
MAX_DIMENSIONS = 4000
"""The most that pgvector can index as halfvec; more are refused before they take 200 bytes of memory each."""

# The error of a server that cannot send numbers as base64.
_ABOUT_BASE64 = re.compile(r"encoding_?format|base64", re.IGNORECASE)

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
        self._without_base64: set[tuple[str, ...]] = set()

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
        server = (payload["model"]["provider"], str(settings.get("base_url")), payload["model"]["model"])
        vectors = Vectors()
        while len(vectors) < len(texts):
            # As base64 a number has 4 bytes, as JSON 20, which take the server and this process far longer.
            form = "float" if server in self._without_base64 else "base64"
            try:
                with recorded_call(calls, kind, payload) as call:
                    some = texts[len(vectors) : len(vectors) + size]
                    embedded = await self._embed_once(payload["model"], some, form, call)
                    _check(embedded, settings.get("dimensions") or len((vectors or embedded)[0]))
            except RefusedRequestError as error:
                if form == "float" or not _ABOUT_BASE64.search(error.said):
                    raise
                self._without_base64.add(server)
            else:
                vectors += embedded
        return {"embeddings": vectors}

    async def _embed_once(
        self, model: dict[str, Any], texts: list[str], form: str, call: dict[str, Any]
    ) -> list[list[float]]:
        settings = model.get("settings") or {}
        request = {"model": model["model"], "input": texts, "encoding_format": form}
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

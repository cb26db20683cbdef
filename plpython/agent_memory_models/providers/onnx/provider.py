"""Jobs done by models of this process, in batches that run in threads beside the event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from ...errors import ModelError
from ...payload import Payload, Result, Vectors
from ..scores import shares
from .loading import load

if TYPE_CHECKING:
    from .loading import OnnxModel

MAX_TEXTS_AT_ONCE = 32
MAX_PAIRS_AT_ONCE = 64
"""A search has 50 results reranked, which are one run if they are short (MAX_TOKENS_AT_ONCE)."""


class OnnxProvider:
    """Runs models, as many batches at a time as there are processors; a batch that waits can be cancelled."""

    def __init__(self, *, may_download: bool) -> None:
        self._may_download = may_download
        self._turns = asyncio.Semaphore(os.cpu_count() or 1)

    async def model(self, kind: str, model: dict[str, Any]) -> LoadedModel:
        """A model, loaded if it is not yet. Raises MissingModelError and ModelError."""
        loaded = await asyncio.to_thread(partial(load, kind, model, may_download=self._may_download))
        return LoadedModel(loaded, self._turns)


class LoadedModel:
    """Makes the results of jobs."""

    def __init__(self, model: OnnxModel, turns: asyncio.Semaphore) -> None:
        self._model = model
        self._turns = turns

    async def embed(self, payload: Payload) -> Result:
        """The embeddings of the payload's texts, of length 1. Raises ModelError."""
        texts = [row["text"] for row in payload["texts"]]
        vectors = Vectors([[]] * len(texts))
        async for places, output in self._in_turns(self._model.embed(texts, _max_texts(payload))):
            for place, vector in zip(places, _unit_vectors(output), strict=True):
                vectors[place] = vector
        return {"embeddings": vectors}

    async def rerank(self, payload: Payload) -> Result:
        """A score from 0 to 1 for each of the payload's texts. Raises ModelError."""
        rows = payload["texts"]
        scores = [0.0] * len(rows)
        texts = [row["text"] for row in rows]
        runs = self._model.score(payload["query"], texts, _max_texts(payload, MAX_PAIRS_AT_ONCE))
        async for places, output in self._in_turns(runs):
            for place, score in zip(places, output.tolist(), strict=True):
                scores[place] = score
        return {
            "scores": [
                {"number": row["number"], "score": score} for row, score in zip(rows, shares(scores), strict=True)
            ]
        }

    async def screen(self, payload: Payload) -> Result:
        """The verdict on each of the payload's texts. Raises ModelError."""
        from .folder import FolderModel

        if not isinstance(self._model, FolderModel):
            raise ModelError("a local screen model is a folder with model.onnx: name one in model_dir")
        rows = payload["texts"]
        shares_of_attacks = [0.0] * len(rows)
        runs = self._model.suspect([row["text"] for row in rows], _max_texts(payload))
        async for places, output in self._in_turns(runs):
            for place, share in zip(places, output.tolist(), strict=True):
                shares_of_attacks[place] = share
        return {
            "verdicts": [
                {"number": row["number"], "is_attack": share >= 0.5, "reason": f"an attack, {share:.0%}"}
                for row, share in zip(rows, shares_of_attacks, strict=True)
            ]
        }

    async def _in_turns(self, runs: Iterator[tuple[list[int], Any]]) -> Any:
        """Each run's outcome; other jobs have their turns between two runs."""
        while True:
            async with self._turns:
                run = await asyncio.to_thread(next, runs, None)
            if run is None:
                return
            yield run


def _max_texts(payload: Payload, default: int = MAX_TEXTS_AT_ONCE) -> int:
    return int((payload["model"].get("settings") or {}).get("batch_size") or default)


def _unit_vectors(output: Any) -> list[list[float]]:
    """The rows as vectors of length 1, with as many digits as a 2-byte float holds. Raises ModelError."""
    import numpy

    lengths = numpy.linalg.norm(output.astype(numpy.float64), axis=1, keepdims=True)
    if not (numpy.isfinite(lengths).all() and lengths.all()):
        raise ModelError("the model gives a vector that is 0 or not finite")
    vectors: list[list[float]] = numpy.round(output / lengths, 6).tolist()
    return vectors

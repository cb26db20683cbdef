"""A model that the package fastembed knows by name: downloaded once, then read from the cache."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from ...errors import MissingModelError, ModelError

logger = logging.getLogger("agent_memory.models")

CACHE_VARIABLE = "FASTEMBED_CACHE_PATH"
"""Where the weights are kept; ~/.cache/agent_memory/models unless set."""


class NamedModel:
    """A loaded model; threads may share it. Each run takes one thread, as FolderModel.

    Raises MissingModelError where the weights are not in the cache and cannot be downloaded, ModelError for a name that
    fastembed does not know, and ImportError where a package is missing.
    """

    def __init__(self, kind: str, name: str) -> None:
        import fastembed
        from fastembed.common.model_description import BaseModelDescription, ModelSource
        from fastembed.rerank.cross_encoder import TextCrossEncoder
        from loguru import logger as of_fastembed

        of_fastembed.disable("fastembed")  # what goes wrong is said in the error
        factory: Any = fastembed.TextEmbedding if kind == "embedding" else TextCrossEncoder
        known = {each["model"].lower(): each for each in factory.list_supported_models()}
        if name.lower() not in known:
            raise ModelError(
                f"fastembed has no {kind} model of this name: take one of its list, or name a folder in model_dir"
            )
        described = {field.name: known[name.lower()][field.name] for field in fields(BaseModelDescription)}
        description = BaseModelDescription(**{**described, "sources": ModelSource(**described["sources"])})
        folder = os.environ.get(CACHE_VARIABLE) or _cache_folder()
        failures: list[BaseException] = []

        class Telling(factory):  # type: ignore[misc]
            """The same; it keeps the failures of downloads, of which fastembed only says that there were some."""

            @classmethod
            def download_files_from_huggingface(cls, *arguments: Any, **options: Any) -> Any:
                try:
                    return super().download_files_from_huggingface(*arguments, **options)
                except Exception as error:
                    failures.append(error)
                    raise

        try:
            try:
                path = factory.download_model(description, folder, local_files_only=True)
            except ValueError:
                path = None
            if path is None:
                # A warning, so that a program without logging shows the line: nothing else happens for 8 s or longer.
                logger.warning("downloading the weights of model %s to %s, once", name, folder)
                # In a single attempt: with those that fastembed adds, a machine without a network waits 40 s.
                path = Telling.download_model(description, folder, retries=1)
            self._model = factory(name, threads=1, cuda=False, specific_model_path=str(path))
        except Exception as error:  # network, disk and hub each have errors of their own
            raise MissingModelError(
                f"the weights of model {name} could not be downloaded to {folder}: {_cause([error, *failures][-1])}"
            ) from None

    def embed(self, texts: Sequence[str], max_texts: int) -> Iterator[tuple[list[int], Any]]:
        """Run the model, as FolderModel.embed."""
        import numpy

        for start in range(0, len(texts), max_texts):
            batch = texts[start : start + max_texts]
            yield [*range(start, start + len(batch))], numpy.stack([*self._model.embed(batch, batch_size=max_texts)])

    def score(self, query: str, texts: Sequence[str], max_texts: int) -> Iterator[tuple[list[int], Any]]:
        """Run a cross-encoder, as FolderModel.score."""
        import numpy

        for start in range(0, len(texts), max_texts):
            batch = texts[start : start + max_texts]
            scores = numpy.array([*self._model.rerank(query, batch, batch_size=max_texts)])
            yield [*range(start, start + len(batch))], scores


def _cause(error: BaseException) -> str:
    """Say in one line what has failed at first: libraries of downloads raise one error because of another."""
    while cause := error.__cause__ or error.__context__:
        error = cause
    return f"{type(error).__name__}: {error}".partition("\n")[0][:300]


def _cache_folder() -> str:
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return str(Path(caches, "agent_memory", "models"))

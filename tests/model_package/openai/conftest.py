"""Fixtures of the tests of the openai client: a model server on loopback, keys, and encodings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fake_model_server import FakeModelServer
from tests.support.model_payloads import ENCODINGS


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No encodings unless a test asks for them, and never a download."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "no-encodings"))


@pytest.fixture
def encodings(_offline: None, monkeypatch: pytest.MonkeyPatch) -> None:
    if not ENCODINGS.exists():
        pytest.skip(f"tiktoken's encodings are not in {os.path.relpath(ENCODINGS)}")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(ENCODINGS))


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModelServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with FakeModelServer() as server:
        yield server

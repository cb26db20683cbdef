"""The worker and models of provider local."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from agent_memory import Memory
from agent_memory.worker import WorkerCounts
from agent_memory_models.providers.onnx import loading

from tests.support.local_models import tiny_embedder
from tests.worker.steps import run_once


@pytest.mark.feature("F18")
def test_jobs_wait_for_weights_that_are_missing(
    dsn: str, db: psycopg.Connection, memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "_missing", {})
    folder = tmp_path / "model"
    memory.admin.register_model("tiny", "embedding", "local", "tiny", {"model_dir": str(folder)})
    memory.admin.activate_model("tiny")
    memory.add_message("ana", "monday", "user", "Green tea")
    assert run_once(dsn) == WorkerCounts(released=1)
    job = "select status, attempts, run_after > now() from memory.jobs where kind = 'embed'"
    assert db.execute(job).fetchall() == [("pending", 0, True)]
    assert db.execute("select count(*) from memory.model_calls").fetchone() == (0,)
    tiny_embedder(folder, ("tea", "green"))
    loading._missing.clear()
    db.execute("update memory.jobs set run_after = now()")
    assert run_once(dsn) == WorkerCounts(completed=1)
    assert db.execute("select count(*) from memory.texts where model is not null").fetchone() == (1,)

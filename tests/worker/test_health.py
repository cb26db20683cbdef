"""The health file of a worker, and how it starts."""

import asyncio
import json
import os
import re
from datetime import datetime, timedelta, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory import Memory, NotInstalledError
from agent_memory.calls import AsyncWorkerProtocol
from agent_memory.worker.health import NotAliveError, check_health, write_health
from agent_memory_models import ModelError

from tests.support.runners import PATIENCE
from tests.worker.steps import Scripted, queue, run_once, running, until


def test_a_health_file_is_written_through_no_link(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("of another program")
    for name in ("health.json", "health.json.new"):
        (tmp_path / name).symlink_to(tmp_path / "other")
    write_health(tmp_path / "health.json", {"state": "running"})
    assert (tmp_path / "other").read_text() == "of another program"
    assert json.loads((tmp_path / "health.json").read_text())["state"] == "running"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["health.json", "health.json.new", "other"]


class TestHealth:
    def test_the_file_tells_the_state(self, dsn: str, memory: Memory, tmp_path: Path) -> None:
        path = tmp_path / "health.json"
        queue(memory, threads=2)
        states: list[dict[str, Any]] = []

        async def run(payload: dict[str, Any]) -> dict[str, Any]:
            await until(lambda: json.loads(path.read_text())["in_flight"] == 2)
            if payload["thread_id"] == "t0":
                raise ModelError("the model answered nonsense")
            return {"memories": []}

        async def scenario() -> None:
            async with running(dsn, name="me", models=Scripted(run), poll_interval=0.05, health_file=path) as beside:
                await until(lambda: beside.counts.settled == 2)
                states.append(json.loads(path.read_text()))
                await until(lambda: json.loads(path.read_text())["time"] > states[0]["time"])

        asyncio.run(scenario())
        [state] = states
        now = datetime.now(timezone.utc)
        for name in ("time", "last_claim_at"):
            assert now - timedelta(minutes=5) < datetime.fromisoformat(state.pop(name)) <= now
        assert state.pop("in_flight") < 2
        assert "failed (now pending): the model answered nonsense" in state.pop("last_error")
        assert state == {
            "worker": "me",
            "pid": os.getpid(),
            "version": version("pg-agent-memory"),
            "state": "polling",
            "counts": {"completed": 1, "failed": 1, "released": 0, "lost": 0},
        }
        assert json.loads(path.read_text())["state"] == "stopping"
        assert list(tmp_path.iterdir()) == [path]
        with pytest.raises(FileNotFoundError):
            run_once(dsn, health_file=tmp_path / "missing" / "health.json")

    def test_without_a_database_it_is_alive(self, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        async def out_of_reach(*_: Any, **__: Any) -> None:
            raise psycopg.OperationalError("no route to the host")

        async def scenario() -> None:
            path = tmp_path / "health.json"
            async with running(dsn, poll_interval=0.05, health_file=path) as beside:
                await until(lambda: beside._last_claim_at)
                monkeypatch.setattr(AsyncWorkerProtocol, "claim_jobs", out_of_reach)
                await until(lambda: json.loads(path.read_text())["last_error"])
                assert "no route to the host" in path.read_text()
                assert re.match(rf"{beside.name} was polling \d+ s ago", check_health(path, max_age=PATIENCE))

        asyncio.run(scenario())

    def test_anything_else_is_no_health_file(self, tmp_path: Path) -> None:
        path = tmp_path / "health.json"
        for content in ("", "[]", '{"time": "2025-01-01", "worker": "me"}'):
            path.write_text(content)
            with pytest.raises(NotAliveError, match="is not the health file"):
                check_health(path, max_age=60)


class TestStart:
    def test_without_a_server(self) -> None:
        with pytest.raises(psycopg.OperationalError):
            run_once("host=/nonexistent")

    def test_without_agent_memory(self, empty_dsn: str) -> None:
        with pytest.raises(NotInstalledError):
            run_once(empty_dsn)

"""Fixtures of the tests of the worker."""

import psycopg
import pytest
from agent_memory import Memory
from agent_memory.jobs import job


@pytest.fixture
def memory(db: psycopg.Connection) -> Memory:
    """Queues no jobs but those that are asked for."""
    memory = Memory(db)
    memory.admin.set_policy({"cadence": {"reconcile_every_n": 0}, "jobs": {"max_running_per_user": 25}})
    return memory


@pytest.fixture
def quick_heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker extends leases twenty times a second, which are long enough for the busiest machine."""
    monkeypatch.setattr(job, "HEARTBEATS", 6000)

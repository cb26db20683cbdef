"""Fixtures of the tests of the worker."""

import psycopg
import pytest
from agent_memory import Memory


@pytest.fixture
def memory(db: psycopg.Connection) -> Memory:
    """Queues no jobs but those that are asked for."""
    memory = Memory(db)
    memory.set_policy({"cadence": {"reconcile_every_n": 0}, "jobs": {"max_running_per_user": 25}})
    return memory

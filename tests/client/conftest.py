"""Fixtures of the tests of the client."""

import psycopg
import pytest
from agent_memory import Memory


@pytest.fixture
def memory(db: psycopg.Connection) -> Memory:
    return Memory(db)

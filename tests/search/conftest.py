"""Fixtures of the tests of search."""

from __future__ import annotations

import psycopg
import pytest

from tests.support.search_plans import with_model
from tests.support.sqlapi import Api


@pytest.fixture
def fresh(db: psycopg.Connection) -> Api:
    """A database of the test's own, whose tables have no statistics."""
    return with_model(Api(db))

"""Fixtures of the tests of messages."""

from __future__ import annotations

import psycopg
import pytest

from tests.support.sqlapi import Api


@pytest.fixture
def api(db: psycopg.Connection) -> Api:
    return Api(db)

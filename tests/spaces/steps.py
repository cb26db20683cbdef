"""Calls that are refused."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.support.sqlapi import Api


def refused(api: Api, function: str, code: str, **arguments: Any) -> psycopg.Error:
    """Call a function that refuses the call with this SQLSTATE, and return the error."""
    with pytest.raises(psycopg.Error) as raised, api.connection.transaction():
        getattr(api, function)(**arguments)
    assert raised.value.sqlstate == code, raised.value
    return raised.value

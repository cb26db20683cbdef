"""Fixtures of the tests of the fair queue."""

from __future__ import annotations

import pytest

from tests.support.sqlapi import Api


@pytest.fixture
def api(api: Api) -> Api:
    """Nothing is queued by itself."""
    api.set_policy(
        settings={"summary": {"enabled": False}, "compression": {"enabled": False}, "cadence": {"reconcile_every_n": 0}}
    )
    return api

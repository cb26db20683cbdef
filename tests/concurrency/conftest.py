"""Fixtures of the tests of concurrency."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.concurrency.steps import CLIENTS, Connect
from tests.support.sqlapi import Api


@pytest.fixture
def clients(connect: Connect) -> Callable[[], list[Api]]:
    """Opens the connections of all clients; a deadlock, if there is one, is reported at once."""

    def open_clients() -> list[Api]:
        return [Api(connect(options="-c deadlock_timeout=50ms")) for _ in range(CLIENTS)]

    return open_clients

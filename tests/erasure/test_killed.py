"""A server that dies in the middle of forget_user has forgotten nothing."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.erasure.conftest import ANA, rows
from tests.support.runners import PATIENCE
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F5")


def test_a_backend_that_is_killed_has_forgotten_nothing(filled: Api, connect: Callable[..., Any], dsn: str) -> None:
    filled.connection.execute("checkpoint")  # what the tests' server has not written is lost with the backend
    before = rows(filled, ANA)
    for delay in (0.0, 0.002, 0.01, 0.03):
        victim = connect()
        victim.execute("begin")

        def forget(victim: psycopg.Connection = victim) -> None:
            with contextlib.suppress(psycopg.Error):
                victim.execute("select memory.forget_user(%s)", [ANA])

        thread = threading.Thread(target=forget)
        thread.start()
        time.sleep(delay)
        os.kill(victim.info.backend_pid, signal.SIGKILL)
        thread.join()
        ends = time.monotonic() + PATIENCE
        while True:
            try:
                with psycopg.connect(dsn, autocommit=True) as connection:
                    assert rows(Api(connection), ANA) == before
                    assert connection.execute("select count(*) from memory.receipts").fetchone() == (0,)
                    break
            except psycopg.OperationalError:
                assert time.monotonic() < ends
                time.sleep(0.1)

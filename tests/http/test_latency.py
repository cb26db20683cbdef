"""No answer waits for an acknowledgement of the network."""

from __future__ import annotations

import time

from tests.http.steps import Serving
from tests.support.runners import is_quick


def test_answers_do_not_wait_for_delayed_acknowledgements(served: Serving) -> None:
    """The least of many on one connection: with Nagle's algorithm each takes 40 ms, however fast the server is."""
    with served.client() as admin:

        def seconds() -> float:
            started = time.perf_counter()
            admin.post("/v1/version").raise_for_status()
            return time.perf_counter() - started

        for _ in range(30):
            seconds()
        assert is_quick(seconds, 0.035, attempts=500)

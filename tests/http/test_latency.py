"""No answer waits for an acknowledgement of the network."""

from __future__ import annotations

import time

from tests.http.steps import Serving


def test_answers_do_not_wait_for_delayed_acknowledgements(served: Serving) -> None:
    """The least of many on one connection: with Nagle's algorithm each takes 40 ms, however fast the server is."""
    taken = []
    with served.client() as admin:
        for _ in range(60):
            started = time.perf_counter()
            admin.post("/v1/version").raise_for_status()
            taken.append(time.perf_counter() - started)
    assert min(taken[30:]) < 0.035

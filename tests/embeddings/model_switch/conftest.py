"""Fixtures of the tests of changing models."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.embeddings.model_switch.steps import Connect
from tests.support.protocol import activate
from tests.support.sqlapi import Api, rolled_back


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    """With the model "old" active and no other model work."""
    with rolled_back(shared_api) as api, api.at_most(cpu_seconds=30):
        prepare(api)
        yield api


@pytest.fixture
def live(connect: Connect) -> Api:
    """Like the fixture api, in a database of its own, so that other sessions see the rows."""
    api = Api(connect(options="-c deadlock_timeout=50ms"))
    prepare(api)
    return api


def prepare(api: Api) -> None:
    activate(api, "old", "embedding")
    api.set_policy(settings={"cadence": {"fact_extraction_every_n": 0}, "summary": {"enabled": False}})

"""Fixtures of the tests of embeddings."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.protocol import activate
from tests.support.sqlapi import Api, rolled_back


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    with rolled_back(shared_api) as api, api.at_most(cpu_seconds=30):
        yield api


@pytest.fixture
def active(api: Api) -> Api:
    """With an active embedding model and no other model work."""
    activate(api, "ada", "embedding")
    api.set_policy(settings={"cadence": {"fact_extraction_every_n": 0}, "summary": {"enabled": False}})
    return api

"""Fixtures of the tests of search by meaning."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.search_world import register
from tests.support.sqlapi import Api, rolled_back


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    """With an active embedding model of three dimensions."""
    with rolled_back(shared_api) as api:
        register(api, "three", dimensions=3)
        api.activate_model(name="three")
        yield api

"""Fixtures of the tests of search among memories alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.search_world import register
from tests.support.sqlapi import Api, rolled_back


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    """With two embedding models of three dimensions, of which "three" is active."""
    with rolled_back(shared_api) as api:
        for name in ("three", "other"):
            register(api, name, dimensions=3)
        api.activate_model(name="three")
        yield api

"""Fixtures of the tests of artifacts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.sqlapi import Api, rolled_back


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    with rolled_back(shared_api) as api, api.at_most(cpu_seconds=30):
        yield api

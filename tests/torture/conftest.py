"""A server for the short form of the suite, which tests may kill."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.torture.cluster import Cluster, running_cluster


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with running_cluster(request.config.getoption("--server")) as started:
        yield started

"""A server for the short form of the suite, which tests may kill."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.servers import Kind
from tests.torture.cluster import Cluster, running_cluster


@pytest.fixture(scope="session")
def cluster(server_kind: Kind) -> Iterator[Cluster]:
    with running_cluster(server_kind) as started:
        yield started

"""Without a database, the server has the embedded store of the user, as newcomers start it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.mcp.steps import over_stdio, stdio_server
from tests.support.runners import wait_until


@pytest.mark.own_server
@pytest.mark.feature("C11")
def test_hosts_share_the_embedded_store_and_the_last_one_stops_it(tmp_path: Path) -> None:
    no_model = tmp_path / ".cache" / "agent-memory" / "no-model"
    no_model.parent.mkdir(parents=True)
    no_model.touch()
    os.utime(no_model, (time.time() + 3600,) * 2)  # nothing looks for the weights of a model meanwhile
    with (tmp_path / "log").open("w+") as log:
        server = stdio_server(None, "--user", "ana", HOME=str(tmp_path))
        with over_stdio(server, log=log) as first, over_stdio(server, log=log) as second:
            added = first.call("add_memory", content="Ana likes tea.")
            assert second.call("search", query="tea")["results"][0]["id"] == added["memory_id"]
            assert list(tmp_path.rglob("postmaster.pid"))
        wait_until(lambda: not list(tmp_path.rglob("postmaster.pid")))
        log.seek(0)
        assert "Traceback" not in log.read()

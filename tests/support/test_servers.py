"""The server of a run ends with the run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.support.runners import wait_until
from tests.support.servers import ROOT

STARTED = """
import time
from tests.support.servers import running_server
with running_server("embedded") as server:
    print(server.host, flush=True)
    time.sleep(600)
"""


@pytest.mark.own_server
def test_a_server_ends_with_the_process_that_started_it_even_if_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", STARTED], stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        pid, data = (folder / ".s.PGSQL.5432.lock").read_text().splitlines()[:2]
        process.kill()
    wait_until(lambda: not psutil.pid_exists(int(pid)))
    wait_until(lambda: not folder.exists() and not Path(data).exists())

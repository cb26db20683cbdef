"""The in-database runner inside its server process: encodings, keys, threads and upgrades."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from tests.server.steps import CALL, Connect, queue, replace_source, running_call, use
from tests.support.fake_model_server import Behaviour, FakeModelServer
from tests.support.model_payloads import ENCODINGS
from tests.support.runners import wait_until
from tests.support.servers import Server
from tests.support.sqlapi import Api


@pytest.mark.feature("A5")
def test_tokens_are_counted_in_the_database(api: Api) -> None:
    if not ENCODINGS.exists():
        pytest.skip(f"tiktoken's encodings are not in {ENCODINGS}")
    set_environment(api, TIKTOKEN_CACHE_DIR=str(ENCODINGS))
    queue(api, 1)
    counts = "select token_count, is_counted from memory.messages"
    assert [row.is_counted for row in api.query(counts)] == [False]
    api.connection.execute(CALL)
    assert api.query(counts) == [(8, True)]


def test_keys_can_come_from_a_file(api: Api, fake: FakeModelServer, server: Server) -> None:
    use(api, fake, api_key_file="model.key")
    queue(api, 1)
    folder = Path(server.host, "keys")
    folder.mkdir(exist_ok=True)
    (folder / "model.key").write_text("sk-from-file\n")
    set_environment(api, AGENT_MEMORY_KEY_DIR=str(folder))
    api.connection.execute(CALL)
    assert "can be read or written by others" in api.value("select error from memory.jobs")
    (folder / "model.key").chmod(0o600)
    if os.geteuid() == 0:  # then the server belongs to another user
        os.chown(folder / "model.key", Path(server.host).stat().st_uid, -1)
    api.query("update memory.jobs set run_after = now() returning 1")
    api.connection.execute(CALL)
    assert [request.authorization for request in fake.requests] == ["Bearer sk-from-file"]


def test_an_upgrade_reaches_a_live_session(api: Api) -> None:
    queue(api, 1)
    api.connection.execute(CALL)
    replace_source(api, "jobs: {counts}", "upgraded jobs: {counts}")
    queue(api, 2)
    api.connection.execute(CALL)
    assert api.notices[-1].startswith("upgraded jobs: ")


def test_helper_threads_leave_signals_to_the_backend(api: Api, connect: Connect, fake: FakeModelServer) -> None:
    use(api, fake)
    gate = threading.Event()
    fake.behaviour = Behaviour(gate=gate)
    queue(api, 1)
    with running_call(api, connect, jobs=1):
        wait_until(lambda: fake.requests)
        pid = api.connection.info.backend_pid
        threads = [path for path in Path(f"/proc/{pid}/task").iterdir() if path.name != str(pid)]
        blocked = [_blocked_signals(path / "status") for path in threads]
        gate.set()
    assert blocked, "the openai client starts a thread of its own"
    hup, int_, quit_, usr1, usr2, alrm, term = (1 << number - 1 for number in (1, 2, 3, 10, 12, 14, 15))
    handled = hup | int_ | quit_ | usr1 | usr2 | alrm | term
    assert all(mask & handled == handled for mask in blocked)
    assert len(list(Path(f"/proc/{pid}/task").iterdir())) == 1, "the threads end with the call"


def _blocked_signals(status: Path) -> int:
    [line] = [line for line in status.read_text().splitlines() if line.startswith("SigBlk:")]
    return int(line.split()[1], 16)


def set_environment(api: Api, **variables: str) -> None:
    """Change the environment of the session's backend, as if the server had been started with it."""
    api.connection.execute(f"do $$ import os; os.environ.update({variables!r}) $$ language plpython3u")

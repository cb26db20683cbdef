"""Processes and servers that are killed at any moment: every acknowledged write is there at the next opening."""

import contextlib
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import psutil
import psycopg
import pytest
from agent_memory import Memory
from agent_memory.embedded import open_store

from tests.embedded.steps import Processes, contents, server_pid, server_runs
from tests.support.runners import wait_until

pytestmark = pytest.mark.own_server

# A write counts once its line is out. What fails while the server is dead was not acknowledged.
WRITER = """
    name, number = sys.argv[1], 0
    while True:
        try:
            memory = Memory(path=folder)
            while True:
                number += 1
                text = f"I like number {number} of {name}."
                memory.add_message("ana", "t", "user", text)
                print(text, flush=True)
                open(folder + ".written", "w").close()
        except Exception as error:
            print(error, file=sys.stderr, flush=True)
            time.sleep(0.01)
"""


def acknowledged(writer: "subprocess.Popen[str]") -> list[str]:
    """Return what a killed writer had printed; its last line may be cut off."""
    output, _ = writer.communicate()
    return output.split("\n")[:-1]


def processes_of(folder: Path) -> list[int]:
    """Return the numbers of the server's processes, the first one first."""
    first = server_pid(folder)
    with contextlib.suppress(psutil.NoSuchProcess):
        return [] if first is None else [first, *(child.pid for child in psutil.Process(first).children())]
    return []


@pytest.mark.feature("E17", "F18")
@pytest.mark.parametrize("kills", [2, pytest.param(24, marks=pytest.mark.nightly)])
def test_kills_at_random_moments(folder: Path, processes: Processes, kills: int) -> None:
    seed = random.randrange(10**6)
    choice = random.Random(seed)
    expected: list[str] = []
    written = folder.with_name(folder.name + ".written")
    for kill in range(kills):
        writers = [processes.start(WRITER.replace("sys.argv[1]", f"'{kill} {each}'")) for each in range(2)]
        # From the start of the interpreter to the middle of the writing; the first time the data folder is made. Every
        # second time something has been written, however slow the machine is.
        if kill % 2:
            wait_until(written.exists)
        time.sleep(choice.uniform(0.0, 2.5))
        server = processes_of(folder)
        victims = {
            "a writer": [writers[0].pid],
            "the server": server[:1],
            "one of its processes": server[-1:],
            "everything": [*server, *(writer.pid for writer in writers)],
        }
        victim = choice.choice(list(victims))
        for pid in victims[victim]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        # The others go on for a while: some of them start the server again.
        time.sleep(choice.uniform(0.0, 0.5))
        for writer in writers:
            writer.kill()
            expected += acknowledged(writer)
        written.unlink(missing_ok=True)
        if choice.random() < 0.5 or kill == kills - 1:
            with Memory(path=folder) as memory:
                stored = memory.get_messages("ana", "t", include_inactive=True)
                missing = set(expected) - {message.content for message in stored}
                assert not missing, f"after kill {kill} of {victim}, seed {seed}"
    assert len(expected) >= kills // 2
    wait_until(lambda: not server_runs(folder))


@pytest.mark.parametrize(
    "moment", [0.4, *(pytest.param(moment, marks=pytest.mark.nightly) for moment in (0.05, 0.2, 0.7, 1.0))]
)
def test_a_kill_during_the_first_opening(folder: Path, processes: Processes, moment: float) -> None:
    first = processes.start("Memory(path=folder).add_message('ana', 't', 'user', 'first')")
    wait_until(lambda: (folder / "gate").exists())
    time.sleep(moment)
    first.kill()
    first.communicate()
    with Memory(path=folder) as memory:
        memory.add_message("ana", "t", "user", "second")
        assert contents(memory)[-1] == "second"


def test_what_a_killed_initdb_left_is_made_anew(folder: Path) -> None:
    (folder / "data.new" / "base").mkdir(parents=True)
    (folder / "data.new" / "PG_VERSION").write_text("18\n")
    with Memory(path=folder) as memory:
        assert memory.list_threads("ana") == []


def test_writes_survive_power_failures(folder: Path) -> None:
    with open_store(folder) as store, psycopg.connect(store.conninfo) as connection:
        for setting in ("fsync", "full_page_writes", "synchronous_commit", "data_checksums"):
            assert connection.execute(f"show {setting}").fetchone() == ("on",), setting

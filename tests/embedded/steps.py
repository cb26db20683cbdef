"""Processes that use a store, and what can be seen of its server from outside."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

from agent_memory import Memory
from agent_memory.embedded.locks import is_held

from tests.support.runners import wait_until

PATIENCE = 180.0
"""Seconds after which a process that uses a store is given up: a new store takes two seconds of a whole core."""


class Processes:
    """Starts processes that run lines of Python, in which ``folder`` is the path of the store.

    Args:
        folder: the store's folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started: list[subprocess.Popen[str]] = []

    def start(self, code: str, *options: str, **environment: str) -> "subprocess.Popen[str]":
        """Start a process with pipes; it imports the client and asks nothing of its standard input unless told to."""
        head = f"import os, sys, time\nfrom agent_memory import AsyncMemory, Memory\nfolder = {str(self.folder)!r}\n"
        process = subprocess.Popen(
            [sys.executable, *options, "-c", head + textwrap.dedent(code)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        self._started.append(process)
        return process

    def run(self, code: str, *options: str, **environment: str) -> str:
        """Run a process to its end, which must be a good one without a word on stderr, and return what it printed."""
        process = self.start(code, *options, **environment)
        output, errors = process.communicate(timeout=PATIENCE)
        assert (process.returncode, errors) == (0, "")
        return output

    def started(self, code: str) -> "subprocess.Popen[str]":
        """Start a process and wait until it has printed a line."""
        process = self.start(code)
        assert process.stdout is not None
        if not process.stdout.readline():
            raise AssertionError(process.communicate()[1])
        return process

    def end(self) -> None:
        """Kill the processes that are left, and stop the server."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        if (self.folder / "data").exists() and server_pid(self.folder):
            Memory(path=self.folder).close()
            wait_until(lambda: not server_runs(self.folder))


def server_runs(folder: Path) -> bool:
    """Return whether processes of the store's server are there."""
    return (folder / "server").exists() and is_held(folder / "server")


def server_pid(folder: Path) -> int | None:
    """Return the number of the server's first process, if the server runs."""
    file = folder / "data" / "postmaster.pid"
    return int(file.read_text().split()[0]) if server_runs(folder) and file.exists() else None


def kill_server(folder: Path) -> None:
    """Kill the server's first process, as nobody should."""
    pid = server_pid(folder)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


def contents(memory: Memory, user_id: str = "ana", thread_id: str = "t") -> list[str]:
    """Return the texts of a thread."""
    return [message.content for message in memory.get_messages(user_id, thread_id)]

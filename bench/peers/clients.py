"""The processes of the clients, seen from the benchmark."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.servers import ROOT

ENVIRONMENTS = ROOT / ".venv-peers"


@dataclass(frozen=True)
class System:
    """A store, a queue or a checkpointer that is compared.

    Attributes:
        name: its name on the page.
        kind: its class in stores.py, queues.py or savers.py.
        environment: the folder of its packages in ``.venv-peers``; None for this project.
        database: its database.
        copied_from: the system whose filled database is copied, and loses its index of nearest neighbours.
    """

    name: str
    kind: str
    environment: str | None
    database: str
    copied_from: str | None = None

    @property
    def python(self) -> str:
        """The Python that has its packages."""
        return sys.executable if self.environment is None else str(ENVIRONMENTS / self.environment / "bin" / "python")


class Client:
    """A process that takes commands."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def send(self, *command: Any) -> None:
        """Give a command."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()

    def answer(self) -> Any:
        """The answer to the command.

        Raises RuntimeError when the process has failed.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a client has ended with status {self._process.wait()}, see its log")
        return json.loads(line)

    def ask(self, *command: Any) -> Any:
        """Give a command and wait for the answer."""
        self.send(*command)
        return self.answer()


@contextlib.contextmanager
def running_clients(system: System, dsn: str, url: str, count: int, logs: Path) -> Iterator[Sequence[Client]]:
    """Start clients of a system; what they print goes to a file."""
    with contextlib.ExitStack() as stack:
        log = stack.enter_context((logs / f"{system.kind}.log").open("a"))
        clients = []
        for number in range(count):
            process = subprocess.Popen(
                [system.python, "-m", "bench.peers.client", system.kind, dsn, url, str(number)],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
            stack.callback(_end, process)
            clients.append(Client(process))
        yield clients


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    process.wait(10)


def rate(clients: Sequence[Client], operation: str, seconds: float) -> float:
    """How often a second clients do an operation that all do at the same time."""
    for client in clients:
        client.send("run", operation, seconds)
    return float(sum(client.answer() for client in clients))

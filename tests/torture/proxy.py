"""A connection that breaks: a proxy before a server's socket that drops a chosen statement or its answer."""

from __future__ import annotations

import socket
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Literal

When = Literal["before the statement", "in the statement", "before the answer", "in the answer", "after the answer"]
WHENS: tuple[When, ...] = (
    "before the statement", "in the statement", "before the answer", "in the answer", "after the answer",
)  # fmt: skip
READY = (b"Z\x00\x00\x00\x05I", b"Z\x00\x00\x00\x05T", b"Z\x00\x00\x00\x05E")
"""The end of an answer: the server is idle, or in a transaction."""


class Proxy:
    """Passes bytes on, and closes one connection at one exchange.

    An exchange is what the client sends at once, and the whole answer. ``exchanges`` counts them over all connections.
    """

    def __init__(self, server: Path, breaks_at: int | None = None, when: When = "before the statement") -> None:
        self.exchanges = 0
        self.has_broken = False
        self._server = server
        self._breaks_at = breaks_at
        self._when = when
        self._folder = tempfile.TemporaryDirectory(dir="/tmp")
        self.host = self._folder.name
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(Path(self.host, server.name)))
        self._listener.listen(20)
        self._lock = threading.Lock()

    def __enter__(self) -> Proxy:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._folder.cleanup()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, suppress(OSError):
            server.connect(str(self._server))
            while sent := client.recv(1 << 20):
                with self._lock:
                    breaks = self.exchanges == self._breaks_at
                    self.exchanges += 1
                    self.has_broken = self.has_broken or breaks
                when = self._when if breaks else None
                if when == "before the statement":
                    return
                if when == "in the statement":
                    server.sendall(sent[: len(sent) // 2])
                    return
                server.sendall(sent)
                answer = b""
                while not answer.endswith(READY):
                    part = server.recv(1 << 20)
                    if not part:
                        client.sendall(answer)
                        return
                    answer += part
                    if answer[:1] in b"SNR" and len(answer) == 1:  # the answer to a request for encryption
                        break
                if when == "before the answer":
                    return
                if when == "in the answer":
                    client.sendall(answer[: len(answer) // 2])
                    return
                client.sendall(answer)
                if when == "after the answer":
                    return

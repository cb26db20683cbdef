"""A server of its own process, as a test starts it, and tokens for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import httpx
import jwt

KEY = "key-of-the-administrator"
SECRET = "a secret of thirty-two bytes or more"
_PATIENCE = 180.0
"""Seconds after which a server or an answer is given up; a server with an embedded store takes five of a whole core."""


class Serving:
    """``agent-memory serve`` on a free port of loopback, until the end of ``with``.

    Args:
        dsn: the database; None for the embedded store of the environment.
        options: further options of the command.
        command: the command.
        with_mcp: whether ``serve`` also serves MCP, as it does unless told. Its packages take longer to import than
            everything else.
        environment: further variables.
    """

    def __init__(
        self, dsn: str | None, *options: str, command: str = "serve", with_mcp: bool = False, **environment: str
    ) -> None:
        self._command = [sys.executable, "-m", "agent_memory.cli", command, "--port", "0", *options]
        if command == "serve" and not with_mcp:
            self._command.append("--no-mcp")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AGENT_MEMORY_")}
        self._environment = kept | ({} if dsn is None else {"AGENT_MEMORY_DSN": dsn}) | environment
        self.url = self.token = ""
        self.announced = ""
        self.errors: list[str] = []

    def __enter__(self) -> Serving:
        self.process = subprocess.Popen(
            self._command, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        self._reader = threading.Thread(target=lambda: self.errors.extend(self.process.stderr or ()), daemon=True)
        self._reader.start()
        watchdog = threading.Timer(_PATIENCE, self.process.kill)
        watchdog.start()
        assert self.process.stdout is not None
        self.announced = self.process.stdout.readline()
        watchdog.cancel()
        if not self.announced:
            self.__exit__(None, None, None)
            raise AssertionError(f"the server did not start: {''.join(self.errors)}")
        # Without a key the server prints an address with a token.
        [address] = [word for word in self.announced.split() if word.startswith("http://")]
        self.url, _, self.token = address.partition("/?token=")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End the server and return its status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            status = self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self._reader.join(5)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return status

    def client(self, token: str | None = KEY, **headers: str) -> httpx.Client:
        """A client with a bearer token."""
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return httpx.Client(base_url=self.url, headers=headers, timeout=_PATIENCE)


def with_keys(dsn: str, *options: str, with_mcp: bool = False, **environment: str) -> Serving:
    """A server that knows the key of the administrator and the secret of tokens."""
    keys = {"AGENT_MEMORY_API_KEY": KEY, "AGENT_MEMORY_JWT_SECRET": SECRET}
    return Serving(dsn, *options, with_mcp=with_mcp, **keys, **environment)


def token(user_id: Any, secret: str = SECRET, **claims: Any) -> str:
    """A token of a user for a day, longer than a run of the tests, unless claims say otherwise; None leaves one out."""
    stated = {"sub": user_id, "exp": int(time.time()) + 86400} | claims
    # Without PyJWT's own check of sub, which would refuse to make what the server has to refuse.
    payload = {name: value for name, value in stated.items() if value is not None}
    return jwt.api_jws.encode(_json(payload), secret, algorithm="HS256", headers={"typ": "JWT"})


def _json(payload: Mapping[str, Any]) -> bytes:
    import json

    return json.dumps(payload).encode()


def problem(response: httpx.Response, status: int, argument: str | None = None) -> dict[str, Any]:
    """The body of a refusal, which is a problem of RFC 9457."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    said: dict[str, Any] = response.json()
    assert said["status"] == status
    assert said["type"] == "about:blank"
    assert said["title"]
    assert said["detail"]
    assert said.get("argument") == argument, said
    return said

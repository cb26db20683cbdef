"""An OpenAI-compatible chat server on loopback that answers by rule and misbehaves on request."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Behaviour:
    """How the server answers. `answer`, when given, replaces the reply of the rules by its own text."""

    delay_seconds: float = 0.0
    hang: bool = False
    drip_seconds: float = 0.0
    """Seconds between one byte of the reply and the next."""

    status: int = 200
    retry_after: str | None = None
    answer: str | Callable[[dict[str, Any]], str] | None = None
    finish_reason: str = "stop"
    body: str | None = None
    """The whole response body as it is, in place of a chat completion."""


RATE_LIMITED = Behaviour(status=429, retry_after="7")
SERVER_ERROR = Behaviour(status=500)
HANGING = Behaviour(hang=True)
INVALID_JSON = Behaviour(answer="I would rather not answer in JSON.")


@dataclass(frozen=True)
class RecordedRequest:
    """One request as it arrived; `at` is time.monotonic() in seconds."""

    path: str
    authorization: str | None
    body: dict[str, Any]
    at: float

    @property
    def system(self) -> str:
        """The instructions."""
        return str(self.body["messages"][0]["content"])

    @property
    def user(self) -> str:
        """The data."""
        return str(self.body["messages"][1]["content"])


class FakeModelServer:
    """Serves POST /v1/chat/completions, and Azure's path of it.

    Set `behaviour` at any time, or give a sequence that is used up first.

    By its rules every non-empty user message becomes a fact, and a summary keeps the previous points and adds one for
    each message.
    """

    def __init__(self, behaviour: Behaviour | None = None) -> None:
        self.behaviour = behaviour or Behaviour()
        self.next_behaviours: list[Behaviour] = []
        self.requests: list[RecordedRequest] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler_class())
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """The base URL for a model's settings."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> FakeModelServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def take_behaviour(self, request: RecordedRequest) -> Behaviour:
        """Record a request and say how to answer it."""
        with self._lock:
            self.requests.append(request)
            return self.next_behaviours.pop(0) if self.next_behaviours else self.behaviour

    def wait(self, seconds: float | None) -> None:
        """Wait, but no longer than the server lives; None waits for its end."""
        self._closing.wait(seconds)

    def _handler_class(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                behaviour = fake.take_behaviour(
                    RecordedRequest(self.path, self.headers["Authorization"], body, time.monotonic())
                )
                if behaviour.hang:
                    fake.wait(None)
                    self.close_connection = True
                    return
                fake.wait(behaviour.delay_seconds)
                found = self.path.partition("?")[0].endswith("/chat/completions")
                reply = _response(body, behaviour).encode() if found else b'{"error": {"message": "no such path"}}'
                try:
                    self.send_response(behaviour.status if found else 404)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(reply)))
                    if behaviour.retry_after is not None:
                        self.send_header("Retry-After", behaviour.retry_after)
                    self.end_headers()
                    for part in [reply] if behaviour.drip_seconds == 0 else (bytes([byte]) for byte in reply):
                        self.wfile.write(part)
                        fake.wait(behaviour.drip_seconds)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True  # the client was cancelled meanwhile

            def log_message(self, format: str, *args: Any) -> None:
                """Keep quiet."""

        return Handler


def _response(body: dict[str, Any], behaviour: Behaviour) -> str:
    if behaviour.body is not None:
        return behaviour.body
    if behaviour.status != 200:
        return json.dumps({"error": {"message": "told to fail", "type": "fake", "code": None}})
    answer = behaviour.answer
    content = _by_rule(body) if answer is None else answer if isinstance(answer, str) else answer(body)
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": behaviour.finish_reason}
    return json.dumps(
        {
            "id": "fake",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [choice],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
    )


def _by_rule(body: dict[str, Any]) -> str:
    system, user = (message["content"] for message in body["messages"])
    messages = _rows(user, "conversation")
    if '{"memories"' in system:
        return json.dumps(
            {
                "memories": [
                    {
                        "content": message["content"],
                        "memory_type": "fact",
                        "confidence": 0.9,
                        "importance": 0.5,
                        "seqs": [message["seq"]],
                    }
                    for message in messages
                    if message["role"] == "user"
                ]
            }
        )
    new = [{"seqs": [message["seq"]], "text": f"{message['role']}: {message['content']}"} for message in messages]
    return json.dumps({"points": _rows(user, "previous_summary") + new})


def _rows(prompt: str, tag: str) -> list[dict[str, Any]]:
    """The JSON objects that a prompt holds, one on each line, between the tags."""
    _, found, rest = prompt.partition(f"<{tag}>\n")
    return [json.loads(line) for line in rest.partition(f"\n</{tag}>")[0].split("\n")] if found else []

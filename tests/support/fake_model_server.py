"""An OpenAI-compatible model server on loopback that answers by rule and misbehaves on request."""

from __future__ import annotations

import json
import math
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tests.support.model_rules import Body, by_rule, count_tokens, embedding, relevance
from tests.support.streamed_replies import streamed


@dataclass(frozen=True)
class Behaviour:
    """How the server answers. `answer`, when given, replaces the reply of the rules by its own text."""

    delay_seconds: float = 0.0
    gate: threading.Event | None = None
    """No answer before a test sets this event, so that what the test does meanwhile may take any time."""
    hang: bool = False
    drip_seconds: float = 0.0
    """Seconds between one byte of the reply and the next."""
    raw: str | None = None
    """Everything that is sent, in place of a reply of HTTP."""
    closes: bool = False
    """Closes the connection after the reply, unannounced."""
    drops: bool = False
    """Closes the connection in the middle of the reply."""

    status: int = 200
    retry_after: str | None = None
    retry_after_ms: str | None = None
    location: str | None = None
    """The header of a redirect."""
    refuses: tuple[str, ...] = ()
    """Types of response_format, and values of encoding_format, that are answered by status 400."""

    answer: str | Callable[[Body], str] | None = None
    finish_reason: str = "stop"
    vectors: Callable[[list[list[float]]], list[list[float]]] | None = None
    """What becomes of the vectors before they are sent."""
    scores: Callable[[list[float]], list[float]] | None = None
    """What becomes of a reranker's scores before they are sent."""
    has_usage: bool = True
    body: str | Callable[[str], str] | None = None
    """The whole response body, as it is or made of what it would be."""
    packed: tuple[str, Callable[[bytes], bytes]] | None = None
    """The header Content-Encoding, and what makes such a body."""


RATE_LIMITED = Behaviour(status=429, retry_after="7")
SERVER_ERROR = Behaviour(status=500)
GATEWAY_TIMEOUT = Behaviour(status=504)
"""An error that says nothing about the form of the request."""
HANGING = Behaviour(hang=True)
DROPPED = Behaviour(drops=True)
INVALID_JSON = Behaviour(answer="I would rather not answer in JSON.")
TRUNCATED_JSON = Behaviour(answer=lambda body: by_rule(body)[:-5])
WRONG_SCHEMA = Behaviour(answer='{"answer": 42}')
HUGE = Behaviour(body=lambda body: body + " " * 10_000_000)
WRONG_DIMENSION = Behaviour(vectors=lambda vectors: [vector[:-1] for vector in vectors])
WRONG_COUNT = Behaviour(vectors=lambda vectors: vectors[:-1])
TOO_FEW_SCORES = Behaviour(scores=lambda scores: scores[:-1])
LOGITS = Behaviour(scores=lambda scores: [20 * score - 10 for score in scores])
NOT_A_NUMBER = Behaviour(vectors=lambda vectors: [[math.nan, *vector[1:]] for vector in vectors])


@dataclass(frozen=True)
class RecordedRequest:
    """One request as it arrived; `at` is time.monotonic() in seconds."""

    path: str
    headers: dict[str, str]
    """By their names in lower case."""
    body: Body
    at: float
    connection: int
    """The port of the client, which tells connections apart."""

    @property
    def authorization(self) -> str | None:
        """The header of that name."""
        return self.headers.get("authorization")

    @property
    def system(self) -> str:
        """The instructions."""
        return str(self.body["messages"][0]["content"])

    @property
    def user(self) -> str:
        """The data."""
        return str(self.body["messages"][1]["content"])

    @property
    def format(self) -> str | None:
        """The type of response_format, or the encoding_format, that was asked for."""
        kind: str | None = self.body.get("response_format", {}).get("type") or self.body.get("encoding_format")
        return kind


class FakeModelServer:
    """Serves POST /v1/chat/completions and /v1/embeddings, Azure's paths of them, and /v1/rerank.

    Under /tei/v1 the reranker is one of Hugging Face's Text Embeddings Inference, which has a protocol of its own.
    If the answer is a text, the APIs of coding assistants are served as well: tests/support/streamed_replies.py.

    Set `behaviour` at any time, also to a function of the request, or give a sequence that is used up first.

    Args:
        behaviour: how to answer; by rule when None.
        dimensions: of the vectors, where the request does not ask for others.
    """

    def __init__(self, behaviour: Behaviour | None = None, dimensions: int = 8) -> None:
        self.behaviour: Behaviour | Callable[[RecordedRequest], Behaviour] = behaviour or Behaviour()
        self.next_behaviours: list[Behaviour] = []
        self.dimensions = dimensions
        self.says: dict[str, Body] = {}
        """What the server says of itself, by the address that is asked: /props, /v1/models, /api/show and the like."""
        self.requests: list[RecordedRequest] = []
        self.tokens_in = 0
        """Of all replies so far, as their `usage` says or would say."""
        self.tokens_out = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), self._handler_class())
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
            if self.next_behaviours:
                return self.next_behaviours.pop(0)
            return self.behaviour(request) if callable(self.behaviour) else self.behaviour

    def reply(self, request: RecordedRequest, behaviour: Behaviour) -> tuple[int, str]:
        """The status and the body of the answer."""
        path = request.path.partition("?")[0]
        if isinstance(behaviour.answer, str) and (events := streamed(path, behaviour.answer)) is not None:
            return 200, events
        if not path.endswith(("/chat/completions", "/embeddings", "/rerank")):
            return 404, _error("no such path")
        is_tei = path.startswith("/tei/") and path.endswith("/rerank")
        if is_tei and "texts" not in request.body:
            return 422, "Failed to deserialize the JSON body into the target type: missing field `texts`"
        if request.format in behaviour.refuses:
            parameter = "encoding_format" if path.endswith("/embeddings") else "response_format"
            return 400, _error(f"{parameter} {request.format} is not supported")
        if behaviour.status != 200:
            body = _error("told to fail")
        elif path.endswith("/embeddings"):
            body = self._embeddings(request.body, behaviour)
        elif path.endswith("/rerank"):
            body = self._tei_scores(request.body, behaviour) if is_tei else self._scores(request.body, behaviour)
        else:
            body = self._completion(request.body, behaviour)
        if behaviour.body is not None:
            body = behaviour.body if isinstance(behaviour.body, str) else behaviour.body(body)
        return behaviour.status, body

    def wait(self, seconds: float | None) -> None:
        """Wait, but no longer than the server lives; None waits for its end."""
        self._closing.wait(seconds)

    def wait_for(self, gate: threading.Event | None) -> None:
        """Wait until the gate is open, but no longer than the server lives."""
        while gate is not None and not gate.wait(0.02) and not self._closing.is_set():
            pass

    def _completion(self, body: Body, behaviour: Behaviour) -> str:
        answer = by_rule if behaviour.answer is None else behaviour.answer
        content = answer if isinstance(answer, str) else answer(body)
        tokens_in = sum(count_tokens(str(message.get("content") or "")) for message in body["messages"])
        message = {"role": "assistant", "content": content}
        return json.dumps(
            {
                "id": "fake",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": behaviour.finish_reason}],
                **self._usage(behaviour, tokens_in, count_tokens(content)),
            }
        )

    def _embeddings(self, body: Body, behaviour: Behaviour) -> str:
        vectors = [embedding(text, body.get("dimensions", self.dimensions)) for text in body["input"]]
        if behaviour.vectors is not None:
            vectors = behaviour.vectors(vectors)
        rows = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)]
        usage = self._usage(behaviour, sum(map(count_tokens, body["input"])), 0)
        return json.dumps({"object": "list", "model": body["model"], "data": rows, **usage})

    def _scores(self, body: Body, behaviour: Behaviour) -> str:
        rows = [
            {
                "index": index,
                "document": {"text": body["documents"][index % len(body["documents"])]},
                "relevance_score": s,
            }
            for index, s in _ranked(body["query"], body["documents"], behaviour)[: body["top_n"] + 1]
        ]
        usage = self._usage(behaviour, sum(map(count_tokens, body["documents"])), 0)
        return json.dumps({"id": "fake", "model": body["model"], "results": rows, **usage})

    def _tei_scores(self, body: Body, behaviour: Behaviour) -> str:
        return json.dumps(
            [{"index": index, "score": score} for index, score in _ranked(body["query"], body["texts"], behaviour)]
        )

    def _usage(self, behaviour: Behaviour, tokens_in: int, tokens_out: int) -> Body:
        with self._lock:
            self.tokens_in += tokens_in
            self.tokens_out += tokens_out
        usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}
        return {"usage": usage} if behaviour.has_usage else {}

    def _handler_class(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                said = json.dumps(fake.says.get(self.path, {"error": "no such path"})).encode()
                self.send_response(200 if self.path in fake.says else 404)
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                body = self.rfile.read(length)
                if self.path == "/api/show":
                    self.do_GET()
                    return
                if len(body) < length:  # the client was killed
                    self.close_connection = True
                    return
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = RecordedRequest(
                    self.path, headers, json.loads(body), time.monotonic(), self.client_address[1]
                )
                behaviour = fake.take_behaviour(request)
                if behaviour.hang:
                    fake.wait(None)
                    self.close_connection = True
                    return
                fake.wait(behaviour.delay_seconds)
                fake.wait_for(behaviour.gate)
                status, text = fake.reply(request, behaviour)
                reply = text.encode()
                if behaviour.raw is not None:
                    self.wfile.write(behaviour.raw.encode())
                    self.close_connection = True
                    return
                try:
                    self.send_response(status)
                    is_stream = text.startswith(("event: ", "data: "))
                    self.send_header("Content-Type", "text/event-stream" if is_stream else "application/json")
                    if behaviour.packed is not None:
                        self.send_header("Content-Encoding", behaviour.packed[0])
                        reply = behaviour.packed[1](reply)
                    self.send_header("Content-Length", str(len(reply)))
                    if behaviour.retry_after is not None:
                        self.send_header("Retry-After", behaviour.retry_after)
                    if behaviour.location is not None:
                        self.send_header("Location", behaviour.location)
                    if behaviour.retry_after_ms is not None:
                        self.send_header("retry-after-ms", behaviour.retry_after_ms)
                    self.end_headers()
                    if behaviour.drops:
                        self.wfile.write(reply[: len(reply) // 2])
                        self.close_connection = True
                        return
                    self.close_connection |= behaviour.closes
                    for part in [reply] if behaviour.drip_seconds == 0 else (bytes([byte]) for byte in reply):
                        self.wfile.write(part)
                        fake.wait(behaviour.drip_seconds)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True  # the client was cancelled meanwhile

            def log_message(self, format: str, *args: Any) -> None:
                """Keep quiet."""

        return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet about clients that were cancelled."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def _ranked(query: str, texts: list[str], behaviour: Behaviour) -> list[tuple[int, float]]:
    """Index and score of each text, the best first."""
    scores = [relevance(query, text) for text in texts]
    if behaviour.scores is not None:
        scores = behaviour.scores(scores)
    return sorted(enumerate(scores), key=lambda row: -row[1])


def _error(message: str) -> str:
    return json.dumps({"error": {"message": message, "type": "fake", "code": None}})

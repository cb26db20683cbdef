"""The embedding model that the quality benchmark asks: over OpenAI-compatible servers, its own or one that runs."""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue

from openai import OpenAI

from bench.quality.evidence import Question
from bench.support.environment import SHARED

SERVER = SHARED / "tools" / "embedding_server.py"
BATCH = 32
SERVERS = 2  # each computes on one core, and all other work waits for the embeddings
MODEL = "all-MiniLM-L6-v2"


def add_options(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Options that say which model embeds."""
    source = parser.add_mutually_exclusive_group(required=required)
    source.add_argument("--embeddings-url", help="an OpenAI-compatible server of embeddings, up to /v1")
    source.add_argument("--embedding-python", type=Path, help="a Python with the packages of the server to start")
    parser.add_argument("--embedding-model", default=MODEL, help="name of the model (default %(default)s)")


@contextlib.contextmanager
def embeddings_of(options: argparse.Namespace) -> Iterator[Embeddings]:
    """The model that the options name, on its server or on some that are started.

    Raises FileNotFoundError when there is no server to start, RuntimeError when one does not start.
    """
    if options.embeddings_url:
        yield Embeddings([options.embeddings_url] * SERVERS, options.embedding_model)
        return
    if not SERVER.exists():
        raise FileNotFoundError("there is no embedding server to start: name a running one with --embeddings-url")
    with contextlib.ExitStack() as stack:
        # One after the other: the first start writes a file that the later ones read.
        urls = [stack.enter_context(_running_server(options.embedding_python)) for _ in range(SERVERS)]
        yield Embeddings(urls, options.embedding_model)


@contextlib.contextmanager
def _running_server(python: Path) -> Iterator[str]:
    command = [str(python), str(SERVER), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            ready = process.stdout.readline().split() if process.stdout else []
            if len(ready) != 2:
                raise RuntimeError("the embedding server did not start")
            yield f"http://127.0.0.1:{ready[1]}/v1"
        finally:
            process.terminate()


class Embeddings:
    """Embeds texts with whichever server is free, and each text once, however many databases ask for it."""

    def __init__(self, urls: Sequence[str], model: str) -> None:
        key = os.environ.get("OPENAI_API_KEY") or "none"
        self.url, self.model = urls[0] if urls else "", model
        self._known: dict[str, array[float]] = {}
        self._free: SimpleQueue[OpenAI] = SimpleQueue()
        for url in urls:
            self._free.put(OpenAI(base_url=url, api_key=key, timeout=600))

    @property
    def dimensions(self) -> int:
        """How many numbers an embedding has."""
        return len(self.of(["dimensions"])[0])

    def asked(self, questions: Sequence[Question]) -> list[tuple[Question, str]]:
        """Questions with their embeddings."""
        vectors = self.of([question.text for question in questions])
        return [(question, literal(vector)) for question, vector in zip(questions, vectors, strict=True)]

    def of(self, texts: Sequence[str]) -> list[array[float]]:
        """The embeddings of texts. Any thread may call."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            client = self._free.get()
            try:
                answer = client.embeddings.create(model=self.model, input=batch)
            finally:
                self._free.put(client)
            for text, each in zip(batch, answer.data, strict=True):
                self._known[text] = array("f", each.embedding)
        return [self._known[text] for text in texts]


def literal(vector: array[float]) -> str:
    """A vector as pgvector reads it."""
    return f"[{','.join(map(repr, vector))}]"

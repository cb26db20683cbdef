"""The embedding model that the quality benchmark asks: over an OpenAI-compatible server, its own or one that runs."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from openai import OpenAI

from bench.support.environment import SHARED

SERVER = SHARED / "tools" / "embedding_server.py"
BATCH = 128


@contextlib.contextmanager
def running_embedding_server(python: Path) -> Iterator[str]:
    """Starts the server with a Python that has its packages; yields its URL.

    Raises FileNotFoundError when there is no such server, RuntimeError when it does not start.
    """
    if not SERVER.exists():
        raise FileNotFoundError("there is no embedding server to start: name a running one with --embeddings-url")
    command = [str(python), str(SERVER), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            ready = process.stdout.readline().split() if process.stdout else []
            if len(ready) != 2:
                raise RuntimeError("the embedding server did not start")
            yield f"http://127.0.0.1:{ready[1]}/v1"
        finally:
            process.terminate()


def embed(url: str, model: str, texts: Sequence[str]) -> list[str]:
    """The embeddings of texts, as pgvector reads them."""
    client = OpenAI(base_url=url, api_key=os.environ.get("OPENAI_API_KEY") or "none", timeout=300)
    vectors: list[str] = []
    for start in range(0, len(texts), BATCH):
        answer = client.embeddings.create(model=model, input=list(texts[start : start + BATCH]))
        vectors += [f"[{','.join(map(repr, each.embedding))}]" for each in answer.data]
    return vectors

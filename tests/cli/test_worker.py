"""The command agent-memory worker: failures that it reports, and its display on a terminal."""

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import psycopg
from agent_memory import Memory

from tests.support.servers import Run


def test_worker_once_tells_why_jobs_wait(run: Run, process: Run, db: psycopg.Connection) -> None:
    memory = Memory(db)
    memory.admin.register_model("gone", "chat", "openai", "some-model", {"base_url": "http://127.0.0.1:1/v1"})
    memory.admin.activate_model("gone")
    memory.add_message("ana", "t", "user", "I am Ana.")
    memory.extract_memories("ana", "t")
    result = run("worker", "--once", OPENAI_API_KEY="k")
    assert result.returncode == 0
    counts, waiting, error = result.stdout.splitlines()
    assert counts == "0 jobs completed, 0 failed, 1 released."
    assert waiting.startswith("1 job waits, the first until 20")
    assert error.startswith("Last error: job 1 (extract_memories) released: no reply from 127.0.0.1: ")
    db.execute("update memory.jobs set run_after = now()")
    memory.admin.activate_model("local")
    assert ", attempt 1) completed\n" in process("worker", "--once", "--verbose").stderr


def test_worker_on_a_terminal_shows_progress(dsn: str, db: psycopg.Connection) -> None:
    memory = Memory(db)
    memory.admin.set_policy({"cadence": {"reconcile_every_n": 0}})
    messages = "select memory.add_message('ana', n::text, 'user', 'Hello') from generate_series(1, 150) as n"
    db.execute(messages)
    db.execute("select memory.extract_memories('ana', n::text) from generate_series(1, 150) as n")
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-m", "agent_memory.cli", "worker", "--once", "--dsn", dsn],
        env={**os.environ, "TERM": "xterm"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    ) as process:
        os.close(terminal)
        shown = b""
        with contextlib.suppress(OSError):  # the end of what is shown
            while part := os.read(master, 65536):
                shown += part
    os.close(master)
    assert process.returncode == 0
    steps = [int(step) for step in re.findall(rb"(\d+)/150", shown)]
    assert steps == sorted(steps)
    assert (len(set(steps)) > 2, steps[-1]) == (True, 150), shown[-500:]
    assert b"attempt" not in shown
    assert shown.endswith(b"150 jobs completed, 0 failed, 0 released.\r\n")

"""Counts the instructions of programs and of servers with callgrind, of Valgrind.

A call takes the count of a run with many calls less that of one with few, over the difference: what a program does
once, such as its start and the filling of its caches, is left out. Instructions of the kernel are not counted.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.support.servers import Server


def counting(output: Path) -> list[str | Path]:
    """The beginning of a command whose instructions are counted into a file."""
    return ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}"]


def counted(output: Path) -> int:
    """The instructions that such a file tells of."""
    total = re.search(r"^(?:summary|totals): (\d+)", output.read_text(), re.MULTILINE)
    if total is None:
        raise RuntimeError(f"callgrind has not finished {output}")
    return int(total[1])


def stop(server: Server, data: Path) -> None:
    """Stop the server of these data; it can be started on a copy of them."""
    run_as_owner(server, data, [server.bin_dir / "pg_ctl", "--pgdata", data, "--mode=fast", "--wait", "stop"])


@contextlib.contextmanager
def copied(data: Path) -> Iterator[Path]:
    """A copy of the data of a server, in a folder of the same owner that can hold more."""
    # A server that is counted may still be writing when it has stopped; all goes when the folder above is removed.
    with tempfile.TemporaryDirectory(prefix="agent-memory-", dir=data.parent, ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / "data"
        subprocess.run(["cp", "--archive", data, copy], check=True)
        shutil.chown(folder, data.owner(), data.group())
        yield copy


@contextlib.contextmanager
def counted_sessions(server: Server, data: Path) -> Iterator[list[int]]:
    """Start a server on a copy of the data of one that has stopped, at the same address, and count its sessions.

    At the end the list gets the instructions of each session.
    """
    counts: list[int] = []
    program = Path(server.host) / "counted-postgres"
    with copied(data) as copy:
        command = [*counting(copy.parent / "%p.callgrind"), server.bin_dir / "postgres"]
        program.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, command))} -c autovacuum=off "$@"\n')
        program.chmod(0o755)
        control: list[str | Path] = [server.bin_dir / "pg_ctl", "--pgdata", copy, "--wait"]
        run_as_owner(server, data, [*control, "--log", copy.parent / "log", "-p", program, "start"])
        try:
            postmaster = int((copy / "postmaster.pid").read_text().split()[0])
            background = children(postmaster)
            yield counts
            while children(postmaster) != background:
                time.sleep(0.1)
            others = {f"{pid}.callgrind" for pid in (postmaster, *background)}
            counts += [counted(output) for output in copy.parent.glob("*.callgrind") if output.name not in others]
        finally:
            run_as_owner(server, data, [*control, "--mode=fast", "stop"])


def children(pid: int) -> list[int]:
    """The processes that a process with one thread has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def run_as_owner(server: Server, data: Path, command: list[str | Path], statements: str = "") -> str:
    """Runs a program as the owner of the server's data, and returns what it printed."""
    is_root = os.geteuid() == 0
    result = subprocess.run(
        command,
        input=statements,
        capture_output=True,
        text=True,
        cwd=data.parent,
        env=dict(server.env),
        user=data.owner() if is_root else None,
        group=data.group() if is_root else None,
        extra_groups=[] if is_root else None,
        check=False,
    )
    if result.returncode != 0:
        raise RuntimeError(f"{command[0]} failed: {result.stderr}")
    return result.stdout + result.stderr

"""Generate the synchronous client from the asynchronous one: ``python generate_sync.py [--check]``.

With ``--check`` nothing is written; the exit status is 1 when the generated file is not current.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import unasync

PACKAGE = Path(__file__).parent / "agent_memory"
HEADER = "# Generated from _async.py by generate_sync.py; do not edit.\n"
RULE = unasync.Rule(
    "_async.py",
    "_sync.py",
    additional_replacements={
        "AsyncConnection": "Connection",
        "AsyncConnectionPool": "ConnectionPool",
        "AsyncCursor": "Cursor",
        "AsyncMemory": "Memory",
        "asyncio": "threading",
    },
)


def generate() -> str:
    """Return the source of the synchronous client."""
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory, "_async.py")
        source.write_text((PACKAGE / "_async.py").read_text())
        unasync.unasync_files([str(source)], [RULE])
        text = Path(directory, "_sync.py").read_text()
    ruff = [sys.executable, "-m", "ruff"]
    name = f"--stdin-filename={PACKAGE / '_sync.py'}"
    for command in (["check", "--select=I", "--fix", "--quiet"], ["format", "--quiet"]):
        result = subprocess.run([*ruff, *command, name, "-"], input=text, stdout=subprocess.PIPE, text=True, check=True)
        text = result.stdout
    return HEADER + text


def main() -> int:
    """Write the file, or with ``--check`` compare it."""
    target = PACKAGE / "_sync.py"
    text = generate()
    if "--check" not in sys.argv[1:]:
        target.write_text(text)
    elif not target.exists() or target.read_text() != text:
        print(f"{target.name} is not current: run {Path(__file__).name}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

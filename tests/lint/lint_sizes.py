"""Checks sizes: no Python or SQL file has more than 400 lines, and no line of SQL more than 120 characters.

Ruff checks the lines of Python. Generated files have any size. So has a migration, which is one file for each release
and must not change once it was released.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINES = 400
CHARACTERS = 120
OF_ANY_SIZE = (
    "build/agent_memory*.sql",  # by sql/build.py
    "plpython/agent_memory_models/providers/lists.py",  # by sql/build.py
    "plpython/agent_memory_models/text/lists.py",
    "sql/migrations/*.sql",
    "sql/addons/*/migrations/*.sql",
    "tests/upgrade/agent_memory-*.sql",  # by tests/upgrade/keep.py
    "docs/reference.md",  # by docs/reference.py
    "python_client/agent_memory/client/_async/functions.py",  # by python_client/generate_client.py
    "python_client/*/_sync/*.py",  # by python_client/generate_sync.py
)


def sources() -> Iterator[Path]:
    """Every Python and SQL file of the repository that a person wrote."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py", "*.sql"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    for name in sorted(set(listed)):
        path = ROOT / name
        if path.is_file() and not path.is_symlink() and not any(fnmatch(name, pattern) for pattern in OF_ANY_SIZE):
            yield path


def problems() -> Iterator[str]:
    """What is too large, each with its file and line."""
    for path in sources():
        name = path.relative_to(ROOT)
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > LINES:
            yield f"{name}:{LINES + 1}: the file has {len(lines)} lines, more than {LINES}: split it by subject"
        if path.suffix == ".sql":
            for number, line in enumerate(lines, start=1):
                if len(line) > CHARACTERS:
                    yield f"{name}:{number}: the line has {len(line)} characters, more than {CHARACTERS}"


def main() -> int:
    """Print what is too large; returns the exit status."""
    found = list(problems())
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

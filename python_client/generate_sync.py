"""Generate the synchronous client from the asynchronous one: ``python generate_sync.py [--check]``.

Every module of calls/_async and client/_async becomes a module of the folder _sync beside it. With ``--check`` nothing
is written; the exit status is 1 when a generated module is not current.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import unasync

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = [ROOT / "python_client" / "agent_memory" / name for name in ("calls", "client")]
HEADER = "# Generated from _async/{name} by generate_sync.py; do not edit.\n"
# Unasync itself makes Sync of the prefix Async, as in SyncCaller.
REPLACEMENTS = {
    "AsyncAdmin": "Admin",
    "AsyncBuffer": "Buffer",
    "AsyncConnection": "Connection",
    "AsyncConnectionPool": "ConnectionPool",
    "AsyncConversation": "Conversation",
    "AsyncCursor": "Cursor",
    "AsyncExitStack": "ExitStack",
    "AsyncMemory": "Memory",
    "AsyncWorkerProtocol": "WorkerProtocol",
    "answer_in_loop": "answer_in_thread",
    "async_carrying": "carrying",
    "async_cursors_in": "cursors_in",
    "async_fetched": "fetched",
    "async_parts_of": "parts_of",
    "async_prepare_nothing_behind_a_pooler": "prepare_nothing_behind_a_pooler",
    "async_raise_translated": "raise_translated",
    "async_set_locally": "set_locally",
    "async_translated": "translated",
    "asyncio": "threading",
    "call_in_loop": "call_in_thread",
    "enter_async_context": "enter_context",
    "is_done_in_loop": "is_done_in_thread",
    "running_loop": "no_loop",
    "sleep_in_loop": "sleep_in_thread",
}


def generate(package: Path) -> dict[str, str]:
    """Return the name and the source of each module of a package's folder _sync."""
    with tempfile.TemporaryDirectory() as directory:
        source, target = Path(directory, "_async"), Path(directory, "_sync")
        source.mkdir()
        target.mkdir()
        for path in (package / "_async").glob("*.py"):
            (source / path.name).write_text(path.read_text())
        rule = unasync.Rule("/_async/", "/_sync/", additional_replacements=REPLACEMENTS)
        unasync.unasync_files([str(path) for path in source.iterdir()], [rule])
        ruff = [sys.executable, "-m", "ruff"]
        for command in (["check", "--select=I", "--fix", "--quiet"], ["format", "--quiet"]):
            subprocess.run([*ruff, *command, "--config", ROOT / "pyproject.toml", target], check=True)
        return {path.name: HEADER.format(name=path.name) + path.read_text() for path in sorted(target.iterdir())}


def main() -> int:
    """Write the modules, or with ``--check`` compare them."""
    stale = []
    for package in PACKAGES:
        target = package / "_sync"
        wanted = generate(package)
        current = {path.name: path.read_text() for path in target.glob("*.py")}
        if "--check" in sys.argv[1:]:
            stale += [
                f"{package.name}/_sync/{name}"
                for name in sorted(wanted.keys() | current.keys())
                if wanted.get(name) != current.get(name)
            ]
            continue
        target.mkdir(exist_ok=True)
        for name in current.keys() - wanted.keys():
            (target / name).unlink()
        for name, text in wanted.items():
            (target / name).write_text(text)
    if stale:
        print(f"Not current ({', '.join(stale)}): run {Path(__file__).name}", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())

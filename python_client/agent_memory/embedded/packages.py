"""The packages of the extra ``embedded``."""

from __future__ import annotations

import os

from .._extras import check_extra
from ..errors import AgentMemoryError

IN_MEMORY = ":memory:"
"""The path of a store of its own for each client, which ends with the client or its process."""
_DATABASE = "a database with AGENT_MEMORY_DSN, for example postgresql://user@localhost/app"


def check_packages() -> None:
    """Check that the extra ``embedded`` is installed.

    Raises:
        AgentMemoryError: a package is missing, or there are no such stores on this operating system.
    """
    if os.name != "posix":
        raise AgentMemoryError("an embedded PostgreSQL needs Linux or macOS", hint=f"Name {_DATABASE}")
    check_extra("embedded", "an embedded PostgreSQL", f". Or name {_DATABASE}")

"""The HTTP server, ``agent-memory serve``: document B's endpoints, and one for each public function of the database.

Nothing here is imported before a server is asked for; the packages are those of the extra ``server``.

- serve.py: opens the database, listens, and stops in an orderly way; settings.py: what the environment says.
- application.py: puts everything together. A page or another protocol is mounted there, behind the same access.py.
- access.py: who calls, by key or token (tokens.py), how often (rates.py), and from where (loopback.py).
- catalog.py reads the functions of the database, functions.py makes their endpoints, operation.py is one endpoint.
- agents.py: the endpoints under /api/v1/agents; extraction.py: the one that has to wait for a model.
- transfer.py: import and export as lines of JSON. health.py, metrics.py, openapi.py: what is said of the server itself.
- problems.py: every error as a problem of RFC 9457. bodies.py: how long a body may be.
"""

from __future__ import annotations

from importlib.util import find_spec

from .._text import pip_install
from ..errors import AgentMemoryError

_NEEDED = {
    "starlette": "starlette",
    "uvicorn": "uvicorn",
    "uvloop": "uvloop",
    "jwt": "PyJWT",
    "prometheus_client": "prometheus-client",
    "jinja2": "Jinja2",
}

__all__ = ["check_packages"]


def check_packages(what: str = "the HTTP server") -> None:
    """Check that the extra ``server`` is installed.

    Args:
        what: what needs it.

    Raises:
        AgentMemoryError: a package is missing.
    """
    missing = [package for module, package in _NEEDED.items() if find_spec(module) is None]
    if missing:
        raise AgentMemoryError(
            f"{what} needs the package{'s' if len(missing) > 1 else ''} {', '.join(missing)}",
            hint=f"Run: {pip_install('server')}",
        )

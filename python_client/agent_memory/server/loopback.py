"""Keeps a server without keys to this machine, also against pages that a browser of this machine shows."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers

from .problems import ProblemError
from .settings import is_loopback


def check_is_local(headers: Headers) -> None:
    """Check that a request was meant for this machine and does not come from a page of another site.

    A page may let its own name resolve to 127.0.0.1 (DNS rebinding): then Host has its name. A page of another site may
    send a form: then Origin has its name, or is "null".

    Raises:
        ProblemError: it does not (403).
    """
    hint = "Call the server as 127.0.0.1 or localhost, or set AGENT_MEMORY_API_KEY."
    if not is_loopback(_host(f"//{headers.get('host', '')}")):
        raise ProblemError(403, "Host names another machine, and this server has neither a key nor tokens", hint=hint)
    origin = headers.get("origin")
    if origin is not None and not is_loopback(_host(origin)):
        raise ProblemError(403, "the request comes from a page of another site", hint=hint)
    if headers.get("sec-fetch-site") == "cross-site":
        raise ProblemError(403, "the request comes from a page of another site", hint=hint)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""

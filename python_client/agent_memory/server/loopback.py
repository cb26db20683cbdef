"""Keeps a server without keys to this machine, also against pages that a browser of this machine shows."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection

from .problems import ProblemError
from .settings import is_loopback


def check_is_local(request: HTTPConnection) -> None:
    """Check that a request was meant for this machine and does not come from a page of another site or port.

    A page may let its own name resolve to 127.0.0.1 (DNS rebinding): then Host has its name. A page of another site may
    send a form: then Origin has its name, or is "null". A page of another port of this machine, which anybody here may
    serve, is of the same site: it may lead to a page of ours, and change nothing.
    """
    headers, changes = request.headers, request.scope["method"] not in ("GET", "HEAD")
    hint = "Call the server as 127.0.0.1 or localhost, or set AGENT_MEMORY_API_KEY."
    if not is_loopback(_host(f"//{headers.get('host', '')}")):
        raise ProblemError(403, "Host names another machine, and this server has neither a key nor tokens", hint=hint)
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is not None and not is_loopback(_host(origin)):
        is_ours = False
    elif changes:
        is_ours = is_from_own_page(headers) is not False
    else:
        is_ours = site in ("same-origin", "same-site", "none", None)
    if not is_ours:
        raise ProblemError(403, "the request comes from a page of another site", hint=hint)


def is_from_own_page(headers: Headers) -> bool | None:
    """Tell whether a page of this very server has sent a request; None where no page has, or nothing says who has.

    Browsers say so, and a page cannot change what they say.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        return None if site == "none" else site == "same-origin"
    if origin is not None:  # browsers before 2023
        return origin.partition("://")[2] == headers.get("host")
    return None


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""

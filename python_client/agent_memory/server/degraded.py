"""What is missing from an answer, such as a search by words alone; callers read it in a header."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_causes: ContextVar[list[str] | None] = ContextVar("causes", default=None)


class _Hearer(logging.Handler):
    """Hears the notices of the database, which the client logs within the call that they are about."""

    def emit(self, record: logging.LogRecord) -> None:
        causes, sqlstate = _causes.get(), getattr(record, "sqlstate", None) or ""
        if causes is not None and sqlstate.startswith("01AM") and sqlstate not in causes:
            causes.append(sqlstate)


@contextmanager
def heard() -> Iterator[list[str]]:
    """Yield the SQLSTATEs of what degrades the answers of the calls inside."""
    causes: list[str] = []
    token = _causes.set(causes)
    try:
        yield causes
    finally:
        _causes.reset(token)


def listen() -> None:
    """Hear what the client logs from now on."""
    client = logging.getLogger("agent_memory")
    client.setLevel(logging.INFO)
    if not any(isinstance(handler, _Hearer) for handler in client.handlers):
        client.addHandler(_Hearer())

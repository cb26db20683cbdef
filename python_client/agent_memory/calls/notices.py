"""What the server says beside its answers: all of it is logged; each cause that degrades answers warns once."""

from __future__ import annotations

import logging
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from psycopg.errors import Diagnostic

from ..errors import DegradedWarning, without_proxy

logger = logging.getLogger("agent_memory")

_LEVELS = {"DEBUG": logging.DEBUG, "WARNING": logging.WARNING}
"""Levels of what the server says; INFO for all else."""
_DEGRADED = "01AM"
"""How the SQLSTATEs of ``errors.DEGRADED`` begin, and those of causes that a newer database adds."""
_PREFIX = "degraded: "
# Names and numbers vary within one cause.
_VARIABLE = re.compile(r'"[^"]*"|\S*\d\S*')
# Packages whose frames a warning passes over, to point at the line that called the client.
_NOT_THE_CALLER = {"agent_memory", "asyncio"}

_heard: ContextVar[list[DegradedWarning] | None] = ContextVar("heard", default=None)

Cause = tuple[str, str]
"""The SQLSTATE of a NOTICE, and its text without names and numbers."""

warned_of_stores: set[Cause] = set()
"""The causes that clients of embedded stores have warned of in this process."""
_WITHOUT_MODEL = "01AM1"
"""Server and client word this cause differently, so its text is left out of the cause."""
_NOT_YET = "01AM3"
_SOON = "The worker of this store does that within seconds."


@contextmanager
def heard() -> Iterator[list[DegradedWarning]]:
    """Yield what degrades the answers of the calls inside, also causes that the client has warned of before."""
    causes: list[DegradedWarning] = []
    token = _heard.set(causes)
    try:
        yield causes
    finally:
        _heard.reset(token)


class Notices:
    """The notices of one call."""

    def __init__(self, warned: set[Cause]) -> None:
        self._warned = warned
        self._degraded: dict[Cause, DegradedWarning] = {}

    def hear(self, diagnostic: Diagnostic) -> None:
        """Log what a connection says, and keep what degrades the answer."""
        if diagnostic.severity_nonlocalized == "LOG":
            return  # meant for the server's log; a session that asks for DEBUG gets it besides
        text, sqlstate = without_proxy(diagnostic.message_primary or ""), diagnostic.sqlstate or ""
        level = _LEVELS.get(diagnostic.severity_nonlocalized or "", logging.INFO)
        logger.log(level, "%s", text, extra={"sqlstate": sqlstate})
        if sqlstate.startswith(_DEGRADED):
            self._keep(text.removeprefix(_PREFIX), without_proxy(diagnostic.message_hint), sqlstate)

    def degrade(self, text: str, hint: str | None, sqlstate: str) -> None:
        """Log and keep what degrades the answer in this process, as `hear` does with what the server says."""
        logger.info("%s%s", _PREFIX, text, extra={"sqlstate": sqlstate})
        self._keep(text, hint, sqlstate)

    def _keep(self, text: str, hint: str | None, sqlstate: str) -> None:
        cause = (sqlstate, "" if sqlstate == _WITHOUT_MODEL else _VARIABLE.sub("#", text))
        # Whoever uses a store need run no worker: the store runs one, so this is over in seconds.
        is_over_soon = sqlstate == _NOT_YET and self._warned is warned_of_stores
        warning = DegradedWarning(text, hint=_SOON if is_over_soon else hint, sqlstate=sqlstate)
        if not is_over_soon:
            self._degraded[cause] = warning
        causes = _heard.get()
        if causes is not None:
            causes.append(warning)

    def warn(self) -> None:
        """Warn of causes that are new to the client, at the line outside of this package that made the call.

        Call this after the connection is given back: if the caller turns warnings into errors, this raises, although
        the call was made.
        """
        for cause, warning in self._degraded.items():
            if cause in self._warned:
                continue
            frame, level = sys._getframe(), 1
            while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_CALLER:
                frame, level = frame.f_back, level + 1
            warnings.warn(warning, stacklevel=level)
            self._warned.add(cause)

"""What the server says beside its answers: all of it is logged; each cause that degrades answers warns once."""

from __future__ import annotations

import logging
import re
import sys
import warnings
from collections.abc import Callable

from psycopg import ConnectionInfo
from psycopg.errors import Diagnostic

from ..errors import DegradedWarning

logger = logging.getLogger("agent_memory")

_LEVELS = {"DEBUG": logging.DEBUG, "WARNING": logging.WARNING}
"""Levels of what the server says; INFO for all else."""
_DEGRADED = "degraded: "
# Names and numbers vary within one cause.
_VARIABLE = re.compile(r'"[^"]*"|\S*\d\S*')
# Packages whose frames a warning passes over, to point at the line that called the client.
_NOT_THE_CALLER = {"agent_memory", "asyncio"}

Cause = tuple[str, int, str, str]
_warned: set[Cause] = set()


class Notices:
    """The notices of one call."""

    def __init__(self) -> None:
        self._degraded: dict[Cause, str] = {}

    def of(self, info: ConnectionInfo) -> Callable[[Diagnostic], None]:
        """Return the handler for a connection."""

        def hear(diagnostic: Diagnostic) -> None:
            text, hint = diagnostic.message_primary or "", diagnostic.message_hint
            if diagnostic.severity_nonlocalized == "LOG":
                return  # meant for the server's log; a session that asks for DEBUG gets it besides
            logger.log(_LEVELS.get(diagnostic.severity_nonlocalized or "", logging.INFO), "%s", text)
            if text.startswith(_DEGRADED):
                text = text.removeprefix(_DEGRADED)
                cause = (info.host, info.port, info.dbname, _VARIABLE.sub("#", text))
                self._degraded[cause] = f"{text}. {hint}" if hint else text

        return hear

    def warn(self) -> None:
        """Warn of causes that are new in this process, at the line outside of this package that made the call.

        Call this after the connection is given back: if the caller turns warnings into errors, this raises, although
        the call was made.
        """
        for cause, text in self._degraded.items():
            if cause in _warned:
                continue
            frame, level = sys._getframe(), 1
            while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_CALLER:
                frame, level = frame.f_back, level + 1
            warnings.warn(text, DegradedWarning, stacklevel=level)
            _warned.add(cause)

"""One exception for each SQLSTATE of the SQL API.

The database names the problem and the way out (message and HINT); these classes let Python code tell the cases apart.
An error that the API does not define, such as a lost connection, stays the psycopg error it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg


class AgentMemoryError(Exception):
    """Base class of every error this package raises.

    Attributes:
        message: what is wrong, naming the argument where there is one.
        hint: what to do about it, or None.
        sqlstate: the five-character code of the SQL API, or None when no SQL was involved.
    """

    sqlstate: str | None = None

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nHINT:  {self.hint}"


class InvalidValueError(AgentMemoryError):
    """An argument is unknown, malformed, empty or of the wrong type."""

    sqlstate = "22023"


class NotFoundError(AgentMemoryError):
    """There is no such row for this user."""

    sqlstate = "P0002"


class ConflictError(AgentMemoryError):
    """It exists already, or was changed by somebody else in the meantime."""

    sqlstate = "23505"


class RetryableError(AgentMemoryError):
    """Concurrent work got in the way; the same transaction may succeed when it is run again."""

    sqlstate = "40001"


class PermissionDeniedError(AgentMemoryError):
    """The row or the function is not yours to use."""

    sqlstate = "42501"


class LimitExceededError(AgentMemoryError):
    """The input is larger than the database accepts."""

    sqlstate = "54000"


class LeaseLostError(AgentMemoryError):
    """The job is no longer leased to this worker, so its result was refused."""

    sqlstate = "AM001"


class BudgetExceededError(AgentMemoryError):
    """The model budget of the user or agent is spent."""

    sqlstate = "AM002"


_BY_SQLSTATE: dict[str, type[AgentMemoryError]] = {
    error.sqlstate: error for error in AgentMemoryError.__subclasses__() if error.sqlstate is not None
} | {  # a deadlock, a lock not granted in time: as with a serialization failure, the remedy is to run it again
    "40P01": RetryableError,
    "55P03": RetryableError,
}

# PostgreSQL's own words for an argument of the wrong type: no function for these types, no such cast.
_WRONG_TYPE = {"42883", "42804", "42846"}


def from_psycopg(error: psycopg.Error) -> AgentMemoryError | None:
    """Return the exception that stands for a psycopg error, or None when the SQL API does not define it."""
    sqlstate = error.sqlstate or ""
    # Class 22 is "data exception": a value that PostgreSQL could not read as the argument's type.
    wrong_value = sqlstate.startswith("22") or sqlstate in _WRONG_TYPE
    kind = _BY_SQLSTATE.get(sqlstate) or (InvalidValueError if wrong_value else None)
    if kind is None:
        return None
    hint = error.diag.message_hint
    if sqlstate == "42883":
        # PostgreSQL's own hint is about casts in SQL.
        hint = 'Check the types of the arguments. If the function is missing, run "agent-memory install".'
    elif hint is None and wrong_value:
        hint = "Check the types of the arguments."
    result = kind(error.diag.message_primary or str(error), hint=hint)
    result.sqlstate = sqlstate
    return result


@contextmanager
def translated() -> Iterator[None]:
    """Raise the errors of the SQL API as the exceptions of this module; the psycopg error is their ``__cause__``."""
    try:
        yield
    except psycopg.Error as error:
        translation = from_psycopg(error)
        if translation is None:
            raise
        raise translation from error

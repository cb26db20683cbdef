"""The errors that a model call can end with, and the part of an error that may be stored."""

from __future__ import annotations

MISSING_MODEL_SECONDS = 30.0
"""The wait of a job whose model is missing, until the next attempt."""


def storable(text: str) -> str:
    """The text as PostgreSQL can store it: without NUL characters and lone surrogates."""
    return text.replace("\0", "").encode(errors="replace").decode()


class ModelError(Exception):
    """The call gave no usable result; the text says why, in words fit for an administrator.

    The text is stored, so it holds no key, and no words of the provider, the reply or the user.
    """

    def __init__(self, message: str) -> None:
        super().__init__(storable(message))


class MissingPackageError(ModelError):
    """A Python package that the call needs is not installed in the Python that made the call."""


class RateLimitedError(ModelError):
    """The provider refused the call for now; the attempt should not be counted.

    `retry_after` is the time to wait in seconds, as the provider stated it, or None when it stated none.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class OutOfReachError(RateLimitedError):
    """The server refuses connections, or says that it is starting or under maintenance."""


class TimedOutError(ModelError):
    """No answer came in time."""


class TooLongError(ModelError):
    """The payload and its reply do not fit into the model's window together; less of it may."""


class MissingModelError(RateLimitedError):
    """The packages or the weights of a model that runs in this process are missing here.

    The attempt is not counted: the job waits until they are there, or until another worker has them.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message, MISSING_MODEL_SECONDS)


def reason_to_keep(error: BaseException) -> str:
    """Why a call failed, as it may be stored.

    If an exception is no ModelError, only its type and place are stored, because its text may repeat a user.
    """
    if isinstance(error, ModelError):
        return str(error)
    place = ""
    trace = error.__traceback__
    while trace is not None:
        place = f" at {trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__}{place}"


def refusal_to_keep(sqlstate: str | None, message: str, constraint: str | None) -> str:
    """Why the database refused a result, as it may be stored.

    The refusals of complete_job name one of its arguments and say what is wrong without the value. Every other message
    of PostgreSQL may show a value, which may be a user's text.
    """
    if message.startswith(("result: ", "calls: ")):
        return message
    where = f", constraint {constraint}" if constraint else ""
    return f"the result could not be stored: SQLSTATE {sqlstate}{where}"

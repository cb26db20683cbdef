"""What a model call can end with besides a result."""

from __future__ import annotations


def storable(text: str) -> str:
    """The text as PostgreSQL can store it: without NUL characters and lone surrogates."""
    return text.replace("\0", "").encode(errors="replace").decode()


class ModelError(Exception):
    """The call gave no usable result; the text says why, in words fit for an administrator, and holds no key."""

    def __init__(self, message: str) -> None:
        super().__init__(storable(message))


class MissingPackageError(ModelError):
    """A Python package that the call needs is not installed where it was made."""


class RateLimitedError(ModelError):
    """The provider refused the call for now; the attempt should not be counted.

    `retry_after` is the provider's own wish in seconds, or None when it stated none.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after

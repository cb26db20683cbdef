"""Wording of messages."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return e.g. "1 job" or "2 jobs"; ``plural`` is for nouns that take more than an s."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"

"""Wording of messages."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return e.g. "1 job" or "2 jobs"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

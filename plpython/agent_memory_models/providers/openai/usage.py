"""Reads the tokens of a call from the reply."""

from __future__ import annotations

from typing import Any

_MAX_TOKENS = 2**31 - 1
"""The largest int of PostgreSQL."""


def used_tokens(usage: Any, *names: str) -> int | None:
    """The first of these members of a reply's `usage` that is a number of tokens; None when none is."""
    for name in names:
        tokens = usage.get(name) if isinstance(usage, dict) else None
        if type(tokens) is int and 0 <= tokens <= _MAX_TOKENS:  # a bool is an int too
            return tokens
    return None
